"""Private vectors, averages and matrices: the guarantee, two ways, the very numbers that are drawn."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dpmarkov.errors import InputError, ParameterError, TableError, UnitError
from dpmarkov.layout import Layout
from dpmarkov.papers import gohari
from dpmarkov.privacy.budget import Budget
from dpmarkov.privacy.pairs import BetaPair
from dpmarkov.privacy.unit import Destination, Entry, unit_from_dict
from dpmarkov.queries import paper_claim, privatize_average, privatize_matrix, privatize_vector
from dpmarkov.queries.calibration import Request, chosen
from dpmarkov.queries.privatize import _multiples, _on_support
from dpmarkov.queries.tables import read_probabilities
from dpmarkov.releases.files import load
from dpmarkov.states import StateSpace
from dpmarkov.support import Support

BUDGET = Budget(epsilon=1.0, delta=1e-6)
CITY = StateSpace(["home", "work", "shop", "park"])


def request(unit: Entry, n: int = 4, **options: object) -> Request:
    values: dict[str, object] = {"way": "lifted", "eta": None, "eta_bar": None, "k": None, "n_averaged": 1}
    values |= {"layout": Layout(target=StateSpace.range(0, n)), "budget": BUDGET}
    return Request(unit=unit, **(values | options))  # type: ignore[arg-type]


def test_a_vector_is_released_whatever_it_holds() -> None:
    for p in ([0.25, 0.25, 0.25, 0.25], [1, 0, 0, 0], [0, 0, 0.5, 0.5]):
        release = privatize_vector(p, unit=Entry(b=0.05), budget=BUDGET, seed=1)
        assert release.guarantee.epsilon == 1.0
        assert release.guarantee.delta <= 1e-6
        assert release.guarantee.delta > 0.99e-6, "calibrated to the budget, not below it"
        assert release.probabilities.sum() == pytest.approx(1)
        assert release.probabilities.min() > 0
        assert not any("simplex" in text for text in release.guarantee.assumptions)


def test_the_same_parameters_for_every_input() -> None:
    """Parameters come from public things alone."""
    first, second = (
        privatize_vector(p, unit=Entry(b=0.05), budget=BUDGET, seed=3)
        for p in ([0.7, 0.1, 0.1, 0.1], [0, 0, 0, 1])
    )
    assert first.mechanism == second.mechanism
    assert first.guarantee == second.guarantee


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.floats(0.001, 1.9),
    st.floats(0.5, 8),
    st.sampled_from(["auto", "eta", "assumed"]),
    st.integers(1, 7),
    st.data(),
)
def test_what_is_certified_is_what_is_drawn(
    raw: list[float], b: float, epsilon: float, kind: str, n_averaged: int, data: st.DataObject
) -> None:
    """For any two neighbours: parameters that differ do so by at most the certified weight, above the floor.

    All arithmetic is checked in exact fractions: the parameter of every other cell is the very same float.
    """
    from fractions import Fraction

    unit, budget = Entry(b=b), Budget(epsilon=epsilon, delta=1e-5)
    try:
        asked = request(
            unit,
            budget=budget,
            n_averaged=n_averaged,
            way="assumed" if kind == "assumed" else "lifted",
            eta=None if kind == "auto" else 0.08,
        )
        mechanism = chosen(asked)
    except ParameterError:
        return  # a budget that no concentration keeps for this b: refused, from public things alone
    p = np.array(raw) + 0.01
    p = 0.6 * p / p.sum() + 0.1
    i, j = data.draw(st.permutations(range(4)))[:2]
    move = min(b / 2, p[i] - (0.08 if kind == "assumed" else 0.0))
    q = p.copy()
    q[i] -= move
    q[j] += move
    rng = np.random.default_rng(n_averaged)
    others = [rng.dirichlet(np.full(4, 50.0)) for _ in range(n_averaged - 1)]

    def shapes(vector: np.ndarray) -> np.ndarray:
        from dpmarkov.counts import TransitionCounts

        total = sum(
            (
                _multiples(_on_support(v[None, :], asked.layout), asked.layout, mechanism)
                for v in [vector, *others]
            ),
            start=np.zeros(4, dtype=np.int64),
        )
        counts = TransitionCounts(asked.layout, total // n_averaged)
        exact = [
            Fraction(float(mechanism.weight[0])) / 2**mechanism.bits * int(x) + Fraction(float(a))
            for x, a in zip(counts.values, mechanism.prior, strict=True)
        ]
        floats = mechanism.parameters(counts)
        assert [Fraction(float(u)) for u in floats] == exact, "every parameter is an exact double"
        return floats

    u, v = shapes(p), shapes(q)
    (pair,) = mechanism.profile(unit, asked.layout).alternatives[0]
    assert isinstance(pair, BetaPair)
    assert min(u.min(), v.min()) >= pair.alpha
    for at in range(4):
        change = Fraction(float(v[at])) - Fraction(float(u[at]))
        if at not in (i, j):
            assert change == 0
        else:
            assert abs(change) <= Fraction(pair.weight)
            assert change <= 0 if at == i else change >= 0
    assert mechanism.profile(unit, asked.layout).certified_delta(epsilon) <= 1e-5


def test_lifting_counts_the_shrunken_distance() -> None:
    """With eta given, the weight is k (1 - lambda) b/2: the factor is worth its share of k."""
    unit = Entry(b=0.04)
    mechanism = chosen(request(unit, eta=0.2))
    mixing = 1 - mechanism.weight[0] / mechanism.k[0]
    assert mixing == pytest.approx(0.8)
    ((pair,),) = mechanism.profile(unit, request(unit).layout).alternatives
    assert pair.weight == pytest.approx(mechanism.k[0] * 0.2 * 0.02, rel=1e-5)
    assert pair.alpha == pytest.approx(mechanism.k[0] * 0.2, rel=1e-6)


def test_the_draw_has_the_mean_it_says() -> None:
    """The mean of 400 releases is (1 - mixing) p + mixing q (5 standard errors), and not p."""
    p = np.array([0.7, 0.2, 0.1, 0.0])
    releases = [privatize_vector(p, unit=Entry(b=0.008), budget=BUDGET, seed=s, eta=0.05) for s in range(400)]
    mixing = releases[0].mechanism["mixing"]
    x = np.stack([r.probabilities for r in releases])
    error = x.std(axis=0) / math.sqrt(len(x))
    assert np.all(np.abs(x.mean(axis=0) - ((1 - mixing) * p + mixing / 4)) < 5 * error)
    assert np.any(np.abs(x.mean(axis=0) - p) > 5 * error)
    spread = p * (1 - mixing) + mixing / 4
    k = releases[0].mechanism["k"]
    assert np.allclose(x.var(axis=0), spread * (1 - spread) / (k + 1), rtol=0.35)


def test_gohari_average_example() -> None:
    """k = 24, N = 100, b = 1: the paper's 1.18 (its formula: 1.122) at delta = .05 is .051 exactly."""
    rng = np.random.default_rng(0)
    vectors = 0.1 + 0.6 * rng.dirichlet(np.ones(3), 100)
    vectors /= vectors.sum(axis=1, keepdims=True)
    release = privatize_average(
        vectors,
        unit=Entry(b=1.0, among=[0, 1]),
        budget=Budget(epsilon=1.18, delta=0.05),
        way="assumed",
        eta=0.05,
        eta_bar=0.05,
        k=24,
        seed=0,
    )
    assert round(release.guarantee.epsilon, 3) == 0.051
    assert any("bordered simplex" in text for text in release.guarantee.assumptions)
    assert any("100" in text for text in release.guarantee.assumptions)
    claim = paper_claim(release, 0.05)
    assert claim.epsilon == pytest.approx(1.122, abs=5e-4)
    assert claim.delta <= 0.05


