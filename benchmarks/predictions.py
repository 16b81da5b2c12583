"""How close `plan` comes: predicted errors over measured ones, `python -m benchmarks.predictions`.

The prediction knows the number of states and events alone, or an earlier release at epsilon = 1; the
measurement runs the same mechanism on the real counts.
"""

import numpy as np

import dpmarkov as dpm
from benchmarks.accuracy.datasets import DATASETS, load
from dpmarkov.planning import Reference, choose, predicted_errors, reference, reference_like

EPSILONS = (0.1, 0.5, 1.0, 3.73)
MECHANISMS = ("laplace", "gaussian", "dirichlet")
UNITS = (dpm.Destination(), dpm.Event(), dpm.Event(relation="replace"))
LARGE = 20_000


def span(ratios: list[float]) -> str:
    """The least and the largest of some ratios."""
    return f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else ""


def compare(name: str) -> None:
    """Two lines for one data set: noise on the counts, and Dirichlet draws."""
    data = load(name, 1.0)
    counts = dpm.TransitionCounts(data.layout, data.matrix.ravel())
    events = float(counts.values.sum())
    draws = 2 if data.matrix.size > LARGE else 8
    real = Reference(counts=counts, shrink=1.0, words="the data themselves: for this comparison alone")
    budget = dpm.Budget(epsilon=1, delta=1e-6)
    earlier = dpm.release(counts, unit=dpm.Event(), budget=budget, seed=1)
    stand_ins = {"shape": reference(data.layout, events), "release": reference_like(earlier)}
    for mechanisms in (MECHANISMS[:2], MECHANISMS[2:]):
        rows: dict[str, list[float]] = {basis: [] for basis in stand_ins}
        ends: dict[str, list[float]] = {basis: [] for basis in stand_ins}
        for unit in UNITS:
            for epsilon in EPSILONS:
                for mechanism in mechanisms:
                    made = choose(
                        data.layout,
                        unit=unit,
                        budget=dpm.Budget(epsilon=epsilon, delta=1e-6),
                        mechanism=mechanism,
                        expected_events=events,
                    ).mechanism
                    truth = predicted_errors(made, real, draws=draws)
                    for basis, stand_in in stand_ins.items():
                        found = predicted_errors(made, stand_in)
                        rows[basis].append(found.row / truth.row)
                        if data.is_chain and found.stationary is not None and truth.stationary:
                            ends[basis].append(found.stationary / truth.stationary)
        cells = [span(rows["shape"]), span(ends["shape"]), span(rows["release"]), span(ends["release"])]
        print(f"| {name} | {', '.join(mechanisms)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    np.seterr(all="raise", under="ignore")
    print("| data | noise | rows by shape | stationary by shape | rows like a release | stationary like it |")
    for name in DATASETS:
        compare(name)


if __name__ == "__main__":
    main()
