"""Speed and accuracy of the chain's analysis, beside quantecon, numpy and (apart) pydtmc.

Run ``python -m benchmarks.chains``. pydtmc needs numpy < 2: give the python of an environment that has it
as ``--pydtmc PYTHON`` to run the same chains there.
"""

import argparse
import json
import subprocess
import time

import numpy as np
from scipy import sparse

from dpmarkov.chain import MarkovChain

RNG = np.random.default_rng(20)


def timed(work, repeat=3):
    """The least time of a few runs, and the result."""
    best, result = np.inf, None
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def dense_chain(n):
    return RNG.dirichlet(np.full(n, 0.3), size=n) * 0.999 + 0.001 / n


def slow_chain(n, coupling=1e-6):
    """Two halves that hardly meet: a mixing time of some millions."""
    half = n // 2
    p = np.zeros((n, n))
    p[:half, :half] = dense_chain(half)
    p[half:, half:] = dense_chain(n - half)
    p *= 1 - coupling
    p[:half, half:] = coupling / (n - half)
    p[half:, :half] = coupling / half
    return p


def sparse_chain(n, links):
    rows = np.concatenate([np.arange(n), np.repeat(np.arange(n), links - 1)])
    columns = np.concatenate([(np.arange(n) + 1) % n, RNG.integers(0, n, n * (links - 1))])
    a = sparse.csr_array((RNG.random(rows.size) + 0.01, (rows, columns)), shape=(n, n))
    return sparse.csr_array(sparse.diags_array(1 / a.sum(axis=1)) @ a)


def full_analysis(p):
    """Every quantity of `MarkovChain`, and how long each took."""
    chain = MarkovChain(p)
    steps = {
        "classes": lambda: chain.classes,
        "stationary": lambda: chain.stationary_distribution,
        "mixing time": chain.mixing_time,
        "curve": chain.mixing_curve,
        "spectrum": lambda: chain.spectral_gap,
        "tau_1, tau_inf": lambda: (chain.tau_1, chain.tau_inf),
        "first passage": lambda: chain.mean_first_passage,
        "Kemeny": lambda: chain.kemeny_constant,
        "entropy rate": chain.entropy_rate,
        "reversible": chain.is_reversible,
        "100 steps ahead": lambda: chain.distribution_after(100, 0),
        "10,000 walks of 20": lambda: chain.simulate(20, users=10_000, seed=1),
    }
    times = {name: timed(work, 1)[0] for name, work in steps.items()}
    return times, chain


def by_eig(p):
    """The stationary distribution as the eigenvector that numpy finds."""
    values, vectors = np.linalg.eig(p.T)
    x = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    return x / x.sum()


def by_solve(p):
    """The stationary distribution by a linear solve."""
    a = (np.eye(p.shape[0]) - p).T
    a[-1] = 1.0
    return np.linalg.solve(a, np.eye(p.shape[0])[-1])


def show_dense():
    for name, p in (
        ("263 states", dense_chain(263)),
        ("2,000 states", dense_chain(2000)),
        ("263 states, slow", slow_chain(263)),
    ):
        times, chain = full_analysis(p)
        print(f"\nFull analysis, {name}: {sum(times.values()):.2f} s  (mixing time {chain.mixing_time():,})")
        print("   " + ", ".join(f"{k} {v:.3f}" for k, v in times.items()))


def show_stationary():
    from quantecon.markov.gth_solve import gth_solve

    print("\nStationary distribution, seconds")
    print(f"{'states':>8} {'dpmarkov':>10} {'quantecon':>10} {'numpy eig':>10} {'linear solve':>12}")
    for n in (67, 263, 1000, 2000):
        p = dense_chain(n)
        gth_solve(p)
        row = [
            timed(lambda f=f, p=p: f(p))[0]
            for f in (lambda q: MarkovChain(q).stationary_distribution, gth_solve)
        ]
        row += [timed(lambda f=f, p=p: f(p), 1)[0] for f in (by_eig, by_solve)]
        print(f"{n:>8} {row[0]:>10.4f} {row[1]:>10.4f} {row[2]:>10.4f} {row[3]:>12.4f}")
    print("\nError of the mass of one block, two blocks of 20 joined by 1e-13 and 3e-13 (truth 3/4)")
    n = 20
    p = np.zeros((2 * n, 2 * n))
    p[:n, :n], p[n:, n:] = (1 - 1e-13) * dense_chain(n), (1 - 3e-13) * dense_chain(n)
    p[:n, n:], p[n:, :n] = 1e-13 / n, 3e-13 / n
    for name, solve in (
        ("dpmarkov", lambda q: MarkovChain(q).stationary_distribution),
        ("quantecon", gth_solve),
        ("numpy eig", by_eig),
        ("linear solve", by_solve),
    ):
        print(f"  {name:<14} {abs(solve(p)[:n].sum() - 0.75):.1e}")