def test_averaging_divides_what_one_vector_moves() -> None:
    vectors = np.tile([0.3, 0.3, 0.4], (500, 1))
    one = privatize_vector(vectors[0], unit=Entry(b=0.2), budget=BUDGET, seed=0)
    many = privatize_average(vectors, unit=Entry(b=0.2), budget=BUDGET, seed=0)
    assert many.mechanism["mixing"] < one.mechanism["mixing"] / 3
    assert np.abs(many.probabilities - vectors[0]).max() < 0.1
    with pytest.raises(ParameterError, match="one of its vectors"):
        privatize_average(vectors, unit=Entry(b=0.2, rows="all"), budget=BUDGET)


def test_known_zeros_stay_zero() -> None:
    ring = [(CITY.states[i], CITY.states[j]) for i in range(4) for j in (i, (i + 1) % 4, (i + 2) % 4)]
    layout = Layout.square(CITY, Support.from_pairs(CITY, CITY, ring))
    p = np.zeros((4, 4))
    for i in range(4):
        p[i, [i, (i + 1) % 4, (i + 2) % 4]] = [0.5, 0.3, 0.2]
    for matrix in (p, sparse.csr_array(p)):
        release = privatize_matrix(matrix, unit=Entry(b=0.05), budget=BUDGET, layout=layout, seed=2)
        assert np.array_equal(release.transition_matrix > 0, p > 0)
        assert release.chain.stationary_distribution.sum() == pytest.approx(1)
    with pytest.raises(InputError, match="declared support"):
        privatize_matrix(np.full((4, 4), 0.25), unit=Entry(b=0.05), budget=BUDGET, layout=layout)


