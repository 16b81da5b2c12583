"""Release a vector, an average of vectors or a matrix that is itself the sensitive data."""

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from dpmarkov.counts import TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.errors import InputError, ParameterError
from dpmarkov.layout import Layout
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.unit import Entry
from dpmarkov.queries.calibration import SUM_SLACK, Request, chosen
from dpmarkov.queries.mechanism import EntryDirichlet, Way
from dpmarkov.releases.make import guarantee_for
from dpmarkov.releases.release import Release
from dpmarkov.states import StateSpace

__all__ = ["privatize_average", "privatize_matrix", "privatize_vector"]

Flat = npt.NDArray[np.float64]


def privatize_vector(
    p: npt.ArrayLike,
    *,
    unit: Entry,
    budget: Budget,
    layout: Layout | None = None,
    way: Way = "lifted",
    eta: float | None = None,
    eta_bar: float | None = None,
    k: float | None = None,
    seed: int | None = None,
) -> Release:
    """Release one sensitive probability vector (Gohari et al., the identity query).

    Parameters
    ----------
    p
        Probabilities that sum to one.
    unit
        `Entry(b=...)`, with the index set W as `among` where not every entry may differ.
    budget
        The (epsilon, delta) that may be spent; delta > 0.
    layout
        Names of the entries and known zeros; by default the positions 0, 1, ...
    way
        `"lifted"`: the vector is mixed with a public one, so that any input is protected; the release leans
        towards that public vector by the share `mixing`. `"assumed"`: the papers' way, for inputs that are
        known to lie in the bordered simplex already; the guarantee carries that assumption. An input outside
        is refused, and the refusal itself tells that it lay outside.
    eta, eta_bar
        The border: the least share of a watched entry, and of all others together. By default, in the way
        `lifted`, the mixing with the least predicted error.
    k
        The concentration; by default the largest within the budget. The guarantee then is the exact epsilon
        at the budget's delta.
    seed
        For simulations only: the release is stamped *not private*.

    Returns
    -------
    Release
        One private row, with its guarantee.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy for `unit`, exact by Theorem A of `docs/mathematics.md` and
    certified in ball arithmetic at the parameters that were used.
    """
    array = np.asarray(p, dtype=float)
    if array.ndim != 1:
        raise InputError(f"a vector has one dimension; got shape {array.shape}. Use privatize_matrix")
    if layout is None:
        layout = Layout(target=StateSpace.range(0, array.size))
    request = Request(
        layout=layout,
        unit=unit,
        budget=budget,
        way=way,
        eta=eta,
        eta_bar=eta_bar,
        k=k,
        n_averaged=1,
    )
    return _privatize([array[None, :]], request, seed)


def privatize_average(
    vectors: npt.ArrayLike,
    *,
    unit: Entry,
    budget: Budget,
    layout: Layout | None = None,
    way: Way = "lifted",
    eta: float | None = None,
    eta_bar: float | None = None,
    k: float | None = None,
    seed: int | None = None,
) -> Release:
    """Release the average of N sensitive probability vectors (Gohari et al., the average query).

    One of the vectors may differ, in two entries, by b in L1 norm; the average then moves by b/(2N) in each
    of them. N is public.

    Parameters
    ----------
    vectors
        One vector a row.
    unit, budget, layout, way, eta, eta_bar, k, seed
        As in `privatize_vector`; `layout` describes the average. With `way="assumed"` every vector has to lie
        in the bordered simplex.
    """
    array = np.asarray(vectors, dtype=float)
    if array.ndim != 2 or array.shape[0] == 0:
        raise InputError(f"give the vectors, at least one, as rows of a matrix; got shape {array.shape}")
    if isinstance(unit, Entry) and unit.rows == "all":
        raise ParameterError("an average protects one of its vectors: rows must be 'one', the default")
    if layout is None:
        layout = Layout(target=StateSpace.range(0, array.shape[1]))
    request = Request(
        layout=layout,
        unit=unit,
        budget=budget,
        way=way,
        eta=eta,
        eta_bar=eta_bar,
        k=k,
        n_averaged=array.shape[0],
    )
    return _privatize([row[None, :] for row in array], request, seed)