def show_sparse():
    p = sparse_chain(100_000, 10)
    made, chain = timed(lambda: MarkovChain(p), 1)
    found, pi = timed(lambda: MarkovChain(p).stationary_distribution, 3)
    residual = np.abs(p.T @ pi - pi).max() / pi.max()
    print(f"\nSparse, 100,000 states, {p.nnz:,} transitions: stationary {found:.2f} s with classes")
    print(f"   (making the chain {made:.2f} s, relative residual {residual:.0e}, {len(chain.classes)} class)")
    n = 100_000
    up, down = np.full(n - 1, 0.3), np.full(n - 1, 0.3)
    stay = 1 - np.append(up, 0) - np.append(0, down)
    line = sparse.csr_array(sparse.diags_array([down, stay, up], offsets=[-1, 0, 1]))
    found, pi = timed(lambda: MarkovChain(line).stationary_distribution, 1)
    print(f"Sparse line of 100,000 states (gap 1e-10): {found:.2f} s, error {np.abs(pi * n - 1).max():.0e}")


PYDTMC = """
import json, sys, time
import numpy as np, pydtmc
data = json.load(sys.stdin)
out = {}
for name, rows in data.items():
    p = np.array(rows)
    start = time.perf_counter()
    chain = pydtmc.MarkovChain(p)
    pi = chain.pi
    seen = {"seconds": 0.0, "pi": [float(x) for x in pi[0]] if pi else None}
    try:
        seen["mixing_time"] = chain.mixing_time()
    except Exception as error:
        seen["mixing_time"] = repr(error)
    seen["gap"] = float(chain.spectral_gap)
    seen["passage"] = np.array(chain.mean_first_passage_times_to()).tolist()
    seen["seconds"] = time.perf_counter() - start
    out[name] = seen
print(json.dumps(out))
"""


def show_pydtmc(python):
    cases = {
        "sticky": np.array([[0.999, 0.001], [0.001, 0.999]]),
        "random 67": dense_chain(67),
        "slow 40": slow_chain(40),
    }
    given = json.dumps({name: p.tolist() for name, p in cases.items()})
    answer = subprocess.run([python, "-c", PYDTMC], input=given, capture_output=True, text=True, check=True)
    print("\npydtmc beside dpmarkov: mixing time, seconds; largest relative differences")
    for name, theirs in json.loads(answer.stdout).items():
        start = time.perf_counter()
        chain = MarkovChain(cases[name])
        mixed, passage, gap = chain.mixing_time(), chain.mean_first_passage, chain.spectral_gap
        spent = time.perf_counter() - start
        pi = np.abs(np.array(theirs["pi"]) / chain.stationary_distribution - 1).max()
        off = ~np.eye(len(chain), dtype=bool)
        times = np.abs(np.array(theirs["passage"])[off] / passage[off] - 1).max()
        seen = f"mixing {theirs['mixing_time']}, gap {theirs['gap']:.6g}, {theirs['seconds']:.3f} s"
        print(f"  {name:<10} pydtmc: {seen}")
        print(f"  {'':<10} ours: mixing {mixed}, gap {gap:.6g}, {spent:.3f} s")
        print(f"  {'':<10} relative differences: pi {pi:.0e}, first passage {times:.0e}")


def show_uncertainty():
    from benchmarks.coverage import releases_of

    release = next(iter(releases_of(RNG.poisson(3000 * dense_chain(67)), "laplace", 2.0, 1)))
    from dpmarkov.utility.uncertainty import stationary_error_bars

    spent, _ = timed(lambda: release.uncertainty("stationary_distribution", draws=1000), 2)
    fast, _ = timed(lambda: stationary_error_bars(release), 2)
    print(
        f"\nUncertainty of the stationary distribution, 67 states: 1,000 draws {spent:.2f} s, "
        f"fast path {fast:.2f} s"
    )
    p = dense_chain(67)
    each, _ = timed(lambda: [by_eig(p) for _ in range(100)], 1)
    print(f"   1,000 eigenvectors by numpy eig alone: {10 * each:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pydtmc", metavar="PYTHON")
    options = parser.parse_args()
    show_dense()
    show_stationary()
    show_sparse()
    show_uncertainty()
    if options.pydtmc:
        show_pydtmc(options.pydtmc)


if __name__ == "__main__":
    main()