def test_one_row_costs_the_worst_row_and_all_rows_compose() -> None:
    p = np.full((12, 4), 0.25)
    one = privatize_matrix(p, unit=Entry(b=0.02), budget=Budget(epsilon=3, delta=1e-6), eta=0.1, k=40, seed=0)
    every = privatize_matrix(
        p, unit=Entry(b=0.02, rows="all"), budget=Budget(epsilon=9, delta=1e-6), eta=0.1, k=40, seed=0
    )
    assert len(one.guarantee.evidence.profile.alternatives) == 1
    assert len(every.guarantee.evidence.profile.alternatives[0]) == 12
    assert 2.5 < every.guarantee.epsilon / one.guarantee.epsilon < 12
    claims = [paper_claim(release, 1e-6) for release in (one, every)]
    assert claims[1].epsilon == pytest.approx(12 * claims[0].epsilon)
    assert claims[0].epsilon > one.guarantee.epsilon
    planned = privatize_matrix(
        p, unit=Entry(b=0.02, rows="all"), budget=Budget(epsilon=4, delta=1e-6), seed=0
    )
    assert 0.9e-6 < planned.guarantee.delta <= 1e-6


def test_index_sets_leave_the_other_entries_alone() -> None:
    unit = Entry(b=0.02, among=[0, 1])
    layout = Layout(target=CITY)
    mechanism = chosen(request(unit, layout=layout, eta=0.1, eta_bar=0.2))
    assert mechanism.watched.tolist() == [True, True, False, False]
    assert mechanism.eta_bar[0] == pytest.approx(0.2)
    assert 1 - mechanism.weight[0] / mechanism.k[0] == pytest.approx(0.4)
    release = privatize_vector(
        [0, 0, 0, 1.0], unit=unit, budget=BUDGET, layout=layout, eta=0.1, eta_bar=0.2, seed=0
    )
    assert release.probabilities.min() > 0
    rows = Entry(b=0.05, among=[[0, 1], [1, 2], [2, 3], [0, 3]])
    square = privatize_matrix(np.full((4, 4), 0.25), unit=rows, budget=BUDGET, seed=0)
    assert square.guarantee.unit == rows
    with pytest.raises(UnitError, match="4 rows"):
        privatize_matrix(np.full((4, 4), 0.25), unit=Entry(b=0.05, among=[[0, 1], [1, 2]]), budget=BUDGET)
    with pytest.raises(UnitError, match="beyond the last"):
        privatize_vector([0.5, 0.5], unit=Entry(b=0.05, among=[0, 2]), budget=BUDGET)


def test_a_policy_is_a_rectangular_matrix() -> None:
    policy = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    release = privatize_matrix(policy, unit=Entry(b=0.02), budget=BUDGET, seed=0)
    assert release.transition_matrix.shape == (5, 3)


def test_assumed_refuses_what_lies_outside_without_saying_where() -> None:
    unit = Entry(b=0.02)
    kept = {"unit": unit, "budget": BUDGET, "way": "assumed", "eta": 0.15}
    assert privatize_vector([0.2, 0.3, 0.5], **kept, seed=0).mechanism["mixing"] == 0
    messages = set()
    for p in ([0.1, 0.4, 0.5], [0.5, 0.5, 0.0]):
        with pytest.raises(InputError, match="bordered simplex") as caught:
            privatize_vector(p, **kept)
        messages.add(str(caught.value))
    assert len(messages) == 1
    with pytest.raises(InputError, match="bordered simplex"):
        privatize_vector(
            [0.4, 0.4, 0.2],
            unit=Entry(b=0.02, among=[0, 1]),
            budget=BUDGET,
            way="assumed",
            eta=0.15,
            eta_bar=0.25,
        )


def test_exact_is_below_the_papers_claim() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        b, eta = float(rng.uniform(0.005, 0.05)), float(rng.uniform(0.08, 0.2))
        release = privatize_vector(
            [0.3, 0.3, 0.4], unit=Entry(b=b), budget=Budget(epsilon=50, delta=1e-4), eta=eta, k=30, seed=0
        )
        claim = paper_claim(release, 1e-4)
        assert release.guarantee.epsilon < claim.epsilon
        assert release.guarantee.delta_at(claim.epsilon) <= claim.delta
        assert claim.violated == ()


