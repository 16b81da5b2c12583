"""The Dirichlet draw against its exact Beta marginals.

Each comparison uses the Dvoretzky-Kiefer-Wolfowitz bound, so that a right sampler fails with probability at
most FALSE_ALARM whatever the seed; the seeds are fixed all the same. The power checks show that the same
comparison rejects a sampler that is wrong by 10 %.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpmarkov.counts import COUNT_LIMIT, TransitionCounts
from dpmarkov.entropy import Entropy
from dpmarkov.errors import ParameterError
from dpmarkov.layout import Layout
from dpmarkov.mechanisms.dirichlet import MIN_PROBABILITY, Dirichlet, draw_rows, normalize_rows
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

FALSE_ALARM = 1e-6
DRAWS = 200_000
BAND = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * DRAWS))
VISIBLE = 1e-15  # below this the stated positive minimum changes the law


def draws(shapes: list[float], seed: int = 1) -> np.ndarray:
    cells = Support.full(DRAWS, len(shapes))
    rng = Entropy.seeded(seed).generator("test")
    return draw_rows(np.tile(np.asarray(shapes, float), DRAWS), cells, rng).reshape(DRAWS, -1)


def distance(sample: np.ndarray, a: float, b: float) -> float:
    """The largest gap between the sample's distribution function and Beta(a, b)'s, where it is visible."""
    ordered = np.sort(sample)
    exact = stats.beta.cdf(ordered, a, b)
    above = ordered > VISIBLE
    rank = np.arange(1, sample.size + 1) / sample.size
    return float(max(np.abs(rank - exact)[above].max(), np.abs(rank - 1 / sample.size - exact)[above].max()))


SHAPES = [[1.0, 1.0], [0.02, 0.5, 3.0], [0.3, 0.9, 1.1, 40.0], [7.25, 12.0, 900.0], [1e6, 2e6]]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_marginals_are_beta(shapes: list[float]) -> None:
    sample = draws(shapes)
    for j, a in enumerate(shapes):
        assert distance(sample[:, j], a, sum(shapes) - a) < BAND


@pytest.mark.parametrize("shapes", [[7.25, 12.0, 900.0], [30.0, 30.0, 30.0], [0.3, 0.9, 1.1, 40.0]], ids=str)
def test_power_a_weight_ten_percent_too_large_is_rejected(shapes: list[float]) -> None:
    sample = draws([1.1 * a for a in shapes])
    gaps = [distance(sample[:, j], a, sum(shapes) - a) for j, a in enumerate(shapes)]
    assert max(gaps) > BAND


@pytest.mark.parametrize("form", ["floor", "prior"])
def test_a_mechanism_draws_by_the_parameters_that_it_accounts_for(form: str) -> None:
    """Rows of 80 and 2 events at weight 1/8, floor or prior 3; with all parameters doubled it is rejected."""
    made = Dirichlet(form=form, weight=0.125, alpha=3.0)
    layout = Layout(target=StateSpace(["a", "b"]), source=StateSpace.range(0, 50_000))
    counts = TransitionCounts(layout, np.tile([80, 2], 50_000))
    sample = made.draw(counts, Entropy.seeded(1)).probabilities[::2]
    a, b = (10.0, 3.0) if form == "floor" else (13.0, 3.25)
    band = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * sample.size))
    assert distance(sample, a, b) < band
    assert distance(sample, 2 * a, 2 * b) > band


def test_rows_are_independent() -> None:
    """Correlation of neighbouring rows: a normal score with |z| > 4.9 has probability below 1e-6."""
    sample = draws([2.0, 3.0])[:, 0]
    left, right = sample[::2], sample[1::2]
    score = np.corrcoef(left, right)[0, 1] * math.sqrt(left.size)
    assert abs(score) < 4.9


@given(
    st.lists(st.floats(-6, 9), min_size=1, max_size=40),
    st.integers(0, 10**6),
)
def test_no_nan_no_zero_rows_sum_to_one(exponents: list[float], seed: int) -> None:
    shapes = 10.0 ** np.asarray(exponents)
    cells = Support.full(3, shapes.size)
    p = draw_rows(np.tile(shapes, 3), cells, Entropy.seeded(seed).generator("test"))
    assert np.all(np.isfinite(p))
    assert np.all(p >= MIN_PROBABILITY)
    for row in p.reshape(3, -1):
        assert abs(math.fsum(row) - 1) <= 2**-53


@given(st.lists(st.floats(0, 1e300), min_size=2, max_size=30).filter(lambda v: 0 < sum(v) < 1e301))
def test_normalising_keeps_ratios_and_sums(values: list[float]) -> None:
    p = normalize_rows(np.asarray(values), Support.full(1, len(values)))
    assert abs(math.fsum(p) - 1) <= 2**-53
    assert np.all(p >= MIN_PROBABILITY)
    expected = np.asarray(values) / math.fsum(values)
    assert np.allclose(p, np.maximum(expected, MIN_PROBABILITY), rtol=1e-12, atol=1e-15)


def layout(n: int = 3) -> Layout:
    return Layout.square(StateSpace.range(0, n))


@pytest.mark.parametrize("form", ["floor", "prior"])
@given(
    bits=st.integers(1, 2**20 - 1),
    exponent=st.integers(-30, 0),
    alpha=st.floats(1e-3, 1e3),
    count=st.integers(0, COUNT_LIMIT - 1),
)
def test_one_event_moves_a_parameter_by_at_most_the_weight_exactly(
    form: str, bits: int, exponent: int, alpha: float, count: int
) -> None:
    """In exact rational arithmetic: what is certified is what is sampled."""
    from fractions import Fraction

    weight = bits * 2.0**exponent
    try:
        mechanism = Dirichlet(form=form, weight=weight, alpha=float(np.float32(alpha)))  # type: ignore[arg-type]
    except ParameterError:
        return
    low, high = (Fraction(float(u)) for u in mechanism.parameters(np.array([count, count + 1])))
    assert 0 <= high - low <= Fraction(weight)
    assert low >= Fraction(mechanism.alpha)


def test_power_an_inexact_weight_would_move_further() -> None:
    """With 53 significant bits rounding does push a parameter's step above the weight: the bits matter."""
    weight = 0.1
    counts = np.arange(10**6, 10**6 + 1000)
    assert np.any(np.diff(weight * counts) > weight)
    with pytest.raises(ParameterError, match="20 significant bits"):
        Dirichlet(form="floor", weight=weight, alpha=1.0)


