"""What a release spends before it counts: a bound that was found, states that are to be found."""

from typing import TYPE_CHECKING, Any

from dpmarkov.errors import ParameterError, ReleaseFormatError

if TYPE_CHECKING:
    from dpmarkov.privacy.budget import Budget
    from dpmarkov.privacy.charge import Charge
    from dpmarkov.privacy.unit import Unit

__all__ = ["check_discovery", "discover", "take_bounds"]


def take_bounds(path: str | None, table: dict[str, Any]) -> "list[Charge]":
    """The charge of `dpmarkov bounds`; its bound holds where --max-events is not given."""
    if path is None:
        return []
    from dpmarkov.privacy.charge import Charge

    charge = Charge.load(path)
    found = charge.result.get("max_events")
    if not isinstance(found, int):
        raise ReleaseFormatError(f"{path} holds no bound; give the file that `dpmarkov bounds` wrote")
    if table["max_events"] is None:
        table["max_events"] = found
    return [charge]


def check_discovery(table: dict[str, Any], share: float) -> None:
    """Refuse what does not go with states that are yet to be found."""
    if not 0 < share < 1:
        raise ParameterError(f"--discover-states is a share of the budget between 0 and 1; got {share:g}")
    unfit = [name for name in ("from_states", "support", "merge", "start", "end") if table[name] is not None]
    if unfit:
        raise ParameterError(f"--{unfit[0].replace('_', '-')} needs states that are declared (--states)")
    if table["unknown"] != "drop":
        raise ParameterError("with --discover-states, what is not found becomes --other; leave out --unknown")


def discover(
    data: str,
    table: dict[str, Any],
    unit: "Unit",
    budget: "Budget",
    share: float,
    other: str,
    seed: int | None,
) -> "Charge":
    """Find the states with a share of the budget, and put them where the declared ones would be."""
    import dpmarkov as dpm

    same = "source target column state user table query delimiter"
    found = dpm.discover_states(
        data,
        unit=unit,
        budget=dpm.Budget(epsilon=share * budget.epsilon, delta=share * budget.delta),
        other=int(other) if other.removeprefix("-").isdecimal() else other,
        seed=seed,
        progress=True,
        **{name: table[name] for name in same.split()},
    )
    table["states"], table["unknown"] = found.states, found.unknown
    return found.charge
