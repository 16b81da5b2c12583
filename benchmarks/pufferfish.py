"""Pufferfish: speed, the paper's Figure 2, and nights of sleep.

    python -m benchmarks.pufferfish speed     ratios in one run
    python -m benchmarks.pufferfish figure    Figure 2 of the paper, to benchmarks/out/figure2.html
    python -m benchmarks.pufferfish sleep     Sleep-EDF, with classes from other subjects

The paper (Wang, Song and Chaudhuri) prints the figure without a table of its parameters: k = 5, pi_gen = .05,
g_gen = .1 and 100 runs are its own, the values that vary are chosen here. All runs are seeded simulations.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

from dpmarkov.pufferfish import (
    ChainClass,
    FiniteChains,
    GapChains,
    Model,
    StateSequence,
    basic,
    closed_form,
    estimate_theta,
    fast,
    influence_of,
    plan_noise,
    read_sequences,
    release_chain,
    release_histogram,
)
from dpmarkov.states import StateSpace

OUT = Path(__file__).parent / "out"
SLEEP = Path(__file__).resolve().parents[1] / ".." / "shared" / "data" / "sleep-edf" / "epochs.parquet"
EPSILONS = np.logspace(-1, 1, 9)


def timed(call: Callable[[], object], repeat: int = 3) -> float:
    """The best time of a few calls, in seconds."""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def speed() -> None:
    """Times of the four ways, and of exact influence."""
    theta = GapChains(states=StateSpace(range(5)), least_probability=0.05, eigengap=0.1, reversible=True)
    influence = influence_of(theta)
    endless = closed_form(influence, 1.0)
    if endless is None:
        raise SystemExit("no quilt works; choose other parameters")
    print("pi = .05, g = .1, epsilon = 1: time in ms (all give the same score where T is long enough)")
    print(f"{'T':>14} {'closed form':>12} {'Fast':>10} {'Basic':>12}  scores")
    for length in (100, 1000, 10_000, 10**6, 10**9):
        closed = timed(lambda: closed_form(influence, 1.0))
        quick = timed(lambda n=length: fast(influence, n, 1.0))
        scores = [float(endless.score(1.0)), float(fast(influence, length, 1.0).score(1.0))]
        slow = ""
        if length <= 10_000:
            found = basic(influence, length, 1.0)
            scores.append(float(found.score(1.0)))
            slow = f"{1e3 * timed(lambda n=length: basic(influence, n, 1.0), 1):12.1f}"
        shown = " ".join(f"{score:.6f}" for score in scores)
        print(f"{length:14,} {1e3 * closed:12.3f} {1e3 * quick:10.3f} {slow:>12}  {shown}")
    planned = timed(lambda: plan_noise(theta, 10**9, epsilon=1.0))
    print(f"plan_noise for T = 10^9: {1e3 * planned:.3f} ms")

    rng = np.random.default_rng(1)
    for stay in (0.9, 0.99):
        p = stay * np.eye(50) + (1 - stay) * rng.dirichlet(np.ones(50), 50)
        finite = FiniteChains(states=StateSpace(range(50)), models=(Model(p),))
        noise = plan_noise(finite, 10**9, epsilon=1.0)
        taken = timed(lambda c=finite: plan_noise(c, 10**9, epsilon=1.0), 2)
        print(
            f"exact influence, 50 states, T = 10^9: {taken:.3f} s for quilts of {noise.quilt.before} and "
            f"{noise.quilt.after} steps"
        )


def reversible_chain(rng: np.random.Generator, k: int, pi_gen: float, g_gen: float) -> Model:
    """A reversible chain with least stationary probability pi_gen and eigengap g_gen, from a random start.

    Random symmetric flows, scaled to the stationary distribution; then mixed with standing still, which
    keeps it reversible and brings the eigengap down to g_gen.
    """
    while True:
        pi = pi_gen + (1 - k * pi_gen) * rng.dirichlet(np.ones(k))
        pi = pi - pi.min() + pi_gen
        pi[np.argmax(pi)] += 1 - pi.sum()
        flow = rng.random((k, k))
        flow = flow + flow.T
        for _ in range(500):
            flow *= np.sqrt(np.outer(pi / flow.sum(axis=1), pi / flow.sum(axis=1)))
        q = flow / flow.sum(axis=1, keepdims=True)
        second = np.sort(np.real(np.linalg.eigvals(q)))[-2]
        share = g_gen / (1 - second)
        if share > 1:
            continue
        p = share * q + (1 - share) * np.eye(k)
        gap = 1 - np.sort(np.abs(np.linalg.eigvals(p)))[-2]
        if abs(gap - g_gen) < 1e-9 and abs(Model(p).start.min() - pi_gen) < 1e-9:
            return Model(p, rng.dirichlet(np.ones(k)))


def simulated(model: Model, length: int, rng: np.random.Generator, states: StateSpace) -> StateSequence:
    """A sequence of the chain."""
    cumulative = np.cumsum(model.matrix, axis=1)
    cumulative[:, -1] = 1.0
    x = np.empty(length, dtype=np.int64)
    x[0] = rng.choice(model.n_states, p=model.start)
    for t, u in enumerate(rng.random(length - 1), start=1):
        x[t] = np.searchsorted(cumulative[x[t - 1]], u, side="right")
    return StateSequence(states, x)


def error_of(data: list[StateSequence], theta: ChainClass, epsilon: float) -> tuple[float, float]:
    """The mean L1 error of the histogram of frequencies: of the noisy counts, and of the release."""
    raw, processed = [], []
    for seed, person in enumerate(data):
        exact = person.histogram()
        made = release_histogram(person, theta=theta, epsilon=epsilon, seed=seed)
        if made.noisy_counts is None:
            raise SystemExit("a histogram holds its noisy counts")
        raw.append(np.abs(made.noisy_counts - exact).sum() / exact.sum())
        processed.append(np.abs(made.probabilities - exact / exact.sum()).sum())
    return float(np.mean(raw)), float(np.mean(processed))


def figure(runs: int) -> None:
    """Figure 2: three panels, with entry and group privacy drawn in (their error is that of their scale)."""
    from plotly.subplots import make_subplots

    k, states = 5, StateSpace(range(5))
    rng = np.random.default_rng(2015)
    model = reversible_chain(rng, k, 0.05, 0.1)
    longest = 20_000
    data = [simulated(model, longest, rng, states) for _ in range(runs)]

    def cut(length: int) -> list[StateSequence]:
        return [StateSequence(states, person.positions[:length]) for person in data]

    panels = [
        ("(a) varying pi_est", [(pi, 0.1, 5000) for pi in (0.05, 0.02, 0.005)], "pi_est = {0:g}"),
        ("(b) varying g_est", [(0.05, g, 5000) for g in (0.1, 0.05, 0.02)], "g_est = {1:g}"),
        ("(c) varying T", [(0.05, 0.1, n) for n in (1000, 5000, 20_000)], "T = {2:,}"),
    ]
    chart = make_subplots(cols=3, subplot_titles=[panel[0] for panel in panels])
    for column, (title, cases, name) in enumerate(panels, start=1):
        print(f"\n{title}: mean L1 error of the noisy frequencies, {runs} runs")
        print(f"{'':>16}" + "".join(f"{e:9.2g}" for e in EPSILONS) + "   (epsilon)")
        for pi, g, length in cases:
            theta = GapChains(states=states, least_probability=pi, eigengap=g, reversible=True)
            errors = [error_of(cut(length), theta, float(e))[0] for e in EPSILONS]
            label = name.format(pi, g, length)
            print(f"{label:>16}" + "".join(f"{error:9.3g}" for error in errors))
            chart.add_scatter(x=np.log(EPSILONS), y=errors, name=label, row=1, col=column)
        length = cases[0][2] if column < 3 else 5000
        for label, points in (("entry privacy", 1), ("group privacy", length)):
            errors = [k * 2 * points / float(e) / length for e in EPSILONS]
            print(f"{label:>16}" + "".join(f"{error:9.3g}" for error in errors))
            style = {"dash": "dot", "color": "gray"}
            chart.add_scatter(x=np.log(EPSILONS), y=errors, name=label, line=style, row=1, col=column)
        chart.update_xaxes(title="log(epsilon)", row=1, col=column)
        chart.update_yaxes(type="log", title="L1 error", row=1, col=column)
    OUT.mkdir(exist_ok=True)
    chart.write_html(OUT / "figure2.html")
    print(f"\nDrawn to {OUT.name}/figure2.html")


def subjects() -> list[StateSequence]:
    """One sequence for each subject: a second night comes a day (2,880 epochs) after the first."""
    frame = duckdb.sql(
        "SELECT left(night, 5) AS who, stage, epoch + 2880 * "
        "(dense_rank() OVER (PARTITION BY left(night, 5) ORDER BY night) - 1) AS t "
        f"FROM '{SLEEP}'"
    ).to_arrow_table()
    return list(
        read_sequences(frame, time="t", state="stage", user="who", states=StateSpace(range(5)), gaps="split")
    )


def first_night(person: StateSequence) -> StateSequence:
    """The part before the first long gap."""
    seen = np.flatnonzero(person.positions[:2880] >= 0)
    return StateSequence(person.states, person.positions[: seen[-1] + 1])


def sleep() -> None:
    """One night, two nights of one subject as one chain, and all subjects together."""
    if not SLEEP.exists():
        raise SystemExit("the shared folder with real data is absent")
    people = subjects()
    tested, cohort = people[:20], people[20:]
    states = cohort[0].states
    finite = estimate_theta(cohort, margin=0.0, cohort_is_public=True)
    still = FiniteChains(states=states, models=tuple(Model(model.matrix) for model in finite.models))
    pooled = FiniteChains(states=states, models=finite.models[:1])
    matrix = pooled.models[0].matrix

    def same_gap(models: tuple[Model, ...]) -> GapChains:
        pis = [Model(model.matrix).start for model in models]
        gaps = []
        for model, pi in zip(models, pis, strict=True):
            even = np.sqrt(pi)[:, None] * model.matrix / np.sqrt(pi)[None, :]
            gaps.append(1 - np.linalg.svd(even, compute_uv=False)[1] ** 2)
        least = float(min(pi.min() for pi in pis))
        return GapChains(states=states, least_probability=least, eigengap=min(gaps), reversible=False)

    print(f"Theta from {len(cohort)} other subjects, tested on {len(tested)}; scale of the noise on a")
    print("histogram's counts at epsilon = 1 for a long sequence:")
    classes: dict[str, ChainClass] = {
        "every subject's chain, exact": finite,
        "the same, (pi, g)": same_gap(finite.models),
        "pooled chain, exact": pooled,
        "the same, (pi, g) ": same_gap(pooled.models),
    }
    scales = {name: plan_noise(theta, 10**6, epsilon=1.0).scale for name, theta in classes.items()}
    for name, theta in classes.items():
        print(f"  {name:30} {scales[name]:9.1f}   {theta.in_words}")
    names = list(classes)
    print(f"  factor: every subject {scales[names[1]] / scales[names[0]]:.1f}, ", end="")
    print(f"pooled {scales[names[3]] / scales[names[2]]:.1f}")
    print(f"  (every subject in its long-run state: {plan_noise(still, 10**6, epsilon=1.0).scale:.1f})")

    nights = [first_night(person) for person in tested]
    for title, data in (
        ("one night", nights),
        ("two nights of one subject, one chain", tested),
        (f"all {len(tested)} subjects in one histogram", [tested]),
    ):
        print(f"\n{title}: mean L1 error of the histogram (noisy counts / released)")
        print(f"{'':>32}" + "".join(f"{f'epsilon = {e:g}':>20}" for e in (0.5, 1, 2, 5)))
        for name in names:
            cells = []
            for epsilon in (0.5, 1.0, 2.0, 5.0):
                raw, processed = many_errors(data, classes[name], epsilon)
                cells.append(f"{f'{raw:.3f} / {processed:.3f}':>20}")
            print(f"{name:>32}" + "".join(cells))
        sizes = [persons_of(entry) for entry in data]
        for label, group in (("entry privacy", False), ("group privacy", True)):
            cells = []
            for epsilon in (0.5, 1.0, 2.0, 5.0):
                points = [max(map(len, persons)) if group else 1 for persons in sizes]
                seen = [sum(p.n_observed for p in persons) for persons in sizes]
                error = np.mean([10 * n / epsilon / s for n, s in zip(points, seen, strict=True)])
                cells.append(f"{error:>20.3f}")
            print(f"{label:>32}" + "".join(cells))

    slow = GapChains(states=states, least_probability=0.01, eigengap=1e-9, reversible=True)
    for title, groups in (("one night", [[night] for night in nights]), ("all subjects", [tested])):
        print(f"\nprivate chain, {title}: mean total variation of its rows, weighted by visits")
        for name, theta in [*classes.items(), ("group privacy", slow)]:
            cells = []
            for epsilon in (0.5, 1.0, 2.0, 5.0):
                found = [chain_error(persons, theta, epsilon, n) for n, persons in enumerate(groups)]
                cells.append(f"{np.mean(found):>20.3f}")
            print(f"{name:>32}" + "".join(cells))
        guess = np.mean([distance(persons, matrix) for persons in groups])
        print(f"{'(the cohort itself as a guess)':>32}{guess:>20.3f}")


def distance(persons: list[StateSequence], matrix: np.ndarray) -> float:
    """The mean total variation of the rows from the people's own, weighted by visits."""
    truth = np.sum([person.transitions().matrix() for person in persons], axis=0)
    visits = truth.sum(axis=1)
    rows = truth / np.maximum(visits, 1)[:, None]
    return float(visits / visits.sum() @ np.abs(matrix - rows).sum(axis=1) / 2)


