"""What the report says, section by section, in words that need no mathematics."""

from collections.abc import Mapping

import plotly.graph_objects as go

from dpmarkov.privacy.readable import no_protection, odds_factor, readable_up
from dpmarkov.releases import Release
from dpmarkov.report import pictures
from dpmarkov.report.html import facts, h, section, sentence
from dpmarkov.report.look import look_at
from dpmarkov.report.theme import percent

__all__ = ["Parts", "all_sections", "footer", "lead", "what_it_is"]

Parts = list[tuple[str, str, str]]
"""Sections: an identifier, a title for the table of contents, and the HTML."""


def what_it_is(release: Release) -> str:
    """The release in a heading."""
    layout = release.layout
    if layout.source is None:
        return f"A private distribution over {len(layout.target):,} states"
    if layout.is_chain:
        return f"A private Markov chain of {len(layout.target):,} states"
    return f"A private matrix from {len(layout.source):,} to {len(layout.target):,} states"


def lead(release: Release) -> str:
    """The sentence under the heading, and the warning on a release that is not private."""
    warning = "".join(
        f'<p class="warning" role="alert">{h(text)}.</p>' for text in release.guarantee.warnings
    )
    kind = "shares" if release.layout.source is None else "transition probabilities"
    return (
        f"{warning}<p class='lead'>Sensitive data were turned into a table of {kind} with random noise of a "
        "known strength. This page says what the table holds, what the noise protects, how far the numbers "
        "can be trusted, and how to use them. It was made from the released table alone.</p>"
    )


def footer(release: Release) -> str:
    """The last line."""
    return (
        f"Made from a release of {release.created} by dpmarkov {release.version}. This file needs no network "
        "and sends nothing anywhere."
    )


def all_sections(release: Release, drawn: Mapping[str, go.Figure], missing: Mapping[str, str]) -> Parts:
    """All sections in reading order."""
    parts: Parts = []
    layout = release.layout

    def add(identifier: str, title: str, *body: str) -> None:
        if any(body):
            parts.append((identifier, title, section(identifier, title, *body)))

    add("short", "In short", _short(release))
    add("protected", "What is protected, and what is not", _protected(release))
    add("odds", "What ε and δ mean", pictures.odds(release), pictures.privacy(release, drawn, missing))
    if layout.source is None:
        add("long-run", "The shares", pictures.long_run(release, drawn, missing))
    elif layout.is_chain:
        add("long-run", "Where it settles", pictures.long_run(release, drawn, missing))
    if layout.source is not None:
        add("transitions", "From where to where", pictures.transitions(release, drawn, missing))
    if layout.is_chain and look_at(release).end is None:
        add("speed", "How fast it forgets where it started", pictures.speed(release, drawn, missing))
    add("accuracy", "How accurate it is", pictures.accuracy(release, drawn, missing))
    add("made", "How it was made", _made(release))
    add("load", "How to use it in Python", _load(release))
    add("cite", "The guarantee, to cite", _cite(release))
    return parts


def _short(release: Release) -> str:
    guarantee, layout, look = release.guarantee, release.layout, look_at(release)
    numbers = [
        ("ε (epsilon): the privacy budget; smaller protects more", f"{guarantee.epsilon:.6g}"),
        ("δ (delta): what may come on top, in probability", readable_up(guarantee.delta)),
        ("the unit: one of these is protected", guarantee.unit.name),
        ("states", f"{len(layout.target):,}"),
    ]
    if layout.source is not None:
        numbers.append(("probabilities released", f"{layout.allowed.n_cells:,}"))
    sentences = [f"Protected: {guarantee.unit.protects}."]
    if look.end is not None:
        sentences.append(f"There is no long run: {look.no_shares}.")
    elif look.chain is not None:
        if look.chain.is_ergodic:
            top = int(look.largest(1)[0])
            shares = look.need_shares("the largest share")
            sentences.append(
                "From every start the chain settles in one long run, in which the most frequent state is "
                f"{look.labels[top]} with {percent(float(shares[top]))} of the time."
            )
        else:
            sentences.append(f"The chain does not settle in one long run: {look.chain.why_not_ergodic}")
    elif layout.source is None:
        top = int(look.largest(1)[0])
        shares = look.need_shares("the largest share")
        sentences.append(f"The most frequent state is {look.labels[top]} with {percent(float(shares[top]))}.")
    if (most := release.counting.get("max_events")) is not None:
        sentences.append(
            f"At most {most} events of a user were kept, so all numbers lean towards users with few events."
        )
    if guarantee.assumptions:
        sentences.append("The guarantee rests on assumptions; they are written out below.")
    cards = "".join(f"<div><dt>{h(name)}</dt><dd>{h(value)}</dd></div>" for name, value in numbers)
    return f'<dl class="numbers">{cards}</dl><p>{h(" ".join(sentences))}</p>'