def privatize_matrix(
    matrix: "npt.ArrayLike | sparse.sparray",
    *,
    unit: Entry,
    budget: Budget,
    layout: Layout | None = None,
    way: Way = "lifted",
    eta: float | None = None,
    eta_bar: float | None = None,
    k: float | None = None,
    seed: int | None = None,
) -> Release:
    """Release a sensitive stochastic matrix (Fallin et al., the Matrix Dirichlet Mechanism).

    A square matrix is a Markov chain; a rectangular one may be a policy, states by actions.

    Parameters
    ----------
    matrix
        Rows that sum to one: an array, or a scipy sparse matrix.
    unit
        `Entry(b=...)`: one row differs; with `rows="all"` every row may differ (Fallin's Definition 4), and
        what the rows give away is composed.
    budget, layout, way, eta, eta_bar, k, seed
        As in `privatize_vector`. Known zeros are the cells outside the layout's support; they stay zero.
    """
    given = sparse.csr_array(matrix) if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)
    if given.ndim != 2:
        raise InputError(f"a matrix has two dimensions; got shape {given.shape}. Use privatize_vector")
    if layout is None:
        n_rows, n_columns = given.shape
        target = StateSpace.range(0, n_columns)
        source = target if n_rows == n_columns else StateSpace.range(0, n_rows)
        layout = Layout(target=target, source=source)
    request = Request(
        layout=layout,
        unit=unit,
        budget=budget,
        way=way,
        eta=eta,
        eta_bar=eta_bar,
        k=k,
        n_averaged=1,
    )
    return _privatize([given], request, seed)


def _privatize(matrices: Sequence[Any], request: Request, seed: int | None) -> Release:
    layout, unit, budget = request.layout, request.unit, request.budget
    shares = [_on_support(matrix, layout) for matrix in matrices]
    mechanism = chosen(request)
    multiples = [_multiples(values, layout, mechanism) for values in shares]
    total = sum(multiples[1:], start=multiples[0])
    counts = TransitionCounts(layout, total // request.n_averaged)
    delivered = budget
    if request.k is not None:
        profile = mechanism.profile(unit, layout)
        least = profile.certified_epsilon(budget.delta)
        delivered = Budget(epsilon=min(budget.epsilon, max(least, 1e-12)), delta=budget.delta)
    entropy = Entropy.choose(seed)
    guarantee = guarantee_for(mechanism, unit=unit, budget=delivered, layout=layout, seed=seed)
    return Release(
        layout=layout,
        probabilities=mechanism.draw(counts, entropy).probabilities,
        guarantee=guarantee,
        mechanism=mechanism.to_dict(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("dpmarkov"),
        seed=seed,
    )


def _on_support(matrix: Any, layout: Layout) -> Flat:
    """The matrix's values on the layout's cells, refused unless its rows are probability vectors there."""
    cells = layout.cells
    if tuple(matrix.shape) != (cells.n_rows, cells.n_columns):
        raise InputError(
            f"the matrix must be {cells.n_rows} x {cells.n_columns} for this layout; got shape {matrix.shape}"
        )
    if sparse.issparse(matrix):
        coo = sparse.coo_array(matrix)
        coo.sum_duplicates()
        at = cells.locate(coo.row.astype(np.int64), coo.col.astype(np.int64))
        values = np.zeros(cells.n_cells)
        values[at[at >= 0]] = coo.data[at >= 0]
    else:
        values = np.asarray(matrix[cells.row_of_cell, cells.indices], dtype=float)
    if not (np.all(np.isfinite(values)) and np.all(values >= 0)):
        raise InputError("probabilities must be finite numbers >= 0")
    if np.any(np.abs(cells.row_sums(values).astype(float) - 1) > SUM_SLACK):
        raise InputError(
            "every row must sum to one over its declared support, to 1e-9: normalise it, or declare the "
            "support that it has"
        )
    return values


def _multiples(values: Flat, layout: Layout, mechanism: EntryDirichlet) -> npt.NDArray[np.int64]:
    """The values as whole multiples of 2^-bits, rounded down; outside the assumed border they are refused."""
    cells = layout.cells
    if mechanism.way == "assumed":
        inside = np.where(mechanism.watched, values, 0.0)
        low = values < np.repeat(mechanism.eta, cells.row_sizes)
        full = cells.row_sums(inside).astype(float) > 1 - mechanism.eta_bar + SUM_SLACK
        if np.any(low & mechanism.watched) or np.any(full):
            raise InputError(
                "the input does not lie in the bordered simplex that the way 'assumed' (--assumed) assumes, "
                "so it has no guarantee and nothing was released. Whoever learns of this refusal learns "
                "that. The way 'lifted', the default, takes any input"
            )
    return np.floor(np.ldexp(values, mechanism.bits)).astype(np.int64)