def chain_error(persons: list[StateSequence], theta: ChainClass, epsilon: float, n: int) -> float:
    """The same for a released chain, over a few seeds."""
    seeds = range(100 * n, 100 * n + (20 if n == 0 else 2))
    runs = [release_chain(persons, theta=theta, epsilon=epsilon, seed=seed) for seed in seeds]
    return float(np.mean([distance(persons, made.transition_matrix) for made in runs]))


def persons_of(entry: StateSequence | list[StateSequence]) -> list[StateSequence]:
    """One person or several, as a list."""
    return [entry] if isinstance(entry, StateSequence) else entry


def many_errors(
    data: list[StateSequence] | list[list[StateSequence]], theta: ChainClass, epsilon: float
) -> tuple[float, float]:
    """As `error_of`, for single people or groups of them."""
    raw, processed = [], []
    for n, entry in enumerate(data):
        exact = np.sum([person.histogram() for person in persons_of(entry)], axis=0)
        for run in range(2 if len(data) > 1 else 20):
            made = release_histogram(entry, theta=theta, epsilon=epsilon, seed=100 * n + run)
            noisy = exact if made.noisy_counts is None else made.noisy_counts
            raw.append(np.abs(noisy - exact).sum() / exact.sum())
            processed.append(np.abs(made.probabilities - exact / exact.sum()).sum())
    return float(np.mean(raw)), float(np.mean(processed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["speed", "figure", "sleep"])
    parser.add_argument("--runs", type=int, default=100)
    arguments = parser.parse_args()
    if arguments.what == "speed":
        speed()
    elif arguments.what == "figure":
        figure(arguments.runs)
    else:
        sleep()


if __name__ == "__main__":
    main()
