"""How many events of a user to keep: a private quantile of events per user, and what each bound costs.

Users are sorted into bins by their number of events (1, 2, 3, ..., then wider and wider up to a million), and
every bin's number of users gets exact discrete Laplace noise. One user is in one bin: a user more or less
changes one number by one (the L1 sensitivity is 1), a user replaced changes two (it is 2). The quantile and
the share of events that a bound would leave out are computed from the noisy numbers alone.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError, ReleaseFormatError
from dpmarkov.events.counting import event_steps
from dpmarkov.events.engine import Query
from dpmarkov.events.question import ask
from dpmarkov.mechanisms.additive import add_noise
from dpmarkov.postprocess import NoiseLaw
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.privacy.charge import Charge
from dpmarkov.privacy.pairs import PurePair
from dpmarkov.privacy.profile import Profile

__all__ = ["BoundsReport", "bounds"]

_TOPS: list[int] = [*range(1, 11), 12, 15, 20, 25, 30, 40, 50, 70, 100, 150, 200, 300, 500, 700, 1000]
_TOPS += [2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000]
_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsReport:
    """A private look at how many events users have. All of it may be shared.

    Parameters
    ----------
    charge
        What the look has cost; `release` takes it.
    max_events
        The smallest bound below which the wanted share of the users stays.
    tops, users
        The largest number of events of each bin, and the noisy number of its users.
    """

    charge: Charge
    max_events: int
    tops: tuple[int, ...]
    users: tuple[int, ...]

    @classmethod
    def from_charge(cls, charge: Charge) -> "BoundsReport":
        """The report that a charge of `bounds` holds."""
        try:
            tops = tuple(int(top) for top in charge.result["tops"])
            users = tuple(int(number) for number in charge.result["users"])
            found, scale = int(charge.result["max_events"]), float(charge.result["scale"])
        except (KeyError, TypeError, ValueError):
            tops, users, found, scale = (), (), 0, 0.0
        if not tops or len(tops) != len(users) or found < 1 or not scale > 0:
            raise ReleaseFormatError("the charge holds no bound; give the file that `dpmarkov bounds` wrote")
        return cls(charge=charge, max_events=found, tops=tops, users=users)

    def events(self) -> float:
        """The number of events, estimated from the noisy numbers; at least 1."""
        return max(1.0, float(self._trusted() @ self._middles()))

    def share_of_users(self, bound: int) -> float:
        """The share of users (noisy) that have at most `bound` events; it never falls as the bound grows."""
        inside = [0, *(users for top, users in zip(self.tops, self.users, strict=True) if top <= bound)]
        return min(1.0, float(np.cumsum(inside).max()) / max(sum(self.users), 1))

    def lost_share(self, bound: int) -> float:
        """The share of events (estimated from the noisy numbers) that a bound would leave out."""
        users = self._trusted()
        events = float(users @ self._middles())
        kept = float(users @ np.minimum(self._middles(), bound))
        return max(0.0, 1 - kept / events) if events > 0 else 0.0

    def _trusted(self) -> npt.NDArray[np.float64]:
        """Numbers of users, with bins that noise alone explains left out (wide bins would amplify it)."""
        noisy = np.asarray(self.users, dtype=float)
        spread = math.sqrt(2) * float(self.charge.result["scale"])
        return np.where(noisy > 3 * spread, noisy, 0.0)

    def _middles(self) -> npt.NDArray[np.float64]:
        tops = np.asarray(self.tops, dtype=float)
        bottoms = np.concatenate(([1.0], tops[:-1] + 1))
        return np.asarray(np.sqrt(bottoms * tops), dtype=float)

    def describe(self) -> str:
        """The bound that was found, and what others would cost."""
        quantile = self.charge.result["quantile"]
        lines = [
            f"A share of {quantile:g} of the users has at most {self.max_events} events (found privately).",
            f"Spent: {self.charge.in_words()}. Hand the charge to the release.",
            "",
            "  bound m   users within   events left out   noise on a count, against m = 1",
        ]
        shown = sorted({*_SHOWN, self.max_events})
        lines += [
            f"  {m:>7,}   {self.share_of_users(m):>11.1%}   {self.lost_share(m):>14.1%}   x {m:,}"
            for m in shown
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()


def bounds(
    data: Any,
    *,
    epsilon: float,
    quantile: float = 0.95,
    relation: str = "add_remove",
    table: str | None = None,
    query: str | None = None,
    delimiter: str | None = None,
    seed: int | None = None,
    progress: bool = False,
    **question: Any,
) -> BoundsReport:
    """A private quantile of events per user, to choose `max_events` by.

    Parameters
    ----------
    data, table, query, delimiter, progress
        As for `dpmarkov.count`.
    epsilon
        The price.
    quantile
        The share of users that should stay whole, between 0 and 1.
    relation
        `"add_remove"` or `"replace"`: that of the release.
    seed
        For simulations only: the result is *not private*.
    **question
        The other parameters of `dpmarkov.count`, without `max_events`.

    Guarantee
    ---------
    (epsilon, 0)-differential privacy for one user. The noise is exact discrete Laplace of scale 1/epsilon
    (2/epsilon for `replace`) on bins of users; everything else is post-processing.
    """
    price = check_epsilon(epsilon)
    if not 0 < quantile < 1:
        raise ParameterError(f"quantile must lie between 0 and 1; got {quantile!r}")
    if relation not in ("add_remove", "replace"):
        raise ParameterError(f"relation must be add_remove or replace; got {relation!r}")
    if question.get("user") is None:
        raise ParameterError("bounds are about users: name the column of the user")
    if question.get("max_events") is not None or question.get("max_per_pair") is not None:
        raise ParameterError("leave out max_events and max_per_pair: they are what is looked for")
    # A bound at which nothing is cut: it makes the question one about users.
    asked = ask(**(question | {"max_events": _TOPS[-1], "max_per_pair": None}))
    with asked.open(data, table=table, query=query, delimiter=delimiter) as engine:
        steps = dict(event_steps(engine, asked))
        amount = engine.dialect.least(
            "COUNT(*)" if asked.weight is None else f"SUM({engine.dialect.wide('n')})", _TOPS[-1]
        )
        steps["per_user"] = f"SELECT u, {amount} AS size FROM events GROUP BY u"
        cases = " ".join(f"WHEN size <= {top} THEN {i}" for i, top in enumerate(_TOPS))
        steps["binned"] = f"SELECT CASE {cases} END AS bin FROM per_user"
        bins, users = engine.integers(
            Query(steps, "SELECT bin, COUNT(*) AS users FROM binned GROUP BY bin"), progress=progress
        )
    exact = np.zeros(len(_TOPS), dtype=np.int64)
    exact[bins] = users
    sensitivity = 1 if relation == "add_remove" else 2
    scale = math.nextafter(sensitivity / price, math.inf)
    noisy = add_noise(exact, NoiseLaw(kind="laplace", scale=scale), Entropy.choose(seed))
    found = _quantile(noisy, quantile)
    charge = Charge(
        purpose="private histogram of events per user",
        unit="user",
        relation=relation,
        epsilon=price,
        delta=0.0,
        profile=Profile(((PurePair(epsilon=price),),)),
        result={
            "max_events": found,
            "quantile": quantile,
            "scale": scale,
            "tops": _TOPS,
            "users": noisy.tolist(),
            "private": seed is None,
        },
    )
    return BoundsReport(charge=charge, max_events=found, tops=tuple(_TOPS), users=tuple(noisy.tolist()))


def _quantile(noisy: npt.NDArray[np.int64], quantile: float) -> int:
    """The first bin's top at which the noisy share of users reaches the quantile."""
    # The noise of empty bins cancels in sums; cutting it off at zero would pile up in the wide bins.
    above, allowed = int(noisy.sum()), (1 - quantile) * int(noisy.sum())
    for top, users in zip(_TOPS, noisy.tolist(), strict=True):
        above -= users
        if above <= allowed:
            return top
    return _TOPS[-1]
