"""What an epsilon means: an attacker's chances, from the whole exact curve delta(epsilon).

Somebody wonders whether one unit is in the data (for *replace*: which of two values it has), and believes it
with a prior probability p. Two questions have exact answers:

- *How often can they be right?* The best guess is right with probability
  (1 - p) + p delta(ln((1 - p) / p)): the point of the curve where the slope is the prior odds.
- *How sure can they become?* With delta > 0 a rare output may prove the case outright, so the most that the
  belief can reach is 1, with a probability of at most delta. The useful answer is for alarms that catch at
  least one case in twenty: the belief after such an alarm, p b / (p b + (1 - p) a), at the smallest false
  alarm rate a that the curve allows for the power b.

e^epsilon alone would answer neither: it is wrong for delta > 0 and loose for most of the curve.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError
from dpmarkov.privacy.budget import check_epsilon
from dpmarkov.privacy.readable import LARGE_EPSILON, budget_warning
from dpmarkov.privacy.unit import Unit

__all__ = ["LARGE_EPSILON", "Odds", "OddsTable", "odds"]

Flat = npt.NDArray[np.float64]

PRIORS = (0.01, 0.1, 0.5, 0.9, 0.99)
_POWER = 0.05


class Curve(Protocol):
    """Whatever has an exact curve: a `Profile`."""

    def delta(self, epsilon: npt.ArrayLike) -> Flat:
        """The curve at each epsilon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """One prior and what the release can make of it.

    Parameters
    ----------
    prior
        The attacker's belief beforehand that the unit is in the data.
    guess_before, guess_after
        How often the best guess is right, without and with the release.
    posterior
        The belief after an alarm that catches at least one case in twenty.
    """

    prior: float
    guess_before: float
    guess_after: float
    posterior: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsTable:
    """The table for one guarantee, with a warning where one is due.

    Parameters
    ----------
    rows
        One entry for each prior.
    warning
        A sentence for an epsilon above 5, one for a delta above a thousandth, else an empty string.
    question
        What the attacker wonders.
    """

    rows: tuple[Odds, ...]
    warning: str
    question: str

    @property
    def in_words(self) -> str:
        """The even prior in one sentence."""
        even = min(self.rows, key=lambda row: abs(row.prior - 0.5))
        return (
            f"Somebody who is {_percent(even.prior)} sure {self.question} guesses right at most "
            f"{_at_most(even.guess_after)} of the time with the release, against "
            f"{_percent(even.guess_before)} without it."
        )

    def describe(self) -> str:
        """The table in plain text."""
        head = f"{'belief before':>14}  {'best guess right':>28}  {'belief after':>13}"
        lines = [
            self.in_words,
            "",
            head,
            f"{'':>14}  {'without':>13}  {'with release':>13}  {'an alarm*':>13}",
        ]
        lines += [
            f"{_percent(row.prior):>14}  {_percent(row.guess_before):>13}  "
            f"{_at_most(row.guess_after):>13}  {_at_most(row.posterior):>13}"
            for row in self.rows
        ]
        lines.append("* the belief at most, after an alarm that catches at least one true case in twenty")
        if self.warning:
            lines += ["", f"Warning: {self.warning}"]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a script."""
        return {
            "question": self.question,
            "rows": [asdict(row) for row in self.rows],
            "warning": self.warning,
        }


def odds(
    curve: Curve, *, epsilon: float, priors: Sequence[float] = PRIORS, unit: Unit | None = None
) -> OddsTable:
    """The odds table of a guarantee.

    Parameters
    ----------
    curve
        The exact curve delta(epsilon): a guarantee's `evidence.profile`.
    epsilon
        The epsilon that is claimed, for the range of the curve and the warning.
    priors
        Beliefs beforehand, each between 0 and 1.
    unit
        The unit that is protected, for the words.

    Examples
    --------
    >>> table = odds(release.guarantee.evidence.profile, epsilon=1.0)  # doctest: +SKIP
    """
    if not callable(getattr(curve, "delta", None)):
        raise ParameterError(
            f"odds need a whole curve, such as guarantee.evidence.profile; got {type(curve).__name__}"
        )
    epsilon = check_epsilon(epsilon)
    if not priors or not all(0 < prior < 1 for prior in priors):
        raise ParameterError(f"priors must lie strictly between 0 and 1; got {list(priors)!r}")
    # A coarse grid can only overstate what an attacker may do: every point of it is a valid bound.
    grid = np.linspace(0.0, 4 * epsilon, 401)
    deltas = np.asarray(curve.delta(grid), dtype=float)
    alarm = _false_alarms(grid, deltas, _POWER)
    rows = tuple(
        Odds(
            prior=float(prior),
            guess_before=max(prior, 1 - prior),
            guess_after=_best_guess(curve, prior),
            posterior=_believed(prior, alarm),
        )
        for prior in priors
    )
    delta = float(np.asarray(curve.delta(np.array([epsilon])))[0])
    warning = budget_warning(epsilon, delta)
    return OddsTable(rows=rows, warning=warning, question=_question(unit))


def _question(unit: Unit | None) -> str:
    if unit is None:
        return "whether one unit is in the data"
    if unit.to_dict().get("relation") == "add_remove" or unit.name == "visit":
        return f"whether one {unit.name} is in the data"
    return f"which of two possible values one {unit.name} has"


def _best_guess(curve: Curve, prior: float) -> float:
    """How often the best guess is right: (1 - p) + p delta(ln((1 - p) / p)), for any p."""
    # For p > 1/2 the question is asked from the other side: the curve bounds both directions.
    least, most = min(prior, 1 - prior), max(prior, 1 - prior)
    delta = float(np.asarray(curve.delta(np.array([math.log(most / least)])))[0])
    return min(1.0, most + least * delta)


def _false_alarms(grid: Flat, deltas: Flat, power: float) -> float:
    """The smallest false alarm rate that the curve allows for a power."""
    one = np.exp(-grid) * (power - deltas)
    with np.errstate(over="ignore"):
        other = 1 - deltas - np.exp(np.minimum(grid, 700.0)) * (1 - power)
    return float(np.clip(max(one.max(), other.max()), 0.0, 1.0))


def _believed(prior: float, alarm: float) -> float:
    """The belief after an alarm of power 5 % with that false alarm rate."""
    true = prior * _POWER
    return true / (true + (1 - prior) * alarm)


def _percent(value: float) -> str:
    """A probability that is known exactly, in percent."""
    return f"{100 * value:.6g}%"


def _at_most(value: float) -> str:
    """An upper bound in percent: rounded up to two places, and never to a certainty that it is not."""
    if value >= 1:
        return "100%"
    # Floats add a hair to what is exact, such as 0.9: a ten-thousandth of the last place is not rounded up.
    shown = max(math.ceil(1e4 * value - 1e-4), 1 if value > 0 else 0) / 100
    return f"{shown:.2f}%" if shown < 99.995 else "<100%"
