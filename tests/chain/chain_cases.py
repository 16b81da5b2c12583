"""Chains with a reputation, and the truth about them to hundreds of digits."""

import mpmath as mp
import numpy as np

mp.mp.dps = 250  # couplings of 1e-100 must survive a matrix inversion


def random_chain(n, seed, concentration=0.3):
    return np.random.default_rng(seed).dirichlet(np.full(n, concentration), size=n) * (1 - 1e-3) + 1e-3 / n


def nearly_decomposable(block, n_blocks, coupling, seed=0):
    """Random blocks joined by entries of the size of `coupling`; unequal ways in and out."""
    rng = np.random.default_rng(seed)
    n = block * n_blocks
    p = coupling * rng.random((n, n)) / n
    for b in range(n_blocks):
        at = slice(b * block, (b + 1) * block)
        p[at, at] = rng.dirichlet(np.ones(block), size=block) + 1e-3
    np.fill_diagonal(p, 0.0)
    p /= 1.5 * p.sum(axis=1).max()
    np.fill_diagonal(p, 1.0 - p.sum(axis=1))
    return p


def one_slow_block(factor=1e-6):
    """Two brisk blocks of 3; inside the second everything happens a million times more slowly."""
    p = np.zeros((6, 6))
    p[:3, :3] = [[0, 0.5, 0.2], [0.3, 0, 0.4], [0.6, 0.1, 0]]
    p[3:, 3:] = np.array([[0, 0.4, 0.3], [0.2, 0, 0.5], [0.3, 0.3, 0]]) * factor
    p[2, 3] = 0.05
    p[5, 0] = 0.02 * factor
    np.fill_diagonal(p, 1.0 - p.sum(axis=1))
    return p


PATHOLOGICAL = {
    "coupling 1e-12": nearly_decomposable(4, 3, 1e-12),
    "coupling 1e-15": nearly_decomposable(3, 4, 1e-15, seed=1),
    "coupling 1e-100": nearly_decomposable(3, 2, 1e-100, seed=2),
    "one slow block": one_slow_block(),
    "past the block size": nearly_decomposable(10, 6, 1e-12, seed=3),
    "two states, 1e-9": np.array([[1 - 1e-9, 1e-9], [3e-9, 1 - 3e-9]]),
}


def exact(p):
    """The chain in mpmath: off-diagonal entries as given, the diagonal as what they leave over."""
    n = p.shape[0]
    m = mp.matrix(p.tolist())
    for i in range(n):
        m[i, i] = 1 - mp.fsum(m[i, j] for j in range(n) if j != i)
    return m


def exact_stationary(p):
    n = p.shape[0]
    a = (mp.eye(n) - exact(p)).T
    for j in range(n):
        a[n - 1, j] = 1
    b = mp.zeros(n, 1)
    b[n - 1] = 1
    return list(mp.lu_solve(a, b))


def exact_hitting_times(p, target):
    n = p.shape[0]
    keep = [i for i in range(n) if i != target]
    m = mp.eye(n) - exact(p)
    a = mp.matrix([[m[i, j] for j in keep] for i in keep])
    times = list(mp.lu_solve(a, mp.ones(n - 1, 1)))
    times.insert(target, mp.mpf(0))
    return times


def exact_distance(p, t):
    pi = exact_stationary(p)
    power = exact(p) ** t
    n = p.shape[0]
    return max(mp.fsum(abs(power[i, j] - pi[j]) for j in range(n)) / 2 for i in range(n))


def worst_relative(found, truth):
    return max(
        float(abs((mp.mpf(float(a)) - b) / b)) if b else abs(float(a))
        for a, b in zip(found, truth, strict=True)
    )
