"""Any quantity of a released chain, with an interval, from the release alone.

The interval is about privacy's noise: it says where the quantity of the *unreleased* chain (true counts over
row totals) plausibly lies. With `sampling=True` it is about the process that the data were drawn from, and
the data's own sampling error is added. Nothing here reads sensitive data, so it costs no privacy.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import special

from dpmarkov.chain import MarkovChain
from dpmarkov.chain.gth import stationary_vectors
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ChainError, EngineError, ParameterError
from dpmarkov.releases.describe import why_no_chain
from dpmarkov.utility.directions import noise_reach
from dpmarkov.utility.dirichlet_rows import DirichletRows
from dpmarkov.utility.first_order import stationary_variance
from dpmarkov.utility.interval import Uncertain, plus_minus
from dpmarkov.utility.known_rows import KnownTotalRows
from dpmarkov.utility.posterior import RowPosterior, posterior_of, rows_from_counts
from dpmarkov.utility.ranges import RANGES

if TYPE_CHECKING:
    from dpmarkov.releases import Release

__all__ = [
    "QUANTITIES",
    "Uncertain",
    "chain_from",
    "check_level",
    "evaluate",
    "plus_minus",
    "stationary_error_bars",
    "stationary_stretch",
    "uncertainty",
]

Array = npt.NDArray[np.float64]
Quantity = Callable[[Any], object]

QUANTITIES: dict[str, Quantity] = {
    "stationary_distribution": lambda chain: chain.stationary_distribution,
    "transition_matrix": lambda chain: chain.dense(),
    "recurrence_times": lambda chain: chain.recurrence_times,
    "mean_first_passage": lambda chain: chain.mean_first_passage,
    "kemeny_constant": lambda chain: chain.kemeny_constant,
    "entropy_rate": lambda chain: chain.entropy_rate(),
    "mixing_time": lambda chain: chain.mixing_time(),
    "spectral_gap": lambda chain: chain.spectral_gap,
    "relaxation_time": lambda chain: chain.relaxation_time,
    "tau_1": lambda chain: chain.tau_1,
    "tau_inf": lambda chain: chain.tau_inf,
}
"""Quantities that can be asked for by name; any other as a function of the chain (of the matrix, as an array,
where the release is no chain)."""

INPUT_MATRIX = "input_matrix"
"""By name, too, for releases of `privatize_*`: the sensitive rows with the public mixing undone."""

_AT_ONCE = 20_000_000
_BATCHED_STATES = 400
_CLOSED_FORM_STATES = 2000
_MOST_FAILURES = 0.1
_SHARES = ("stationary_distribution", "transition_matrix")
_ZERO = 1e-7
_LEAST_VARIANCE = 1e-300
_REPEATS = 25


def uncertainty(
    release: "Release",
    quantity: str | Quantity,
    *,
    level: float = 0.95,
    draws: int = 1000,
    sampling: bool = False,
    seed: int = 0,
) -> Uncertain:
    """A quantity of the released chain, with an interval.

    Parameters
    ----------
    release
        The release; nothing else is read. Of a release with groups, give `release.of(group)`.
    quantity
        A name (see `QUANTITIES`), or a function of a `MarkovChain` that gives a number or an array. Of a
        release that is no chain there is `"transition_matrix"`, and any function of that array. For the
        rows of `privatize_*` there is `"input_matrix"`: the input, the public mixing undone.
    level
        How many intervals of a hundred should cover, as a share: 0.95.
    draws
        Plausible chains to draw; at least 50.
    sampling
        Add the data's own sampling error.
    seed
        The draws are repeatable: the same release and seed give the same interval.
    """
    check_level(level, draws)
    name, compute = _named(quantity)
    posterior = posterior_of(release)
    if isinstance(posterior, KnownTotalRows) and sampling:
        raise ParameterError(
            "sampling=True adds the sampling error of counted events; this release was made from a matrix of "
            "probabilities, and how those were come by is not known. Leave it out"
        )
    if isinstance(posterior, KnownTotalRows) and name in ("transition_matrix", INPUT_MATRIX):
        return _entries(name, posterior, level)
    if name == INPUT_MATRIX:
        raise ParameterError(
            "'input_matrix' is for releases of privatize_vector, _average and _matrix; this one has counts "
            "behind it: ask for 'transition_matrix'"
        )
    if name == "transition_matrix":
        value = np.asarray(posterior.cells.dense(posterior.released), dtype=np.float64)
    else:
        value = np.asarray(compute(_subject(name, release, posterior, posterior.released)), dtype=np.float64)
    entropy = Entropy.seeded(seed)
    generator, sampler = entropy.generator("plausible counts"), entropy.generator("sampling error")
    found: list[Array] = []
    failed = 0
    per_batch = max(1, min(draws, _AT_ONCE // posterior.cells.n_cells))
    for start in range(0, draws, per_batch):
        number = min(per_batch, draws - start)
        counts = posterior.counts(number, generator, for_entries=name == "transition_matrix")
        rows = rows_from_counts(
            counts,
            posterior.released,
            posterior.cells,
            sampler if sampling else None,
            short_row_support=0.0 if name == "transition_matrix" else 1.0,
        )
        batch, lost = evaluate(name, compute, release, posterior, rows, value.shape)
        found.extend(batch)
        failed += lost
    if failed > _MOST_FAILURES * draws:
        raise ChainError(
            f"{name} does not exist for {failed} of {draws} plausible chains: the noise is too strong to "
            "tell whether it exists for the true one"
        )
    tail = (1 - level) / 2
    stacked = np.stack(found)
    # Between an infinite draw and another there is nothing to interpolate.
    low, high = np.quantile(
        stacked, [tail, 1 - tail], axis=0, method="linear" if np.isfinite(stacked).all() else "inverted_cdf"
    )
    with np.errstate(invalid="ignore"):
        if isinstance(posterior, KnownTotalRows):
            low, high = posterior.mirrored(value, stacked, low, high)
        reach, pull = _reach(name, compute, release, posterior, level, sampling, entropy)
        # fmin and fmax pass over what is not known: infinite less infinite.
        low = np.fmin(low, value + np.minimum(pull, 0.0) - reach)
        high = np.fmax(high, value + np.maximum(pull, 0.0) + reach)
    if compute is QUANTITIES.get(name):
        least, most = RANGES[name](posterior.cells)
    else:
        # Of a function nothing is known; what no draw has below zero is taken to have no values there.
        least, most = 0.0 if min(value.min(), stacked.min()) >= 0 else -np.inf, np.inf
    low, high = np.clip(low, least, most), np.clip(high, least, most)
    if name in _SHARES:
        low = np.where(low < _ZERO, 0.0, low)
    return Uncertain(
        quantity=name,
        value=value,
        low=low,
        high=high,
        level=level,
        method=posterior.method + ("; at least the noise's first-order effect" if np.any(reach > 0) else ""),
        includes_sampling=sampling,
        draws=draws,
        failed=failed,
        about=_about(release, posterior, sampling),
    )


def _entries(name: str, posterior: KnownTotalRows, level: float) -> Uncertain:
    """Single entries of a private matrix, by the exact law of each."""
    undo = posterior.unmixed if name == INPUT_MATRIX else np.asarray
    low, high = posterior.entries(level)
    value, low, high = (
        np.asarray(posterior.cells.dense(undo(part)), dtype=np.float64)
        for part in (posterior.released, low, high)
    )
    return Uncertain(
        quantity=name,
        value=value,
        low=low,
        high=high,
        level=level,
        method=posterior.exact_method,
        includes_sampling=False,
        draws=0,
        about=posterior.about
        if name != INPUT_MATRIX
        else "about the sensitive input, the public mixing undone",
    )


def _about(release: "Release", posterior: RowPosterior, sampling: bool) -> str:
    """What an interval is about; a bound on users' events leaves out more than any interval knows of."""
    if isinstance(posterior, KnownTotalRows):
        return posterior.about
    what = "chain" if release.layout.is_chain else "probabilities"
    most, alike = (release.counting.get(name) for name in ("max_events", "max_per_pair"))
    if most is None:
        return (
            "about the process behind the data"
            if sampling
            else f"about the {what} that the data have, not about the process behind them"
        )
    bound = f"at most {most} of a user" + (f", at most {alike} of these alike" if alike is not None else "")
    process = "" if not sampling else "process behind the "
    return (
        f"about the {process}{what} of the events that were kept ({bound}), which leans towards users with "
        "few events; what the bound left out is not in the interval"
    )


