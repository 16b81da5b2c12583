"""One cell of the table: a data set, a unit and an epsilon; all mechanisms on the same draws of noise."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import dpmarkov as dpm
from benchmarks.accuracy import peers
from benchmarks.accuracy.datasets import USER_EVENTS, DataSet
from benchmarks.accuracy.measures import MEASURES, Truth
from dpmarkov.entropy import Entropy
from dpmarkov.mechanisms.additive import Additive, draw_noise
from dpmarkov.mechanisms.dirichlet import Dirichlet
from dpmarkov.planning import choose, plan_dirichlet
from dpmarkov.postprocess import NoiseLaw, estimate_probabilities
from dpmarkov.privacy.sensitivity import sensitivity

Array = npt.NDArray[np.float64]

DELTA = 1e-6
OURS = ("auto", "gaussian, posterior", "laplace, projected", "dirichlet, exact")
SAME_LAW = ("OpenDP Laplace, clipped", "diffprivlib Geometric, clipped", "Spark style, clipped")
PRECISION = 0.02
CLAIM = 1.03
"""What the table is to show: no ratio above this one."""
MOST_ROUNDS = 24
CONDITIONAL = ("Benvenuti et al., exact", "Benvenuti et al., as accounted there")


@dataclass(frozen=True)
class Cell:
    """Errors of every mechanism: an array of (repetition, measure) for each."""

    data: str
    unit: str
    epsilon: float
    errors: dict[str, Array]
    notes: dict[str, str]
    chosen: str

    @property
    def title(self) -> str:
        """What this cell is."""
        return f"{self.data}, {self.unit}, epsilon {self.epsilon:g}"

    @property
    def repetitions(self) -> int:
        """How many draws the means are taken over."""
        return len(self.errors["auto"])

    def mean(self, name: str) -> Array:
        """Mean errors."""
        return self.errors[name].mean(axis=0)

    def half_width(self, name: str) -> Array:
        """Half of a 95 % interval of the mean."""
        values = self.errors[name]
        return 1.96 * values.std(axis=0, ddof=1) / math.sqrt(len(values))

    def peers(self) -> dict[str, Array]:
        """Peers with a guarantee at this epsilon.

        Those of `SAME_LAW` have one law: they are represented by the one that shares its noise with ours, so
        that the comparison is not about whose noise was luckier.
        """
        hidden = {*OURS, *SAME_LAW[1:], *CONDITIONAL}
        return {name: values for name, values in self.errors.items() if name not in hidden}

    def ratio(self, measure: int) -> tuple[float, float, float, str]:
        """Auto over the best peer, with a 95 % bootstrap interval, and who that is."""
        others = self.peers()
        best = min(others, key=lambda name: others[name][:, measure].mean())
        mine, theirs = self.errors["auto"][:, measure], others[best][:, measure]
        rng = np.random.default_rng(1)
        pick = rng.integers(0, len(mine), (1000, len(mine)))
        resampled = mine[pick].mean(axis=1) / np.maximum(theirs[pick].mean(axis=1), 1e-300)
        low, high = np.quantile(resampled, [0.025, 0.975])
        return float(mine.mean() / theirs.mean()), float(low), float(high), best

    def is_precise(self) -> bool:
        """Whether each ratio is below 1 for sure, or known within 2 % and on one side of the claim."""
        known = (self.ratio(k) for k in range(4) if not math.isnan(self.mean("auto")[k]))
        return all(
            high < 1 or (high - low <= 2 * PRECISION and not low <= CLAIM < high) for _, low, high, _ in known
        )

    def worst_ratio(self) -> tuple[float, str]:
        """The largest ratio over the measures."""
        ratios = [(self.ratio(k)[0], MEASURES[k]) for k in range(4) if not math.isnan(self.mean("auto")[k])]
        return max(ratios) if ratios else (math.nan, "")

    def line(self) -> str:
        """One line for the terminal."""
        parts = [f"{self.title:<42} {self.chosen:<16} {self.repetitions:>5} x"]
        for k, measure in enumerate(MEASURES):
            mine = self.mean("auto")[k]
            if not math.isnan(mine):
                ratio, low, high, _ = self.ratio(k)
                parts.append(f"{measure} {mine:.3g} ({ratio:.2f} [{low:.2f}, {high:.2f}])")
        return "  ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "data": self.data,
            "unit": self.unit,
            "epsilon": self.epsilon,
            "chosen": self.chosen,
            "repetitions": self.repetitions,
            "notes": self.notes,
            "mean": {name: self.mean(name).tolist() for name in self.errors},
            "half_width": {name: self.half_width(name).tolist() for name in self.errors},
        }


def unit_of(name: str) -> dpm.Destination | dpm.Event | dpm.User:
    """The unit of that name."""
    if name == "destination":
        return dpm.Destination()
    if name == "user":
        return dpm.User(max_events=USER_EVENTS)
    return dpm.Event(relation="replace" if name == "replace" else "add_remove")


def run_cell(data: DataSet, unit_name: str, epsilon: float) -> Cell:
    """Every mechanism on one data set; the additive ones on the same noise.

    The data set's repetitions make one round; there are more rounds until the ratios are precise.
    """
    unit, budget = unit_of(unit_name), dpm.Budget(epsilon=epsilon, delta=DELTA)
    norms = sensitivity(unit)
    layout, shape = data.layout, data.matrix.shape
    events = float(data.matrix.sum())
    truth = Truth(data.matrix, data.is_chain)
    # Deterministic seeds: another unit or epsilon gets other noise.
    seed = int(1000 * epsilon) * 10 + len(unit_name)
    rng = np.random.default_rng(seed)

    choice = choose(layout, unit=unit, budget=budget, expected_events=events)
    auto = choice.mechanism
    laplace_scale = peers.opendp_scale("laplace", norms.l1, budget)
    gaussian_scale = peers.opendp_scale("gaussian", norms.l2, budget)
    ours_laplace = choose(layout, unit=unit, budget=budget, mechanism="laplace").mechanism
    ours_gaussian = choose(layout, unit=unit, budget=budget, mechanism="gaussian").mechanism
    dirichlet = plan_dirichlet(layout, unit=unit, budget=budget, expected_events=events)
    notes = {
        "auto": choice.reason,
        "OpenDP Laplace, clipped": f"scale {laplace_scale:.4g}",
        "OpenDP Gaussian, clipped": f"sigma {gaussian_scale:.4g}",
        "dirichlet, exact": f"{dirichlet.name}, weight {dirichlet.weight:.3g}, floor {dirichlet.alpha:.3g}",
    }
    errors: dict[str, list[tuple[float, ...]]] = {}

    def add(name: str, found: Array) -> None:
        errors.setdefault(name, []).append(truth.errors(found))

    draws = {
        "diffprivlib Geometric, clipped": peers.diffprivlib_geometric(data, budget, norms.l1),
        "Spark style, clipped": peers.spark_style(data, budget, norms.l1),
        "Benvenuti et al., exact": peers.benvenuti_exact(data, budget)
        if unit_name == "destination"
        else None,
    }
    paper = peers.benvenuti_paper(data, budget) if unit_name == "destination" else None
    if paper is not None:
        draws["Benvenuti et al., as accounted there"] = paper[0]
        notes["Benvenuti et al., as accounted there"] = (
            f"claims epsilon {paper[1]:.3g} (row shares as border)"
        )
    if unit_name != "user":
        for alpha, draw in peers.ponnoprat_draws(data, budget, norms.l1 == 2).items():
            draws[f"Ponnoprat, prior {alpha:g}"] = draw
    if abs(_law(ours_laplace).scale / laplace_scale - 1) > 1e-3:
        raise RuntimeError(f"our Laplace scale {_law(ours_laplace).scale} is not OpenDP's {laplace_scale}")
    for round_ in range(MOST_ROUNDS):
        for repeat in range(round_ * data.repeats, (round_ + 1) * data.repeats):
            entropy = _entropy(data, seed * 100_000 + repeat)
            laplace = _noisy(data, ours_laplace, entropy)
            gaussian = _noisy(data, ours_gaussian, entropy)
            noisy = {"laplace": laplace, "gaussian": gaussian}
            if isinstance(auto, Additive):
                found = auto.finish(noisy[auto.noise.kind], layout)
            else:
                found = auto.draw(dpm.TransitionCounts(layout, data.matrix.ravel()), entropy).probabilities
            add("auto", found.reshape(shape))
            posterior = estimate_probabilities(gaussian, layout, _law(ours_gaussian), method="posterior")
            add("gaussian, posterior", posterior.reshape(shape))
            projected = estimate_probabilities(laplace, layout, _law(ours_laplace), method="project")
            add("laplace, projected", projected.reshape(shape))
            add("dirichlet, exact", _dirichlet(dirichlet, data, rng))
            # Our Laplace scale is OpenDP's to the last digits, so its clipped counts are OpenDP's as well.
            add("OpenDP Laplace, clipped", peers.clipped(laplace.reshape(shape)))
            theirs = draw_noise(NoiseLaw(kind="gaussian", scale=gaussian_scale), data.matrix.size, entropy)
            add("OpenDP Gaussian, clipped", peers.clipped(data.matrix + theirs.reshape(shape)))
            for name, job in draws.items():
                if job is not None:
                    add(name, job(rng))
        found_errors = {name: np.array(values) for name, values in errors.items()}
        cell = Cell(data.name, unit_name, epsilon, found_errors, notes, auto.name)
        if cell.is_precise():
            break
    return cell


def _entropy(data: DataSet, seed: int) -> Entropy:
    """OpenDP's own sampler where it takes milliseconds; elsewhere the same law from a seeded stream."""
    return Entropy.from_os() if data.matrix.size <= peers.SMALL else Entropy.seeded(seed)


def _law(mechanism: object) -> NoiseLaw:
    if not isinstance(mechanism, Additive):
        raise TypeError("only additive mechanisms have a noise law")
    return mechanism.noise


def _noisy(data: DataSet, mechanism: object, entropy: Entropy) -> npt.NDArray[np.int64]:
    return data.matrix.ravel() + draw_noise(_law(mechanism), data.matrix.size, entropy)


def _dirichlet(mechanism: Dirichlet, data: DataSet, rng: np.random.Generator) -> Array:
    parameters = mechanism.parameters(data.matrix.ravel()).reshape(data.matrix.shape)
    return peers.dirichlet_rows(parameters)(rng)