def _protected(release: Release) -> str:
    guarantee = release.guarantee
    states = "The list of states was public beforehand and is not protected" + (
        "." if release.layout.allowed.is_full else ", and so is the list of allowed pairs."
    )
    rows = [
        ("Protected", sentence(guarantee.unit.protects)),
        ("Not protected", sentence(guarantee.unit.leaves_open) + " " + states),
        (
            "From whom",
            sentence(guarantee.unit.from_whom),
        ),
        ("What is compared", sentence(guarantee.unit.relation_in_words)),
        (
            "Assumptions",
            " ".join(sentence(a) for a in guarantee.assumptions)
            or "None: the guarantee holds for every possible data set.",
        ),
        (
            "Scope",
            sentence(guarantee.unit.scope),
        ),
        (
            "What no noise hides",
            "What is true of the data as a whole. If most transitions from one state lead to another, the "
            "release says so, and says it about everybody. Hidden is what is named above, and nothing else.",
        ),
    ]
    return facts(rows)


def _made(release: Release) -> str:
    evidence, reason = release.guarantee.evidence, release.mechanism.get("reason")
    settings = "; ".join(
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in release.mechanism.items()
        if name not in ("name", "reason") and isinstance(value, int | float | str)
    )
    kind = (
        "an exact formula for the worst pair of neighbouring data sets, evaluated with rigorous error "
        "bounds at the very parameters that were used, and rounded up"
        if evidence.kind == "exact"
        else "a theorem's bound: what is claimed holds, and the truth may be better"
    )
    source = "the operating system's entropy" if release.is_private else "a seed: not private"
    counting = "; ".join(
        f"{name} = {value}"
        for name, value in release.counting.items()
        if isinstance(value, int | float | str)
    )
    return (
        "<p>A mechanism with public parameters turned the sensitive data into random probabilities; nothing "
        "else left. The parameters were fixed beforehand, and the size of no file depends on the data.</p>"
        + facts(
            [
                ("Mechanism", str(release.mechanism["name"])),
                ("Its public parameters", settings or "none"),
                *([("Why this one", str(reason))] if reason else []),
                *([("How it was counted", counting)] if counting else []),
                ("Evidence", sentence(evidence.theorem)),
                ("The bound is", sentence(kind)),
                ("Randomness", sentence(source)),
                ("Shape", str(release.layout)),
                ("Made", f"{release.created}, dpmarkov {release.version}"),
            ]
        )
    )


def _load(release: Release) -> str:
    lines = ["import dpmarkov as dpm", "", 'release = dpm.load("release/")', "print(release.guarantee)"]
    layout = release.layout
    if layout.source is None:
        lines += ["release.probabilities            # one share for each state"]
    else:
        lines += ["P = release.transition_matrix    # rows are from-states, columns are to-states"]
    if look_at(release).shares is not None and layout.is_chain:
        lines += [
            "release.stationary_distribution  # the long run",
            f"release.chain.predict({layout.target.states[0]!r}, steps=3)",
        ]
    where = (
        "release/ is the directory that the release was saved to: release.json holds the states, the "
        "guarantee and the parameters, transitions.parquet one row for each probability, which any tool that "
        "reads Parquet can open."
    )
    return f"<p>{h(where)}</p><pre tabindex='0'><code>{h(chr(10).join(lines))}</code></pre>"


def _cite(release: Release) -> str:
    guarantee = release.guarantee
    factor = odds_factor(guarantee.epsilon, ".4g")
    exception = f", but for δ = {readable_up(guarantee.delta)}" if guarantee.delta > 0 else ""
    texts = [
        release.citation,
        f"Odds shift by a factor of at most e^ε = {factor}{exception}{no_protection(guarantee.epsilon)}.",
        f"Evidence: {guarantee.evidence.theorem}.",
        "Assumptions: " + ("; ".join(guarantee.assumptions) or "none") + ".",
    ]
    paragraphs = "".join(f"<p>{h(text)}</p>" for text in texts)
    return f'<div class="box" id="guarantee">{paragraphs}</div>'