def stationary_error_bars(release: "Release", *, level: float = 0.95) -> Uncertain:
    """The stationary distribution with error bars by the first-order formula: the fast path.

    For the Dirichlet mechanism, where what lies on the floor is not a matter of first order, 200 draws.
    """
    check_level(level, 50)
    posterior = posterior_of(release)
    noise = posterior.noise_variance
    if noise is None or release.row_totals is not None:
        return uncertainty(release, "stationary_distribution", level=level, draws=200)
    chain = chain_from(release, posterior, posterior.released)
    pi = chain.stationary_distribution
    full = stationary_variance(chain, posterior.cells, mean=posterior.mean, spread=noise)
    half = float(special.ndtri(0.5 + level / 2)) * np.sqrt(full)
    return Uncertain(
        quantity="stationary_distribution",
        value=pi,
        low=np.maximum(pi - half, 0.0),
        high=np.minimum(pi + half, 1.0),
        level=level,
        method=f"to first order; {posterior.method}",
        includes_sampling=False,
        draws=0,
        about=_about(release, posterior, sampling=False),
    )


def check_level(level: float, draws: int) -> None:
    """Refuse a level outside (0, 1) and fewer than 50 draws."""
    if not 0 < level < 1:
        raise ParameterError(f"level must be a number with 0 < level < 1, such as 0.95; got {level!r}")
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 50:
        raise ParameterError(f"draws must be a whole number >= 50; got {draws!r}")


