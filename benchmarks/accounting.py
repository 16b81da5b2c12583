"""The accountant: speed and tightness. `python -m benchmarks.accounting`."""

import math
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc

from dpmarkov.privacy.additive import calibrate_gaussian
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.calibrate import calibrate
from dpmarkov.privacy.compose import composition
from dpmarkov.privacy.pairs import BetaPair, GammaPair
from dpmarkov.privacy.pairs_additive import DiscreteGaussianPair
from dpmarkov.privacy.unit import Destination, Event, Unit, User, Visit

BUDGET = Budget(epsilon=1.0, delta=1e-6)
ROWS = 2000


def seconds(job: Callable[[], object], times: int = 3) -> float:
    """The processor seconds of the best of several runs: others may be working on the same machine."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        job()
        spent.append(time.process_time() - start)
    return min(spent)


def rows() -> None:
    """Calibrate and certify many rows with floors of their own, beside a root search row by row."""
    floors = np.exp(np.random.default_rng(0).uniform(math.log(0.5), math.log(1000), ROWS))

    def naive(alpha: float) -> float:
        def excess(w: float) -> float:
            s = 1 / (1 + math.exp(1 / w))
            return betainc(alpha, alpha + w, s) - math.e * betainc(alpha + w, alpha, s) - 1e-6

        return brentq(excess, 1e-3 * math.sqrt(alpha) + 0.01, 3 * math.sqrt(alpha))

    bare = seconds(lambda: [naive(alpha) for alpha in floors[:200].tolist()], 1) * ROWS / 200
    print(f"{ROWS:,} rows, root search one by one on the naive formula, not certified: {bare:.2f} s")
    for unit in (Destination(), Event()):
        ours = seconds(lambda unit=unit: calibrate(unit, BUDGET, floors))
        print(
            f"{ROWS:,} rows, {unit.name}, calibrated and certified: {ours:.2f} s ({ours / bare:.1f} x that)"
        )


def products() -> None:
    """One calibration that needs a composition."""
    units: list[Unit] = [Visit(), User(max_events=10), User(max_events=10, max_per_pair=1)]
    units += [User(max_events=50, max_per_pair=5), User(max_events=10, relation="replace")]
    for unit in units:
        start = time.process_time()
        weight = calibrate(unit, BUDGET, 20.0)
        dirichlet = time.process_time() - start
        start = time.process_time()
        sigma = calibrate_gaussian(unit, BUDGET)
        print(
            f"{unit.to_dict()}: weight {weight:.5g} at floor 20 in {dirichlet:.2f} s; "
            f"sigma {sigma:.5g} in {time.process_time() - start:.2f} s"
        )


def tightness() -> None:
    """How far above the truth a composition is, where the truth is known."""
    pair, beta = GammaPair(alpha=10.0, weight=0.4), BetaPair(alpha=10.0, weight=0.4)
    total = composition((pair, pair.reverse()))
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        truth = math.exp(float(beta.log_delta(epsilon)))
        print(f"gamma x reverse at epsilon {epsilon}: {total.delta(epsilon):.6e}, beta pair {truth:.6e}")
    start = time.process_time()
    many = composition((DiscreteGaussianPair(sigma=100.0, shift=1),) * 1000)
    spent = time.process_time() - start
    print(f"1,000 discrete Gaussians in {spent:.2f} s: delta(1) = {many.delta(1.0):.6e}")


if __name__ == "__main__":
    rows()
    products()
    tightness()
