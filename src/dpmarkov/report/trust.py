"""How far the numbers of a report may be trusted: intervals from the release alone, worked out once."""

import functools

from dpmarkov.errors import ChainError, EngineError
from dpmarkov.releases import Release
from dpmarkov.report.look import SHOWN_STATES, look_at
from dpmarkov.utility.interval import in_words
from dpmarkov.utility.uncertainty import Uncertain, stationary_error_bars

__all__ = ["cell_intervals", "in_percent", "share_intervals", "why_no_intervals"]

_CELL_DRAWS = 200


@functools.lru_cache(maxsize=1)
def _intervals(release: Release) -> tuple[Uncertain | None, Uncertain | None, str]:
    look = look_at(release)
    if len(look.labels) > SHOWN_STATES:
        why = f"above {SHOWN_STATES} states they take long: ask for them with release.uncertainty(...)"
        return None, None, why
    shares: Uncertain | None = None
    why = look.no_shares
    try:
        if look.chain is not None and look.shares is not None:
            shares = stationary_error_bars(release)
    except (ChainError, EngineError) as error:
        why = str(error)
    try:
        cells = release.uncertainty("transition_matrix", draws=_CELL_DRAWS)
    except (ChainError, EngineError) as error:
        return shares, None, str(error)
    return cells.part(0) if release.layout.source is None else shares, cells, why


def share_intervals(release: Release) -> Uncertain | None:
    """The long-run shares, or those of a single distribution, with intervals, where they are known."""
    return _intervals(release)[0]


def cell_intervals(release: Release) -> Uncertain | None:
    """The transition probabilities with intervals, as a dense matrix, where they are known."""
    return _intervals(release)[1]


def why_no_intervals(release: Release) -> str:
    """Why some intervals are not known; empty where they are."""
    return _intervals(release)[2]


def in_percent(bars: Uncertain, *at: int) -> str:
    """One entry as `4.12 ± 0.06 %`; with the interval's ends where these lie unevenly about it."""
    value, low, high = (100 * float(part[at]) for part in (bars.value, bars.low, bars.high))
    return in_words(value, low, high, "\u00a0%")
