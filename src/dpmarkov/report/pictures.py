"""The report's sections with figures: each figure has a caption, and a table that says the same."""

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from dpmarkov.errors import ChainError
from dpmarkov.releases import Release
from dpmarkov.releases.describe import odds_of, start_shares
from dpmarkov.report.expected import is_dirichlet, keeps_no_prior
from dpmarkov.report.figures.matrix import strongest_flows
from dpmarkov.report.html import h, sentence, table
from dpmarkov.report.look import SHOWN_STATES, display_labels, look_at
from dpmarkov.report.theme import percent
from dpmarkov.report.trust import cell_intervals, in_percent, share_intervals, why_no_intervals

__all__ = ["accuracy", "long_run", "odds", "privacy", "speed", "transitions"]

Drawn = Mapping[str, go.Figure]
Missing = Mapping[str, str]

_TOP = 12
_DIGITS = 4
_ORDERS = {
    "states": "the declared order",
    "share": "long-run share, largest first",
    "cluster": "likeness of destinations",
}


def _figure(name: str, drawn: Drawn, missing: Missing, title: str, caption: str) -> str:
    """A figure with its caption, or a sentence that says why it is not there."""
    if name in missing:
        return f'<p class="note">{h(title)}: not shown. {h(sentence(missing[name]))}</p>'
    if name not in drawn:
        return ""
    height = min(int(drawn[name].layout.height), 320)
    return (
        f'<figure><div class="plot empty" id="plot-{h(name)}" role="img" aria-label="{h(title)}" '
        f'style="min-height:{height}px"></div><figcaption>{h(caption)}</figcaption></figure>'
    )


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{h(summary)}</summary>{body}</details>"


def _paragraph(*sentences: str) -> str:
    return f"<p>{h(' '.join(filter(None, sentences)))}</p>"


def _note(*sentences: str) -> str:
    return f'<p class="note">{h(" ".join(filter(None, sentences)))}</p>'


def odds(release: Release) -> str:
    """What the curve means for somebody who guesses."""
    guarantee = release.guarantee
    found = odds_of(guarantee)
    if found is None:
        return _paragraph("A seed can undo the noise of this release, so no odds hold for it.")
    even = min(found.rows, key=lambda row: abs(row.prior - 0.5))
    rows = [
        [
            *map(_chance, (row.prior, row.guess_before)),
            *(_chance(bound, up=True) for bound in (row.guess_after, row.posterior)),
        ]
        for row in found.rows
    ]
    head = [
        "belief beforehand",
        "best guess right, without",
        "best guess right, with",
        "belief after an alarm*",
    ]
    warning = f'<p class="warning">{h(found.warning)}.</p>' if found.warning else ""
    return (
        warning
        + _paragraph(
            f"Somebody who wonders about one {guarantee.unit.name} and has no idea, as before the toss of a "
            f"coin, guesses right {_chance(even.guess_before)} of the time without this release and at most "
            f"{_chance(even.guess_after, up=True)} of the time with it, whatever they do with it.",
            "For other beliefs beforehand:",
        )
        + table("What the release lets somebody conclude at most", head, rows, numbers=4)
        + _note(
            "* The most that the belief can become when a test raises an alarm, for tests that catch at",
            "least one true case in twenty.",
            "Rarer outputs may tell more: that is what δ allows for." if guarantee.delta > 0 else "",
            "All this is read off the whole curve below: the worst case over all data sets and all tests.",
        )
    )


def _chance(value: float, *, up: bool = False) -> str:
    """A chance in percent, an upper bound rounded up; never as a certainty that it is not."""

    def shown(digits: int) -> float:
        percents = 100 * value
        return math.ceil(percents * 10**digits - 1e-6) / 10**digits if up else round(percents, digits)

    digits = 1
    while digits < _DIGITS and 0.0 < value < 1.0 and shown(digits) in (0.0, 100.0):
        digits += 1
    less = "<" if shown(digits) == 100.0 and value < 1.0 else ""
    return less + f"{shown(digits):.{1 if less else digits}f}".removesuffix(".0") + "\u00a0%"


def privacy(release: Release, drawn: Drawn, missing: Missing) -> str:
    """The privacy curve."""
    if release.guarantee.delta > 0:
        right = "Farther to the right, a larger shift of the odds is left with a smaller probability δ."
    else:
        right = "From the claimed ε on, δ is 0: the limit holds without exception."
    return "<h3>The whole curve</h3>" + _figure(
        "privacy",
        drawn,
        missing,
        "Privacy curve: delta against epsilon",
        "The pair (ε, δ) that is claimed is one point of a curve, and all its points hold at once. " + right,
    )


