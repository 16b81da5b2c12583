"""The Dirichlet mechanism together with noisy row totals.

A Dirichlet draw tells nothing of how many events a row has. A share of the budget, fixed beforehand, buys the
rows' totals with discrete Laplace noise: error bars become narrow with them, flows can be told, and the pull
of the form *prior* towards the uniform row can be taken out again (`dpmarkov.postprocess.remove_prior`).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.additive import add_noise
from dpmarkov.mechanisms.base import Draw
from dpmarkov.mechanisms.dirichlet import WEIGHT_BITS, Dirichlet, normalize_rows
from dpmarkov.postprocess import NoiseLaw, remove_prior
from dpmarkov.privacy.additive import row_totals_profile, row_totals_scale
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import dirichlet_profile, round_down
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Unit

__all__ = ["DirichletWithTotals", "check_totals_share", "with_row_totals"]

_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class DirichletWithTotals:
    """A Dirichlet draw of each row, and each row's total with discrete Laplace noise.

    Parameters
    ----------
    rows
        The Dirichlet mechanism.
    totals_scale
        The scale of the noise on each total.

    Guarantee
    ---------
    `profile(unit, layout)` composes both: each change of the counts with each change of the totals, in both
    directions, so nothing is assumed about which of them go together. It holds for every data set.
    """

    rows: Dirichlet
    totals_scale: float

    @property
    def name(self) -> str:
        """The mechanism's name in files and messages."""
        return self.rows.name

    @property
    def evidence(self) -> tuple[str, Literal["exact", "theorem"]]:
        """The theorems behind the profile; the worst changes of both parts may not go together."""
        return f"{self.rows.evidence[0]}, composed with discrete Laplace noise on every row total", "theorem"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Those of the Dirichlet draw; the sampler of the totals is exact."""
        return self.rows.assumptions

    def profile(self, unit: Unit, layout: Layout) -> Profile:
        """The privacy profile of rows and totals together."""
        return self.rows.profile(unit, layout).compose(row_totals_profile(unit, self.totals_scale))

    def draw(self, counts: TransitionCounts, entropy: Entropy) -> Draw:
        """One draw of the rows and of the totals; the form *prior* then loses its prior."""
        cells = counts.layout.cells
        law = NoiseLaw(kind="laplace", scale=self.totals_scale)
        exact = np.asarray(cells.row_sums(counts.values), dtype=np.int64)
        totals = add_noise(exact, law, entropy)
        rows = self.rows.draw(counts, entropy).probabilities
        if self.rows.form == "prior":
            weighted = np.asarray(self.rows.weight * totals, dtype=np.float64)
            freed = remove_prior(rows, cells, prior=self.rows.alpha, weighted_totals=weighted)
            rows = normalize_rows(freed, cells)
        return Draw(probabilities=rows, row_totals=totals)

    def to_dict(self) -> dict[str, Any]:
        """The public parameters as they stand in `release.json`."""
        law = NoiseLaw(kind="laplace", scale=self.totals_scale)
        return {
            **self.rows.to_dict(),
            "totals_scale": self.totals_scale,
            "totals_noise_std": law.std,
            **({"postprocessing": "remove_prior"} if self.rows.form == "prior" else {}),
        }


def check_totals_share(share: float) -> None:
    """Refuse what is no share of a budget."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise ParameterError(f"totals_share must be a number with 0 < share < 1, such as 0.1; got {share!r}")


def with_row_totals(rows: Dirichlet, *, unit: Unit, budget: Budget, share: float) -> DirichletWithTotals:
    """`rows` with totals that cost `share` of epsilon, and the largest weight that the budget then allows.

    `rows` must be calibrated to the rest, (1 - share) epsilon and all of delta. Composition is cheaper than
    the sum of both, so there is room for a larger weight.
    """
    check_totals_share(share)
    scale = row_totals_scale(unit, Fraction(share) * Fraction(budget.epsilon))
    beside = row_totals_profile(unit, scale)

    def joint(weight: float) -> Profile:
        return dirichlet_profile(unit, weight, rows.alpha).compose(beside)

    low, high = rows.weight, 2 * rows.weight
    while joint(high).delta(budget.epsilon) <= budget.delta:
        low, high = high, 2 * high
    while high - low > _TOLERANCE * low:
        middle = (low + high) / 2
        low, high = (middle, high) if joint(middle).delta(budget.epsilon) <= budget.delta else (low, middle)
    weight, step = float(round_down(low, WEIGHT_BITS)), 2.0 ** (1 - WEIGHT_BITS)
    while not joint(weight).certified_delta(budget.epsilon) <= budget.delta:
        weight, step = float(round_down(weight * (1 - step), WEIGHT_BITS)), min(2 * step, 0.5)
        if weight <= 0:
            raise ParameterError(f"no weight keeps the rows beside their totals within {budget}")
    return DirichletWithTotals(rows=replace(rows, weight=weight), totals_scale=scale)
