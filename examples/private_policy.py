"""A randomised policy of a small decision process, published without its exact probabilities.

A delivery robot on a ring of six places decides in each whether to go on, to go back or to wait. Its policy
tells how its owner weighs speed against energy. What is published is a private policy, and what that costs is
the loss in expected total reward.

Run it: python examples/private_policy.py
"""

import numpy as np

import dpmarkov as dpm
from dpmarkov.utility.policy import DecisionProcess

PLACES = dpm.StateSpace(["depot", "north", "east", "market", "south", "west"])
ACTIONS = dpm.StateSpace(["on", "back", "wait"])


def process() -> DecisionProcess:
    """A move succeeds with probability .9; the market pays, moving costs a little."""
    n = len(PLACES)
    moves = np.zeros((n, 3, n))
    for place in range(n):
        for action, step in enumerate((1, -1, 0)):
            moves[place, action, (place + step) % n] += 0.9
            moves[place, action, place] += 0.1
    rewards = np.tile([-0.1, -0.1, 0.0], (n, 1))
    rewards[PLACES.index("market")] += 1.0
    return DecisionProcess(transitions=moves, rewards=rewards, discount=0.9)


def main() -> None:
    world = process()
    policy = np.array(
        [
            [0.80, 0.10, 0.10],
            [0.85, 0.05, 0.10],
            [0.90, 0.00, 0.10],
            [0.05, 0.05, 0.90],
            [0.05, 0.85, 0.10],
            [0.10, 0.80, 0.10],
        ]
    )
    layout = dpm.Layout(target=ACTIONS, source=PLACES)
    print(f"expected total reward of the policy: {world.total_reward(policy):.3f}")
    print(f"{'epsilon':>8} {'mixing':>7} {'reward':>7} {'loss':>7} {'bound of |loss|':>16} {'papers':>7}")
    for epsilon in (0.5, 1.0, 2.0, 4.0, 8.0):
        private = dpm.privatize_matrix(
            policy,
            unit=dpm.Entry(b=0.05),
            budget=dpm.Budget(epsilon=epsilon, delta=1e-6),
            layout=layout,
            seed=1,  # an example that prints the same every time; leave it out for a release
        )
        made = private.transition_matrix
        errors = np.abs(made - policy).sum(axis=1)
        print(
            f"{epsilon:8g} {private.mechanism['mixing']:7.2f} {world.total_reward(made):7.3f} "
            f"{world.loss(policy, made):7.3f} {world.loss_bound(made, errors):16.3f} "
            f"{dpm.paper_claim(private, 1e-6).epsilon:7.2f}"
        )


if __name__ == "__main__":
    main()