def long_run(release: Release, drawn: Drawn, missing: Missing) -> str:
    """The stationary distribution as bars, a map and a table; where sequences start and how long they are."""
    look = look_at(release)
    if look.shares is None:
        none = "no long run" if look.end is not None else "no single long run"
        return _paragraph(f"There is {none}: {look.no_shares}.") + _sequences(release)
    intro = (
        "The share of each state, as released."
        if look.chain is None
        else "Left to run, the chain spends these shares of its time in each state, wherever it started: its "
        "stationary distribution."
    )
    count = len(look.labels)
    bars = 0 if "stationary" not in drawn else len(drawn["stationary"].data[0].y)
    listed = look.largest(SHOWN_STATES)
    known = share_intervals(release)
    head = ["state", "share"]
    rows: list[tuple[str, ...]] = [(look.labels[i], percent(float(look.shares[i]))) for i in listed]
    if known is not None:
        head = ["state", "share, 95 % interval", ""]
        rows = [
            (look.labels[i], in_percent(known, int(i)), "" if known.reliable[i] else "not reliable")
            for i in listed
        ]
    which = f"the {len(rows):,} largest" if len(rows) < count else "all"
    return (
        _paragraph(intro)
        + _figure(
            "stationary",
            drawn,
            missing,
            "Share of each state, largest first",
            (f"The {bars} largest of {count:,} shares." if bars < count else "All shares, largest first.")
            + ("" if known is None else f" The lines are 95 % intervals for {known.covers_what}."),
        )
        + _figure(
            "map",
            drawn,
            missing,
            "Map of the shares",
            "The same on a map: darker areas, or larger discs, have a larger share.",
        )
        + _folded(
            f"Table of {which} shares", table("Shares, largest first", head, rows, numbers=len(head) - 1)
        )
        + _sequences(release)
    )


def _sequences(release: Release) -> str:
    """Where sequences start, and how long they are, where that was released."""
    layout, look, body = release.layout, look_at(release), ""
    starts = start_shares(release)
    if starts is not None:
        order = (-starts).argsort(kind="stable")[:SHOWN_STATES]
        rows = [(look.labels[i], percent(float(starts[i]))) for i in order]
        body += _folded("Table of where sequences start", table("Starts", ["state", "share"], rows))
    if layout.lengths is not None:
        names = display_labels(layout.lengths)
        names = (*names[:-1], f"{names[-1]} or more")
        rows = [(name, percent(float(p))) for name, p in zip(names, release.length_distribution, strict=True)]
        body += _folded("Table of how long sequences are", table("Lengths", ["length", "share"], rows))
    return body


def transitions(release: Release, drawn: Drawn, missing: Missing) -> str:
    """The heat map and the strongest flows."""
    look = look_at(release)
    shown = min(SHOWN_STATES, len(look.labels))
    part = "" if shown == len(look.labels) else f" The {shown} states with the largest share are shown."
    known = cell_intervals(release)
    rows = [
        (
            look.row_labels[i],
            look.labels[j],
            percent(p) if known is None else in_percent(known, i, j),
            percent(share),
        )
        for i, j, p, share in strongest_flows(release, _TOP)
    ]
    single = look.chain is not None and look.shares is not None
    meaning = "share of all transitions" if single else "share if from-states are equally frequent"
    return (
        _paragraph(
            "Each row says where one goes next from one state: its probabilities add up to 100\u00a0%.",
            "" if look.end is None else f"Leave out the row of {look.labels[look.end]}: {look.no_shares}.",
        )
        + (_order_control(release) if "transitions" in drawn else "")
        + _figure(
            "transitions",
            drawn,
            missing,
            "Heat map of the transition probabilities",
            "The stronger the colour, the likelier the transition; the scale is logarithmic. Point at a cell "
            "to read it." + part,
        )
        + _how_many_are_reliable(release)
        + "<h3>The strongest flows</h3>"
        + _figure(
            "flows",
            drawn,
            missing,
            "Flow diagram of the strongest transitions",
            "From-states left, to-states right; the wider, the more of all transitions take this way.",
        )
        + table(f"The {len(rows)} strongest flows", ["from", "to", "probability", meaning], rows, numbers=2)
    )


def _order_control(release: Release) -> str:
    look = look_at(release)
    if look.chain is None:
        return ""
    possible = {"states": True, "share": look.shares is not None, "cluster": len(look.labels) > 2}
    options = "".join(
        f'<option value="{name}">{h(words)}</option>' for name, words in _ORDERS.items() if possible[name]
    )
    trusted = ""
    if cell_intervals(release) is not None:
        trusted = (
            ' <label class="check"><input type="checkbox" id="trusted" disabled> '
            "leave blank what noise dominates</label>"
        )
    return (
        '<p class="controls"><label for="order">Order of the states</label> '
        f'<select id="order" disabled>{options}</select>{trusted}</p>'
        '<p class="note" id="order-said" aria-live="polite"></p>'
    )


