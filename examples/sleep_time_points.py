"""Nights of several people, hidden half minute by half minute although neighbours give each other away.

Simulated sleepers; the class of chains comes from a public cohort of other people. The same on the command
line stands in docs/correlated.md.
"""

import numpy as np

from dpmarkov import StateSpace
from dpmarkov.entropy import Entropy
from dpmarkov.pufferfish import (
    TRANSITIONS,
    StateSequence,
    estimate_theta,
    joint_epsilon,
    plan_noise,
    release_chain,
    release_histogram,
)

STAGES = StateSpace(["wake", "light", "deep", "dream"])
TYPICAL = np.array(
    [[0.85, 0.13, 0.01, 0.01], [0.05, 0.80, 0.10, 0.05], [0.01, 0.14, 0.84, 0.01], [0.03, 0.07, 0.01, 0.89]]
)


def night(name: str, epochs: int = 1000) -> StateSequence:
    """A night of somebody whose chain is somewhat different from the typical one."""
    chance = Entropy.seeded(1).generator(name)
    own = np.array([chance.dirichlet(400 * row) for row in TYPICAL])
    stages = [0]
    for _ in range(epochs - 1):
        stages.append(int(chance.choice(4, p=own[stages[-1]])))
    return StateSequence(STAGES, np.array(stages))


def main() -> None:
    cohort = [night(f"volunteer {n}") for n in range(20)]
    patients = [night(f"patient {n}") for n in range(30)]

    theta = estimate_theta(cohort, margin=0.1, cohort_is_public=True)
    print(plan_noise(theta, 1000, epsilon=1.0, statistic=TRANSITIONS).describe(), "\n")

    shares = release_histogram(patients, theta=theta, epsilon=1.0)
    chain = release_chain(patients, theta=theta, epsilon=1.0)
    print(chain.describe(), "\n")
    exact = np.sum([patient.histogram() for patient in patients], axis=0)
    for stage, share, truth in zip(STAGES, shares.probabilities, exact / exact.sum(), strict=True):
        print(f"{stage:>6}  released {share:.3f}  exact (known here, because it is simulated) {truth:.3f}")
    print(f"\nBoth releases together: epsilon = {joint_epsilon([shares, chain]):.3f}")


if __name__ == "__main__":
    main()
