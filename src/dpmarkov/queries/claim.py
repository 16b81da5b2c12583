"""What the papers claim for a release that `privatize_*` made, beside its exact guarantee."""

import numpy as np

from dpmarkov.errors import ParameterError
from dpmarkov.papers import fallin, gohari
from dpmarkov.papers.omega import largest_gamma, outside, vertex
from dpmarkov.papers.results import Assumption, Claim
from dpmarkov.privacy.unit import Entry
from dpmarkov.releases.release import Release

__all__ = ["paper_claim"]


def paper_claim(release: Release, delta: float) -> Claim:
    """The (epsilon, delta) of Gohari et al. or Fallin et al. for a release, with the best gamma for `delta`.

    It is theirs, from their theorems (composed over the rows where every row may differ); the release's own
    guarantee is exact, and smaller. For a lifted release it is the claim for the mixed matrix, whose
    neighbours lie closer together by the factor 1 - mixing.

    Parameters
    ----------
    release
        What `privatize_vector`, `privatize_average` or `privatize_matrix` gave.
    delta
        The delta of each row for which the least epsilon is wanted (16).
    """
    unit = release.guarantee.unit
    public = release.mechanism
    if not isinstance(unit, Entry) or "mixing" not in public:
        raise ParameterError("paper_claim is about releases of privatize_vector, _average and _matrix")
    cells = release.layout.cells
    n_rows = cells.n_rows
    k, eta, eta_bar, mixing = (
        np.broadcast_to(np.asarray(public[name], dtype=float), (n_rows,))
        for name in ("k", "eta", "eta_bar", "mixing")
    )
    claims: dict[tuple[float, ...], Claim] = {}
    order = []
    for row in range(n_rows):
        positions = cells.indices[cells.indptr[row] : cells.indptr[row + 1]]
        sets = unit.among
        inside = positions if sets is None else np.intersect1d(positions, sets[row if len(sets) > 1 else 0])
        if inside.size < 2:
            continue
        b = unit.b * (1 - mixing[row]) / public["averaged"]
        kind = (k[row], eta[row], eta_bar[row], b, inside.size, positions.size - inside.size)
        if kind not in claims:
            claims[kind] = _row_claim(*kind, delta)
        order.append(claims[kind])
    worst = fallin.lemma1(order)
    if unit.rows == "one":
        name = order[0].theorem if n_rows == 1 else "Fallin et al., Theorem 1 (one row differs)"
        return Claim(theorem=name, epsilon=worst.epsilon, delta=worst.delta, assumptions=order[0].assumptions)
    kept = float(np.prod([1 - claim.delta for claim in order]))
    return Claim(
        theorem="Fallin et al., Theorem 1 (all rows differ, composed)",
        epsilon=sum(claim.epsilon for claim in order),
        delta=1 - kept,
        assumptions=order[0].assumptions,
    )


def _row_claim(
    k: float, eta: float, eta_bar: float, b: float, n_inside: float, n_outside: float, delta: float
) -> Claim:
    """Gohari's Theorem 1 for one row; where every entry is watched, one of them plays the part outside W."""
    size = int(n_inside)
    if n_outside > 0:
        watched, border = size, vertex(k, eta, size)
        bar = eta_bar
    else:
        # Every entry is in W: the worst input has all but one at the border, and two entries share at most
        # 1 - (|W| - 2) eta.
        watched, border = size, vertex(k, eta, size - 1)
        bar = max((size - 2) * eta, 0.0)
    gamma = largest_gamma(border, delta, n_watched=watched)
    claim = gohari.theorem1(k=k, eta=eta, eta_bar=bar, b=b, n_watched=watched, gamma=gamma)
    if n_outside > 0:
        return claim
    room = "|W| >= 2 and room for a border"
    kept = tuple(a for a in claim.assumptions if not a.statement.startswith(room))
    return Claim(
        theorem="Gohari et al., Theorem 1 with every entry in W",
        epsilon=claim.epsilon,
        delta=outside(border, gamma, n_watched=watched),
        assumptions=(
            Assumption(f"room for a border: n eta <= 1 (here {size * eta:.4g})", size * eta <= 1),
            *kept,
        ),
    )