def _how_many_are_reliable(release: Release) -> str:
    known = cell_intervals(release)
    if known is None:
        return _note(f"No intervals: {why_no_intervals(release)}.")
    inside, end = release.transition_matrix > 0, look_at(release).end
    if end is not None:
        inside[end] = False
    good, whole = int(known.reliable[inside].sum()), int(inside.sum())
    return _paragraph(
        f"Of the {whole:,} probabilities, {good:,} are reliable: both ends of their 95 % interval lie within "
        "half the value of it, and they are no more than 50\u00a0percentage points apart.",
        f"The noise dominates the other {whole - good:,}: do not build on them." if good < whole else "",
    )


def speed(release: Release, drawn: Drawn, missing: Missing) -> str:
    """Mixing and eigenvalues."""
    chain = look_at(release).need_chain("the speed")
    words = []
    try:
        steps = chain.mixing_time()
        words = [
            f"After {steps:,} step{'s' if steps != 1 else ''}, from even the worst start, the chance of "
            "finding the chain in any set of states is within 25 percentage points of the long run: its "
            f"mixing time. Its spectral gap is {chain.spectral_gap:.4g}.",
            f"The next step is uncertain by {chain.entropy_rate():.3g} bits on average.",
            f"From any state to one drawn from the long run takes {chain.kemeny_constant:.4g} steps on "
            "average.",
        ]
    except ChainError as error:
        words.append(f"{'This is not all that could be said' if words else 'No mixing time'}: {error}.")
    distances = ""
    if "mixing" in drawn:
        curve = drawn["mixing"].data[0]
        rows = [(f"{t:,}", f"{d:.3g}") for t, d in zip(curve.x, curve.y, strict=True)]
        head = ["steps", "distance"]
        distances = _folded(
            "Table of distances", table("Distance from the worst start", head, rows, numbers=2)
        )
    return (
        _paragraph(*words)
        + _figure(
            "mixing",
            drawn,
            missing,
            "Distance to the long run against steps",
            "How far the chain can still be from its long run: 1 is as far as can be, 0 is there. It is the "
            "total variation distance, the largest difference in the probability of any set of states.",
        )
        + distances
        + _figure(
            "eigenvalues",
            drawn,
            missing,
            "Eigenvalues in the unit circle",
            "For the specialist: each mark is a pattern of movement. One at 1 never fades; the others fade "
            "the faster, the nearer they lie to the centre, and those away from the horizontal line swing.",
        )
    )


def accuracy(release: Release, drawn: Drawn, missing: Missing) -> str:
    """How far the noise may have moved the numbers."""
    known = share_intervals(release) or cell_intervals(release)
    intervals = ""
    if known is not None:
        intervals = _paragraph(
            f"The intervals on this page are {100 * known.level:g} % intervals for {known.covers_what}. "
            f"How they are made: {known.method}."
        )
    elif why_no_intervals(release):
        intervals = _paragraph(f"This page has no error bars: {why_no_intervals(release)}.")
    return (
        _paragraph(
            "The noise makes every number here uncertain. Numbers that rest on many events are moved little, "
            "those that rest on few are mostly noise. How many events stand behind a row is secret unless it "
            "was released, but what the mechanism does to data of any given size is public arithmetic."
        )
        + intervals
        + _floor_in_words(release)
        + _figure(
            "accuracy",
            drawn,
            missing,
            "Expected error of a row against epsilon",
            "For data of the shape of this release, and of the size that each line says, this is how far a "
            "private row lies from the true one on average over events (total variation: the share of "
            "probability in the wrong place). The diamonds mark the ε of this release. A prediction: the "
            "mechanism, run or worked out on made-up counts like the released ones.",
        )
        + _accuracy_table(drawn)
        + _note(
            "All this is about the noise that privacy adds. That the events are themselves a sample of "
            "something larger adds a second uncertainty, which is not included here; "
            "release.uncertainty(..., sampling=True) adds it."
        )
    )


def _floor_in_words(release: Release) -> str:
    if not is_dirichlet(release) or keeps_no_prior(release):
        return ""
    lifted = float(release.mechanism["floor"]) / float(release.mechanism["weight"])
    if release.mechanism["form"] == "floor":
        effect = f"transitions that were counted fewer than {lifted:.3g} times were lifted to that count"
    else:
        effect = f"every transition was treated as if it had been counted {lifted:.3g} times more"
    return _paragraph(
        f"Before the draw, {effect}. Small probabilities are therefore too large on average: do not read "
        "them as rare events that took place."
    )


def _accuracy_table(drawn: Drawn) -> str:
    if "accuracy" not in drawn:
        return ""
    *lines, here = drawn["accuracy"].data
    rows: Sequence[tuple[str, str]] = [
        (line.name, percent(float(error))) for line, error in zip(lines, here.y, strict=True)
    ]
    return table("Expected error of a row at this release's ε", ["size of the data", "error"], rows)