def test_forms_as_the_table_says() -> None:
    counts = np.array([0, 3, 100])
    assert Dirichlet(form="floor", weight=0.5, alpha=4.0).parameters(counts).tolist() == [4.0, 4.0, 50.0]
    assert Dirichlet(form="prior", weight=0.5, alpha=4.0).parameters(counts).tolist() == [4.0, 5.5, 54.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"form": "other", "weight": 0.5, "alpha": 1.0}, "floor, prior; got 'other'"),
        ({"form": "floor", "weight": 0.0, "alpha": 1.0}, "weight must be a finite number > 0"),
        ({"form": "floor", "weight": 0.5, "alpha": math.nan}, "floor must be a finite number > 0"),
    ],
)
def test_bad_parameters(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Dirichlet(**arguments)  # type: ignore[arg-type]


def test_a_draw_takes_fresh_entropy_and_a_seed_reproduces_it() -> None:
    counts = TransitionCounts.from_matrix(np.full((3, 3), 50), layout=layout())
    mechanism = Dirichlet(form="prior", weight=0.5, alpha=1.0)
    fresh = [mechanism.draw(counts, Entropy.from_os()).probabilities for _ in range(2)]
    assert not np.array_equal(*fresh)
    same = [mechanism.draw(counts, Entropy.seeded(5)).probabilities for _ in range(2)]
    assert np.array_equal(*same)
    assert np.unique(same[0]).size == 9


def test_saturated_counts_stay_exact() -> None:
    counts = TransitionCounts.from_matrix(np.full((3, 3), 2**62), layout=layout())
    p = Dirichlet(form="prior", weight=0.5, alpha=1.0).draw(counts, Entropy.from_os()).probabilities
    assert np.all(np.abs(p - 1 / 3) < 1e-3)
