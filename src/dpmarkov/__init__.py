"""Private Markov chains from sensitive event data, with a guarantee that is proven and certified.

The public names stand in the table below; each is imported when it is first used, so that the command line
answers at once. So are the rooms of `_ROOMS`: `dpmarkov.export.write_csv` needs no import of its own.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpmarkov.chain import MarkovChain as MarkovChain
    from dpmarkov.counts import TransitionCounts as TransitionCounts
    from dpmarkov.discovery import BoundsReport as BoundsReport
    from dpmarkov.discovery import bounds as bounds
    from dpmarkov.discovery import discover_states as discover_states
    from dpmarkov.errors import DpmarkovError as DpmarkovError
    from dpmarkov.events import check as check
    from dpmarkov.events import count as count
    from dpmarkov.layout import Layout as Layout
    from dpmarkov.planning import plan as plan
    from dpmarkov.planning import plan_bounds as plan_bounds
    from dpmarkov.privacy.budget import Budget as Budget
    from dpmarkov.privacy.charge import Charge as Charge
    from dpmarkov.privacy.guarantee import Guarantee as Guarantee
    from dpmarkov.privacy.unit import Destination as Destination
    from dpmarkov.privacy.unit import Entry as Entry
    from dpmarkov.privacy.unit import Event as Event
    from dpmarkov.privacy.unit import TimePoint as TimePoint
    from dpmarkov.privacy.unit import User as User
    from dpmarkov.privacy.unit import Visit as Visit
    from dpmarkov.queries import paper_claim as paper_claim
    from dpmarkov.queries import privatize_average as privatize_average
    from dpmarkov.queries import privatize_matrix as privatize_matrix
    from dpmarkov.queries import privatize_vector as privatize_vector
    from dpmarkov.releases import Release as Release
    from dpmarkov.releases import load as load
    from dpmarkov.releases import release as release
    from dpmarkov.report import figures as figures
    from dpmarkov.report import write_report as write_report
    from dpmarkov.states import StateSpace as StateSpace
    from dpmarkov.support import Support as Support
    from dpmarkov.utility.compare import compare as compare

_PUBLIC = {
    "BoundsReport": "dpmarkov.discovery",
    "Budget": "dpmarkov.privacy.budget",
    "Charge": "dpmarkov.privacy.charge",
    "Destination": "dpmarkov.privacy.unit",
    "DpmarkovError": "dpmarkov.errors",
    "Entry": "dpmarkov.privacy.unit",
    "Event": "dpmarkov.privacy.unit",
    "User": "dpmarkov.privacy.unit",
    "Visit": "dpmarkov.privacy.unit",
    "Guarantee": "dpmarkov.privacy.guarantee",
    "Layout": "dpmarkov.layout",
    "MarkovChain": "dpmarkov.chain",
    "Release": "dpmarkov.releases",
    "StateSpace": "dpmarkov.states",
    "Support": "dpmarkov.support",
    "TimePoint": "dpmarkov.privacy.unit",
    "TransitionCounts": "dpmarkov.counts",
    "bounds": "dpmarkov.discovery",
    "check": "dpmarkov.events",
    "compare": "dpmarkov.utility.compare",
    "count": "dpmarkov.events",
    "discover_states": "dpmarkov.discovery",
    "figures": "dpmarkov.report",
    "load": "dpmarkov.releases",
    "paper_claim": "dpmarkov.queries",
    "plan": "dpmarkov.planning",
    "plan_bounds": "dpmarkov.planning",
    "privatize_average": "dpmarkov.queries",
    "privatize_matrix": "dpmarkov.queries",
    "privatize_vector": "dpmarkov.queries",
    "release": "dpmarkov.releases",
    "write_report": "dpmarkov.report",
}

_ROOMS = {"chain", "export", "odds", "papers", "postprocess", "pufferfish", "report", "utility"}

__all__ = [*_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dpmarkov")
    if name in _ROOMS:
        return importlib.import_module(f"dpmarkov.{name}")
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'dpmarkov' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, *_ROOMS, "__version__"])
