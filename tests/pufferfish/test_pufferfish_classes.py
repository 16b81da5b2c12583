"""Classes of chains: words, files, refusals; ages; the class estimated from a cohort."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpmarkov.errors import InputError, ParameterError, ReleaseFormatError
from dpmarkov.privacy.unit import TimePoint, unit_from_dict
from dpmarkov.pufferfish import (
    ChainClass,
    FiniteChains,
    GapChains,
    IntervalChains,
    Model,
    StateSequence,
    estimate_theta,
    load_theta,
    plan_noise,
    semi_markov,
    theta_from_dict,
)
from dpmarkov.states import StateSpace

STAGES = StateSpace([0, 1, 2], labels=["wake", "light", "deep"])
THIRD = [[1 / 3, 1 / 3, 1 / 3], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]]


def classes() -> list[ChainClass]:
    matrix, of = semi_markov([[0, 0.5, 0.5], [0.5, 0, 0.5], [1, 0, 0]], [[0.5, 0.5], [1.0], [0.1, 0.9]])
    return [
        GapChains(states=STAGES, least_probability=0.1, eigengap=0.2, reversible=False),
        IntervalChains(states=STAGES, lower=np.full((3, 3), 0.1), upper=np.full((3, 3), 0.6)),
        FiniteChains(states=STAGES, models=(Model(THIRD), Model(THIRD, [1, 0, 0])), origin="a textbook"),
        FiniteChains(states=STAGES, models=(Model([THIRD, THIRD], [0.2, 0.3, 0.5]),)),
        FiniteChains(states=STAGES, models=(Model(matrix),), emits=of),
    ]


@pytest.mark.parametrize("theta", classes(), ids=lambda theta: theta.kind)
def test_a_class_survives_its_file_and_its_unit(theta: ChainClass, tmp_path: Path) -> None:
    read = load_theta(theta.save(tmp_path / "theta.json"))
    assert read == theta
    assert type(read) is type(theta)
    assert read.text == theta.text
    assert read.in_words == theta.in_words == str(theta)
    unit = TimePoint(theta)
    assert unit_from_dict(json.loads(json.dumps(unit.to_dict()))) == unit
    assert theta_from_dict(unit.to_dict()["theta"]) == theta
    assert plan_noise(read, 3, epsilon=1.0).scale == plan_noise(theta, 3, epsilon=1.0).scale


def test_classes_are_frozen() -> None:
    theta = classes()[0]
    with pytest.raises(AttributeError):
        theta.eigengap = 0.5  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="read-only"):
        Model(THIRD).matrix[0, 0] = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"least_probability": 0.0}, "least_probability must be > 0"),
        ({"least_probability": 0.5}, "at most 1/3"),
        ({"eigengap": 0.0}, "eigengap must be > 0"),
        ({"eigengap": 1.5}, "eigengap must be > 0 and <= 1"),
        ({"eigengap": float("nan")}, "eigengap must be a finite number"),
        ({"reversible": None}, "reversible must be True or False"),
    ],
)
def test_a_gap_class_refuses_what_its_theorem_does_not_cover(change: dict[str, object], message: str) -> None:
    good = {"states": STAGES, "least_probability": 0.1, "eigengap": 0.2, "reversible": True}
    with pytest.raises(ParameterError, match=message):
        GapChains(**(good | change))  # type: ignore[arg-type]


def test_reversibility_must_be_said_in_the_file() -> None:
    data = classes()[0].to_dict()
    del data["reversible"]
    with pytest.raises(ParameterError, match="must say whether"):
        theta_from_dict(data)


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        (np.zeros((3, 3)), np.full((3, 3), 0.6), "0 < lower"),
        (np.full((3, 3), 0.5), np.full((3, 3), 0.6), "no stochastic matrix fits"),
        (np.full((3, 3), 0.1), np.full((3, 3), 0.2), "no stochastic matrix fits"),
        (np.full((2, 2), 0.1), np.full((3, 3), 0.6), "must be 3 x 3"),
    ],
)
def test_an_interval_class_refuses_impossible_bounds(
    lower: np.ndarray, upper: np.ndarray, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        IntervalChains(states=STAGES, lower=lower, upper=upper)


@pytest.mark.parametrize(
    ("matrix", "initial", "message"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], None, "sum to 1"),
        ([[0.5, 0.5]], None, "must be square"),
        ([[-0.5, 1.5], [0.5, 0.5]], None, "probabilities >= 0"),
        ([[0.5, 0.5], [0.5, 0.5]], [0.5, 0.6], "must sum to 1"),
        ([[0.5, 0.5], [0.5, 0.5]], [1.0], "must hold 2 probabilities"),
        ([[[0.5, 0.5], [0.5, 0.5]]], None, "needs its initial distribution"),
        ("text", None, "must hold numbers"),
    ],
)
def test_a_model_refuses_what_is_no_chain(matrix: object, initial: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Model(matrix, initial)  # type: ignore[arg-type]


def test_a_finite_class_needs_models_of_one_size_and_every_state() -> None:
    with pytest.raises(ParameterError, match="at least one chain"):
        FiniteChains(states=STAGES, models=())
    with pytest.raises(ParameterError, match="has 2 states"):
        FiniteChains(states=STAGES, models=(Model([[0.5, 0.5], [0.5, 0.5]]),))
    with pytest.raises(ParameterError, match="seen in at least one"):
        FiniteChains(states=STAGES, models=(Model(THIRD),), emits=(0, 0, 1))
    lengths = (Model([THIRD], [1, 0, 0]), Model([THIRD] * 2, [1, 0, 0]))
    with pytest.raises(ParameterError, match="must have one length"):
        FiniteChains(states=STAGES, models=lengths)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"format": "x"}', '{"format": "dpmarkov theta", "kind": "gap"}']
)
def test_damaged_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "theta.json"
    path.write_text(text)
    with pytest.raises(ReleaseFormatError):
        load_theta(path)
    with pytest.raises(ReleaseFormatError, match="cannot be read"):
        load_theta(tmp_path / "absent.json")


def test_age_states_make_the_declared_durations() -> None:
    """The law of a stay, from the matrix, is the declared one."""
    durations = [[0.2, 0.3, 0.5], [0.6, 0.4]]
    matrix, of = semi_markov([[0, 1], [1, 0]], durations)
    assert of == (0, 0, 0, 1, 1)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(5))
    for state, wanted in enumerate(durations):
        inside = [x for x, s in enumerate(of) if s == state]
        here = np.eye(5)[inside[0]]
        for probability in wanted:
            after = here @ matrix
            leaving = after[[x for x in range(5) if x not in inside]].sum()
            assert leaving == pytest.approx(probability)
            here = np.where(np.isin(np.arange(5), inside), after, 0)
    with pytest.raises(ParameterError, match="diagonal must be 0"):
        semi_markov([[0.5, 0.5], [1, 0]], durations)


def cohort(n: int = 6, length: int = 400) -> list[StateSequence]:
    rng = np.random.default_rng(0)
    people = []
    for _ in range(n):
        p = 0.8 * np.eye(3) + 0.2 * rng.dirichlet(np.full(3, 5.0), 3)
        x = [0]
        for _ in range(length - 1):
            x.append(int(rng.choice(3, p=p[x[-1]])))
        people.append(StateSequence(STAGES, np.array(x)))
    return people


def test_a_cohort_gives_a_class_of_each_kind() -> None:
    people = cohort()
    finite = estimate_theta(people, margin=0.2, cohort_is_public=True)
    assert isinstance(finite, FiniteChains)
    assert len(finite.models) == 14
    assert "public cohort of 6 people" in finite.origin
    assert all(model.start[0] > 0.9 for model in finite.models)
    gap = estimate_theta(people, margin=0.2, kind="gap", reversible=True, cohort_is_public=True)
    assert isinstance(gap, GapChains)
    interval = estimate_theta(people, margin=0.2, kind="interval", cohort_is_public=True)
    assert isinstance(interval, IntervalChains)
    for model in finite.models[:7]:
        assert np.all(interval.lower <= model.matrix)
        assert np.all(model.matrix <= interval.upper)
        assert gap.least_probability < Model(model.matrix).start.min()


def test_a_margin_asks_for_more_noise() -> None:
    people = cohort()
    scales = [
        plan_noise(estimate_theta(people, margin=m, cohort_is_public=True), 1000, epsilon=1.0).scale
        for m in (0.0, 0.2, 0.5)
    ]
    assert scales[0] < scales[1] < scales[2]


def test_a_cohort_is_published_or_paid_for() -> None:
    people = cohort()
    with pytest.raises(ParameterError, match="say that the cohort is public"):
        estimate_theta(people, margin=0.2)
    with pytest.raises(ParameterError, match="say that the cohort is public"):
        estimate_theta(people, margin=0.2, cohort_is_public=True, epsilon=1.0, transitions_per_person=10)
    with pytest.raises(ParameterError, match="say that the cohort is public"):
        estimate_theta(people, margin=0.2, epsilon=1.0)
    with pytest.raises(ParameterError, match="needs the declared states"):
        estimate_theta(people, margin=0.2, epsilon=1.0, transitions_per_person=50)
    paid = estimate_theta(people, margin=0.2, epsilon=1.0, transitions_per_person=50, states=STAGES)
    assert isinstance(paid, FiniteChains)
    assert len(paid.models) == 2
    assert "epsilon = 1" in paid.origin
    assert "6 people" not in paid.origin


def test_one_person_more_moves_the_paid_counts_by_no_more_than_is_charged() -> None:
    from dpmarkov.pufferfish import estimate as module

    seen: list[np.ndarray] = []

    def record(values: np.ndarray, scale: float, entropy: object) -> np.ndarray:
        seen.append(values.copy())
        assert scale * 2.0 >= 51
        return values

    original = module.noisy_integers
    module.noisy_integers = record  # type: ignore[assignment]
    try:
        people = cohort(5, 300)
        for chosen in (people, people[:-1], people[1:]):
            estimate_theta(chosen, margin=0.0, epsilon=2.0, transitions_per_person=50, states=STAGES)
    finally:
        module.noisy_integers = original
    assert np.abs(seen[0] - seen[1]).sum() == 51
    assert np.abs(seen[0] - seen[2]).sum() == 51


@pytest.mark.parametrize("kind", ["finite", "gap", "interval"])
def test_whether_a_paid_cohort_holds_anybody_does_not_show(kind: str) -> None:
    for people in ([], cohort(1, 2)):
        made = estimate_theta(
            people,
            margin=0.1,
            kind=kind,  # type: ignore[arg-type]
            reversible=False if kind == "gap" else None,
            epsilon=1.0,
            transitions_per_person=5,
            states=STAGES,
        )
        assert made.states == STAGES


def test_a_gap_class_from_a_cohort_must_say_reversible() -> None:
    with pytest.raises(ParameterError, match="must say whether"):
        estimate_theta(cohort(2), margin=0.1, kind="gap", cohort_is_public=True)
    with pytest.raises(ParameterError, match="other kinds"):
        estimate_theta(cohort(2), margin=0.1, reversible=True, cohort_is_public=True)
    with pytest.raises(InputError, match="nobody"):
        estimate_theta([], margin=0.1, cohort_is_public=True)
    with pytest.raises(ParameterError, match="margin must be"):
        estimate_theta(cohort(2), margin=1.0, cohort_is_public=True)