def test_a_release_is_saved_and_read(tmp_path: object) -> None:
    unit = Entry(b=0.05, among=[0, 2])
    assert unit_from_dict(unit.to_dict()) == unit
    release = privatize_vector([0.2, 0.3, 0.5], unit=unit, budget=BUDGET, seed=0)
    release.save(f"{tmp_path}/r")
    again = load(f"{tmp_path}/r")
    assert again.guarantee == release.guarantee
    assert again.guarantee.unit == unit
    assert "two entries" in again.describe()


def test_what_cannot_be_is_refused() -> None:
    p = [0.2, 0.3, 0.5]
    for options, message in (
        ({"unit": Destination()}, "Entry"),
        ({"budget": Budget(epsilon=1)}, "delta"),
        ({"way": "hoped"}, "way must be"),
        ({"k": 24.0}, "give eta"),
        ({"way": "assumed"}, "give eta"),
        ({"eta": 0.4}, "no room"),
        ({"eta": 0.1, "eta_bar": 0.1}, "outside the index set"),
        ({"eta": 0.1, "k": 1e6}, "does not keep within"),
        ({"eta": 0.001, "unit": Entry(b=1.0)}, "no concentration"),
        ({"eta": -0.1}, "eta must be"),
    ):
        with pytest.raises((ParameterError, UnitError), match=message):
            privatize_vector(p, **({"unit": Entry(b=0.05), "budget": BUDGET} | options))  # type: ignore[arg-type]
    for bad, message in (
        ([0.2, 0.3], "sum to one"),
        ([0.5, 0.7, -0.2], "finite numbers"),
        ([0.5, math.nan, 0.5], "finite numbers"),
        ([[0.5, 0.5]], "one dimension"),
    ):
        with pytest.raises(InputError, match=message):
            privatize_vector(bad, unit=Entry(b=0.05), budget=BUDGET)
    with pytest.raises(InputError, match="4 x 4"):
        privatize_matrix(np.eye(3), unit=Entry(b=0.05), budget=BUDGET, layout=Layout.square(CITY))
    for b in (0, 2.5, True, "x"):
        with pytest.raises(ParameterError, match="b must be"):
            Entry(b=b)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="rows must be"):
        Entry(b=0.1, rows="some")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="at least two"):
        Entry(b=0.1, among=[1])  # type: ignore[arg-type]


def test_the_guarantee_survives_an_attack() -> None:
    """Two neighbours, 60,000 draws each at the extreme input: the best test's advantage stays within delta.

    A slack of 4.4 standard errors; a mechanism with twice the concentration fails.
    """
    unit, budget = Entry(b=0.2), Budget(epsilon=0.5, delta=0.02)
    asked = request(unit, n=2, budget=budget, eta=0.3)
    mechanism = chosen(asked)
    p, q = np.array([0.1, 0.9]), np.array([0.0, 1.0])
    rng = np.random.default_rng(0)

    def advantage(scale: float) -> tuple[float, float]:
        u, v = (scale * (mechanism.weight[0] * x + mechanism.prior) for x in (p, q))
        x, y = rng.beta(u[0], u[1], 60_000), rng.beta(v[0], v[1], 60_000)
        best, error = 0.0, 0.0
        for cut in np.linspace(0.05, 0.95, 91):
            gain = (x > cut).mean() - math.exp(0.5) * (y > cut).mean()
            if gain > best:
                best = gain
                error = math.sqrt(((x > cut).var() + math.e * (y > cut).var()) / 60_000)
        return best, error

    seen, error = advantage(1.0)
    assert seen <= 0.02 + 4.4 * error
    seen, error = advantage(2.0)
    assert seen > 0.02 + 4.4 * error


def test_gohari_theorem1_is_the_claim_for_a_vector_with_an_index_set() -> None:
    unit = Entry(b=0.05, among=[0, 1])
    release = privatize_vector(
        [0.3, 0.3, 0.4],
        unit=unit,
        budget=Budget(epsilon=9, delta=1e-3),
        eta=0.1,
        eta_bar=0.2,
        k=20,
        way="assumed",
        seed=0,
    )
    gamma = gohari.equation16(k=20, eta=0.1, n_watched=2, delta=1e-3)
    truth = gohari.theorem1(k=20, eta=0.1, eta_bar=0.2, b=0.05, n_watched=2, gamma=gamma)
    assert paper_claim(release, 1e-3).epsilon == pytest.approx(truth.epsilon, rel=1e-6)


def test_an_average_of_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="at least one"):
        privatize_average(np.zeros((0, 3)), unit=Entry(b=0.2), budget=BUDGET)


def test_an_address_is_refused_without_its_password() -> None:
    layout = Layout(target=StateSpace.range(0, 2))
    with pytest.raises(TableError, match="no database") as refused:
        read_probabilities(Path("postgresql://me:hush@host/db"), layout, kind="matrix")
    assert "hush" not in str(refused.value)