def _named(quantity: str | Quantity) -> tuple[str, Quantity]:
    if callable(quantity):
        return getattr(quantity, "__name__", "quantity"), quantity
    if quantity == INPUT_MATRIX:
        return INPUT_MATRIX, QUANTITIES["transition_matrix"]
    if quantity not in QUANTITIES:
        raise ParameterError(
            f"quantity must be one of {', '.join(QUANTITIES)}, {INPUT_MATRIX}, or a function of a chain; "
            f"got {quantity!r}"
        )
    return quantity, QUANTITIES[quantity]


def chain_from(release: "Release", posterior: RowPosterior, probabilities: Array) -> MarkovChain:
    """The chain with these probabilities on the release's cells."""
    if not release.layout.is_chain:
        raise ChainError(
            f"{why_no_chain(release)}. Ask for 'transition_matrix', or give a function of that array"
        )
    cells = posterior.cells
    matrix: Any = cells.dense(probabilities) if cells.is_full else cells.sparse(probabilities)
    return MarkovChain(matrix, release.layout.target)


def _subject(name: str, release: "Release", posterior: RowPosterior, probabilities: Array) -> Any:
    """What a quantity is a function of: the chain, or the matrix where the release is none."""
    if release.layout.is_chain or name in QUANTITIES:
        return chain_from(release, posterior, probabilities)
    return posterior.cells.dense(probabilities)


