"""The error that a release's mechanism would have at other budgets, on data shaped like the release.

Public arithmetic: the mechanism is calibrated to each budget and judged on counts made from the release. For
the Dirichlet mechanism by a formula, for noise on counts by running it (seeded; this releases nothing).
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.planning.choose import calibrated
from dpmarkov.planning.dirichlet import beta_error
from dpmarkov.planning.predict import predicted_errors
from dpmarkov.planning.reference import reference_like
from dpmarkov.privacy.additive import gaussian_profile, laplace_profile
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate, dirichlet_profile
from dpmarkov.privacy.profile import Profile
from dpmarkov.releases import Release
from dpmarkov.report.look import Look, look_at
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

__all__ = ["dirichlet_row_error", "error_curve", "is_dirichlet", "keeps_no_prior"]

Flat = npt.NDArray[np.float64]

_ROWS = 40


def is_dirichlet(release: Release) -> bool:
    """Whether the Dirichlet mechanism made it, in a form whose error is known for other budgets."""
    return release.mechanism.get("form") in ("floor", "prior") and {"weight", "floor"} <= set(
        release.mechanism
    )


def keeps_no_prior(release: Release) -> bool:
    """Whether noisy row totals took the form's prior out of the rows again."""
    return release.mechanism.get("postprocessing") == "remove_prior"


def error_curve(release: Release, epsilons: Flat, events: int | None) -> list[float]:
    """Expected total variation between a private row and the true one, averaged over events.

    Parameters
    ----------
    release
        What the data are taken to look like, and the mechanism.
    epsilons
        Where to compute.
    events
        The size of the data; `None` for what the noisy counts say.
    """
    if is_dirichlet(release) and events is not None:
        return _dirichlet(release, epsilons, events)
    if release.mechanism.get("noise") in ("laplace", "gaussian") and release.noisy_counts is not None:
        return _additive(release, epsilons, events)
    raise ParameterError(
        "accuracy against epsilon is known for the Dirichlet mechanism and for noise on counts; this release "
        f"was made by {release.mechanism['name']}"
    )


def _budgets(release: Release, profile: Profile, epsilons: Flat) -> list[Budget]:
    """What is left for the rows of each epsilon, at the share that they have in this release.

    Private looks beforehand and row totals took the rest.
    """
    claimed = release.guarantee
    share = min(1.0, profile.epsilon(claimed.delta) / claimed.epsilon)
    return [Budget(epsilon=share * epsilon, delta=claimed.delta) for epsilon in epsilons.tolist()]


def _dirichlet(release: Release, epsilons: Flat, events: int) -> list[float]:
    look, floor, unit = look_at(release), float(release.mechanism["floor"]), release.guarantee.unit
    profile = dirichlet_profile(unit, float(release.mechanism["weight"]), floor)
    return [
        dirichlet_row_error(
            look.cells,
            look.probabilities,
            _row_masses(look) * float(events),
            form=release.mechanism["form"],
            weight=calibrate(unit, budget, floor),
            floor=floor,
            freed=keeps_no_prior(release),
        )
        for budget in _budgets(release, profile, epsilons)
    ]


def _additive(release: Release, epsilons: Flat, events: int | None) -> list[float]:
    part = _some_rows(release)
    like = reference_like(part, events=events)
    noise, unit = str(release.mechanism["noise"]), release.guarantee.unit
    rule = laplace_profile if noise == "laplace" else gaussian_profile
    profile = rule(unit, float(release.mechanism["scale"]))
    return [
        predicted_errors(calibrated(noise, part.layout, unit=unit, budget=budget), like, draws=1).row
        for budget in _budgets(release, profile, epsilons)
    ]


def _some_rows(release: Release) -> Release:
    """The release, or forty of its rows from the busiest to the idlest: enough for an average over events."""
    look = look_at(release)
    cells = look.cells
    if release.noisy_counts is None or cells.n_rows <= _ROWS:
        return release
    noisy = release.noisy_counts[release.layout.block("transitions").at]
    busy = np.argsort(-np.asarray(cells.row_sums(noisy)), kind="stable")
    taken = np.sort(busy[np.linspace(0, cells.n_rows - 1, _ROWS).round().astype(int)])
    at = np.concatenate([np.arange(cells.indptr[i], cells.indptr[i + 1]) for i in taken])
    indptr = np.concatenate(([0], np.cumsum(cells.row_sizes[taken]))).astype(np.int64)
    support = Support(indptr, cells.indices[at], cells.n_columns)
    layout = Layout(target=release.layout.target, source=StateSpace.range(0, _ROWS), support=support)
    return replace(release, layout=layout, probabilities=look.probabilities[at], noisy_counts=noisy[at])


def _row_masses(look: Look) -> Flat:
    """The share of the events in each row: the long run's where there is one, else equal."""
    if look.chain is not None and look.shares is not None:
        return np.asarray(look.shares)
    return np.full(look.cells.n_rows, 1 / look.cells.n_rows)


def dirichlet_row_error(
    cells: Support,
    shape: Flat,
    row_events: Flat,
    *,
    form: str,
    weight: float,
    floor: float,
    freed: bool = False,
) -> float:
    """Expected total variation between a private row and the true one, averaged over events.

    Parameters
    ----------
    cells
        The support.
    shape
        The true probabilities that are supposed, one for each cell.
    row_events
        The number of events that is supposed in each row.
    form, weight, floor
        The mechanism's public parameters.
    freed
        Whether the prior is taken out of the draw again, which takes its bias and widens the noise.
    """
    rows = cells.row_of_cell
    weighted = weight * row_events[rows] * shape
    u = np.maximum(weighted, floor) if form == "floor" else weighted + floor
    totals = np.asarray(cells.row_sums(u), dtype=float)[rows]
    mean = u / totals
    if freed:
        wider = totals / np.maximum(np.asarray(cells.row_sums(weighted), dtype=float)[rows], floor)
        absolute = wider * beta_error(mean, totals, mean)
    else:
        absolute = beta_error(mean, totals, shape)
    each_row = np.minimum(1.0, np.asarray(cells.row_sums(absolute), dtype=float) / 2)
    return float(each_row @ row_events / row_events.sum())