def evaluate(
    name: str,
    compute: Quantity,
    release: "Release",
    posterior: RowPosterior,
    rows: Array,
    shape: tuple[int, ...],
) -> tuple[list[Array], int]:
    """The quantity of each drawn chain, and how many have none."""
    n = posterior.cells.n_rows
    positive = posterior.cells.is_full and posterior.released.min() > 0
    if name == "stationary_distribution" and positive and n <= _BATCHED_STATES:
        return list(stationary_vectors(rows.reshape(-1, n, n))), 0
    if name == "transition_matrix":
        return [np.asarray(posterior.cells.dense(row), dtype=np.float64) for row in rows], 0
    found, failed = [], 0
    for row in rows:
        try:
            drawn = np.asarray(compute(_subject(name, release, posterior, row)), dtype=np.float64)
        except (ChainError, EngineError):
            failed += 1
            continue
        if drawn.shape != shape:
            raise ParameterError(
                f"{name} gave shape {shape} for the release but {drawn.shape} for a drawn chain"
            )
        found.append(drawn)
    return found, failed


def _reach(
    name: str,
    compute: Quantity,
    release: "Release",
    posterior: RowPosterior,
    level: float,
    sampling: bool,
    entropy: Entropy,
) -> tuple[Array, Array]:
    """How far about the released value the interval reaches at least, and the prior's pull on the value.

    Draws from the posterior are too narrow for quantities that sum over many cells: the released rows lean
    on the learnt prior, and in thin rows it errs the same way in many cells at once. The noise's full
    first-order effect does not lean on it. For single transition probabilities the posterior is right by
    itself, and the Dirichlet mechanism's draws are as wide as can be already.
    """
    noise, residual, none = posterior.noise_variance, posterior.residual, np.array(0.0)
    if noise is None or residual is None or name == "transition_matrix":
        return none, none
    mean = posterior.mean
    spread = noise + mean if sampling else noise
    bias = _bias(name, compute, release, posterior, entropy)
    width = float(special.ndtri(0.5 + level / 2))
    if name == "stationary_distribution":
        chain = chain_from(release, posterior, posterior.released)
        if chain.is_irreducible and len(chain) <= _CLOSED_FORM_STATES:
            return width * np.sqrt(
                stationary_variance(chain, posterior.cells, mean=mean, spread=spread)
            ), -bias

    def chain_of(counts: Array) -> Any:
        sums = np.repeat(np.asarray(posterior.cells.row_sums(counts)), posterior.cells.row_sizes)
        return _subject(name, release, posterior, counts / sums)

    error, pull = noise_reach(
        compute,
        chain_of,
        mean=mean,
        spread=spread,
        residual=residual,
        rng=entropy.generator("directions"),
    )
    return width * error, pull - bias


def _bias(
    name: str, compute: Quantity, release: "Release", posterior: RowPosterior, entropy: Entropy
) -> Array:
    """By how much a release is off on average, where its mechanism cuts at zero; at its largest."""
    if not isinstance(posterior, DirichletRows):
        return np.array(0.0)
    again = posterior.repeated(_REPEATS, entropy.generator("repeated releases"))
    if again is None:
        return np.array(0.0)
    truth, drawn = again
    try:
        found = [compute(_subject(name, release, posterior, rows)) for rows in drawn]
        middle = np.mean([np.asarray(value, dtype=np.float64) for value in found], axis=0)
        at_truth = compute(_subject(name, release, posterior, truth))
        bias = np.asarray(middle - np.asarray(at_truth, dtype=np.float64))
        return np.where(np.isnan(bias), 0.0, bias)
    except (ChainError, EngineError):
        return np.array(0.0)


def stationary_stretch(chain: MarkovChain, posterior: RowPosterior) -> Array:
    """By how much draws of the stationary distribution are too narrow, state by state; see `_reach`."""
    noise = posterior.noise_variance
    if noise is None or not chain.is_irreducible:
        return np.ones(len(chain))
    cells, mean = posterior.cells, posterior.mean
    own = stationary_variance(chain, cells, mean=mean, spread=np.minimum(posterior.variance, noise))
    full = stationary_variance(chain, cells, mean=mean, spread=noise)
    return np.sqrt(np.maximum(full, own) / np.maximum(own, _LEAST_VARIANCE))
