import json

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import BUDGET, HOSTILE, release_of

import dpmarkov as dpm
from dpmarkov.errors import ChainError, InputError, ParameterError, TableError
from dpmarkov.postprocess import remove_prior
from dpmarkov.privacy.charge import Charge
from dpmarkov.privacy.pairs import PurePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.report.expected import dirichlet_row_error, error_curve
from dpmarkov.report.figures.matrix import state_orders, strongest_flows
from dpmarkov.report.look import display_labels, look_at
from dpmarkov.report.theme import DARK, LIGHT, percent
from dpmarkov.report.trust import share_intervals
from dpmarkov.support import Support

PERIODIC = np.array([[0, 10_000], [10_000, 0]])


def two_sided(n_states: int = 8) -> dpm.Release:
    """A chain on two groups of states, even and odd, that hardly ever meet."""
    even = np.arange(n_states) % 2
    return release_of(np.where(even[:, None] == even[None, :], 50_000, 20))


def test_heat_map_shows_the_matrix(city: dpm.Release) -> None:
    heat = dpm.figures.transitions(city).data[0]
    assert np.allclose(np.asarray(heat.customdata)[:, :, 0], city.transition_matrix, rtol=1e-6)
    assert np.allclose(np.asarray(heat.z), np.log10(city.transition_matrix), atol=1e-5)
    assert list(heat.x) == list(heat.y) == list(city.layout.target.labels)
    assert heat.zmin < heat.zmax <= 0


def test_heat_map_leaves_known_zeros_blank() -> None:
    space = dpm.StateSpace(["a", "b", "c"])
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")]
    layout = dpm.Layout.square(space, dpm.Support.from_pairs(space, space, pairs))
    release = dpm.release(dpm.TransitionCounts(layout, np.full(4, 1000)), unit=dpm.Event(), budget=BUDGET)
    z = np.asarray(dpm.figures.transitions(release).data[0].z)
    assert np.isnan(z).sum() == 5
    assert not np.isnan(z[0, 0])


def test_states_can_be_ordered_by_share(city: dpm.Release) -> None:
    heat = dpm.figures.transitions(city, order="share").data[0]
    shares = dict(zip(city.layout.target.labels, city.stationary_distribution, strict=True))
    listed = [shares[name] for name in heat.x]
    assert listed == sorted(listed, reverse=True)
    i, j = (city.layout.target.labels.index(heat.y[3]), city.layout.target.labels.index(heat.x[7]))
    assert np.isclose(np.asarray(heat.customdata)[3, 7, 0], city.transition_matrix[i, j], rtol=1e-6)


def test_clusters_stand_together() -> None:
    order = np.array(state_orders(two_sided())["cluster"]) % 2
    assert np.count_nonzero(np.diff(order)) == 1, "states with alike destinations are not side by side"


def test_orders_that_make_no_sense_are_refused(city: dpm.Release) -> None:
    with pytest.raises(ParameterError, match="order must be one of states, share, cluster; got 'random'"):
        dpm.figures.transitions(city, order="random")  # type: ignore[arg-type]


def test_many_states_show_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpmarkov.report.figures.matrix.SHOWN_STATES", 8)
    release = release_of(np.tile(np.r_[np.full(5, 5), np.full(8, 2000)], (13, 1)))
    heat = dpm.figures.transitions(release).data[0]
    assert set(heat.x) == {str(i) for i in range(5, 13)}


def test_flows_are_the_strongest(city: dpm.Release) -> None:
    flow = city.stationary_distribution[:, None] * city.transition_matrix
    best = strongest_flows(city, 20)
    assert [share for *_, share in best] == sorted(flow.ravel(), reverse=True)[:20]
    i, j, p, share = best[4]
    assert p == city.transition_matrix[i, j]
    assert share == flow[i, j]
    diagram = dpm.figures.flows(city, 20).data[0]
    assert np.allclose(diagram.link.value, sorted(flow.ravel(), reverse=True)[:20])
    names = list(diagram.node.label)
    assert names[diagram.link.source[4]] == city.layout.target.labels[i]
    assert names[diagram.link.target[4]] == city.layout.target.labels[j]
    with pytest.raises(ParameterError, match="count must be a whole number from 1 to 500"):
        dpm.figures.flows(city, 0)


def test_stationary_bars(city: dpm.Release) -> None:
    bars = dpm.figures.stationary(city, 10).data[0]
    assert list(bars.x) == sorted(city.stationary_distribution, reverse=True)[:10]
    with pytest.raises(ParameterError, match="count must be a whole number >= 1"):
        dpm.figures.stationary(city, 0)


def test_mixing_curve_and_its_mark(city: dpm.Release) -> None:
    curve, mark = dpm.figures.mixing(city).data
    assert np.all(np.diff(curve.y) <= 1e-12)
    assert mark.x[0] == city.chain.mixing_time()
    assert mark.y[0] <= 0.25


def test_eigenvalues_lie_in_the_circle(city: dpm.Release) -> None:
    points = dpm.figures.eigenvalues(city).data[1]
    assert len(points.x) == 60
    assert np.isclose(max(points.customdata), 1.0)
    assert np.all(np.hypot(points.x, points.y) <= 1 + 1e-9)


def test_privacy_curve_goes_through_the_claim(city: dpm.Release) -> None:
    curve, claim = dpm.figures.privacy(city).data
    assert claim.x[0] == 1.0
    assert claim.y[0] == city.guarantee.delta <= 1e-6
    at = np.interp(1.0, curve.x, np.log(curve.y))
    assert np.isclose(np.exp(at), city.guarantee.delta, rtol=0.2)
    assert np.all(np.diff(curve.y) < 0)
    assert "1e-06" in claim.name


def test_accuracy_falls_with_epsilon_and_marks_this_release(city: dpm.Release) -> None:
    figure = dpm.figures.accuracy(city, events=(20_000, 2_000_000))
    *lines, here = figure.data
    for line, error in zip(lines, here.y, strict=True):
        assert np.all(np.diff(line.y) < 0)
        assert error in line.y
    assert list(here.x) == [1.0, 1.0]
    assert lines[0].y[0] > lines[1].y[0]


def test_a_pure_guarantee_has_delta_zero(noisy: dpm.Release) -> None:
    curve, claim = dpm.figures.privacy(noisy).data
    assert claim.y[0] == noisy.guarantee.delta == 0
    assert dpm.figures.privacy(noisy).layout.yaxis.type is None
    assert curve.y[np.argmin(np.abs(curve.x - 1.0))] == 0


def test_accuracy_of_noise_on_counts(noisy: dpm.Release) -> None:
    """At the release's own size, and for sizes that are given."""
    line, here = dpm.figures.accuracy(noisy).data
    assert line.name == "data of this size"
    assert line.y[0] > here.y[0] > line.y[-1]
    large, _ = dpm.figures.accuracy(noisy, events=(3_000_000,)).data
    assert large.y[0] < line.y[0] / 5
    assert error_curve(noisy, np.array([1.0]), None) == pytest.approx(list(here.y))


def test_accuracy_counts_what_was_spent_before() -> None:
    """A look that took .8 of epsilon 1 leaves the noise of a release at .2, at every point of the curve."""
    profile = Profile(((PurePair(epsilon=0.8),),))
    look = Charge(
        purpose="a look", unit="event", relation="replace", epsilon=0.8, delta=0.0, profile=profile, result={}
    )
    counts = dpm.TransitionCounts(dpm.Layout.square(dpm.StateSpace.range(0, 8)), np.full(64, 40))
    unit = dpm.Event(relation="replace")
    options = {"unit": unit, "mechanism": "laplace", "seed": 1}
    paid = dpm.release(counts, budget=dpm.Budget(epsilon=1), charges=[look], **options)
    alone = dpm.release(counts, budget=dpm.Budget(epsilon=0.2), **options)
    grid = np.array([1.0, 2.0])
    assert error_curve(paid, grid, 2560) == pytest.approx(error_curve(alone, grid / 5, 2560), rel=0.05)
    assert error_curve(paid, grid, 2560)[0] > 2 * error_curve(alone, grid, 2560)[0]


def test_accuracy_beside_bought_totals_has_no_jump_at_its_own_epsilon() -> None:
    counts = dpm.TransitionCounts(dpm.Layout.square(dpm.StateSpace.range(0, 8)), np.full(64, 40))
    made = dpm.release(
        counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1, delta=1e-6), form="prior", totals_share=0.2
    )
    before, here, after = error_curve(made, np.array([0.99, 1.0, 1.01]), 2560)
    assert before > here > after
    assert before - after < 0.05 * here


def test_forty_rows_stand_for_all(city: dpm.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.round(3000 * city.transition_matrix).astype(np.int64)
    noisy = release_of(counts, mechanism="laplace")
    [few] = error_curve(noisy, np.array([1.0]), None)
    monkeypatch.setattr("dpmarkov.report.expected._ROWS", 60)
    [all_rows] = error_curve(noisy, np.array([1.0]), None)
    assert few == pytest.approx(all_rows, rel=0.2)


@pytest.mark.parametrize(("form", "events"), [("floor", 300), ("prior", 300), ("floor", 20_000)])
def test_expected_error_is_what_draws_show(form: str, events: int) -> None:
    """2,000 draws: the standard error is below 1 %; the formula takes cells as normal."""
    rng = np.random.default_rng(5)
    shape = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
    weight, floor = 0.4, 6.0
    u = weight * events * shape
    u = np.maximum(u, floor) if form == "floor" else u + floor
    seen = np.abs(rng.dirichlet(u, 2000) - shape).sum(axis=1).mean() / 2
    cells = Support.full(1, 5)
    told = dirichlet_row_error(cells, shape, np.array([float(events)]), form=form, weight=weight, floor=floor)
    assert told == pytest.approx(seen, rel=0.06)
    twice = dirichlet_row_error(
        cells, shape, np.array([float(events)]), form=form, weight=weight / 2, floor=floor
    )
    assert twice != pytest.approx(seen, rel=0.06), "the check has no power"


def test_expected_error_without_the_prior_is_what_draws_show() -> None:
    """2,000 draws whose prior is taken out again; the prior's bias would be seen."""
    rng = np.random.default_rng(6)
    shape = np.array([0.4, 0.3, 0.15, 0.1, 0.05])
    weight, floor, events = 0.4, 6.0, 400.0
    cells = Support.full(1, 5)
    totals = np.array([weight * events])
    freed = [
        remove_prior(drawn, cells, prior=floor, weighted_totals=totals)
        for drawn in rng.dirichlet(weight * events * shape + floor, 2000)
    ]
    seen = np.abs(np.array(freed) - shape).sum(axis=1).mean() / 2
    options = {"form": "prior", "weight": weight, "floor": floor}
    told = dirichlet_row_error(cells, shape, np.array([events]), **options, freed=True)
    assert told == pytest.approx(seen, rel=0.06)
    assert dirichlet_row_error(cells, shape, np.array([events]), **options) != pytest.approx(seen, rel=0.06)


def test_map_draws_areas_and_points(places: dict[str, object]) -> None:
    release = release_of(np.tile([50_000, 20_000, 10_000, 5000, 1000], (5, 1)))
    for key in (None, "zone"):
        figure = dpm.figures.place_map(release, places, key)
        areas, points = figure.data[:-1], figure.data[-1]
        assert [trace.text.split(":")[0] for trace in areas] == ["0", "1", "2", "3"]
        assert None in areas[3].x, "the two parts of a MultiPolygon are joined by a line"
        assert points.text[0].startswith("4: ")
        lightness = [int(trace.fillcolor.strip("rgb()").split(",")[0]) for trace in areas]
        assert lightness == sorted(lightness), "a larger share must be darker"
    assert figure.layout.yaxis.scaleratio == pytest.approx(1 / np.cos(np.deg2rad(50.5)), rel=1e-3)


def test_map_refuses_what_it_cannot_draw(city: dpm.Release, tmp_path: object) -> None:
    def collection(geometry: object, identifier: object = 1) -> dict[str, object]:
        return {"type": "FeatureCollection", "features": [{"id": identifier, "geometry": geometry}]}

    point = {"type": "Point", "coordinates": [1, 2]}
    with pytest.raises(TableError, match="no feature of the GeoJSON is a declared state"):
        dpm.figures.place_map(city, collection(point, "nowhere"))
    with pytest.raises(TableError, match="'LineString'"):
        dpm.figures.place_map(city, collection({"type": "LineString", "coordinates": []}))
    for broken in ([None, 1], ["a", "b"], [], [float("nan"), 1]):
        with pytest.raises(TableError, match="no numbers"):
            dpm.figures.place_map(city, collection({"type": "Point", "coordinates": broken}))
    with pytest.raises(TableError, match="FeatureCollection"):
        dpm.figures.place_map(city, {"type": "Feature"})
    with pytest.raises(TableError, match="cannot be read"):
        dpm.figures.place_map(city, "/nowhere/at/all.geojson")


def test_names_are_text_in_every_figure(hostile: dpm.Release) -> None:
    labels = display_labels(hostile.layout.target)
    assert len(set(labels)) == len(HOSTILE)
    for make in (dpm.figures.transitions, dpm.figures.flows, dpm.figures.stationary):
        written = make(hostile).to_json()
        assert "</script" not in written
        for tag in ("<a href", "<img", "<b>bold"):
            assert tag not in json.dumps(json.loads(written), ensure_ascii=False)


@given(st.lists(st.text(max_size=60), min_size=2, max_size=12, unique=True))
def test_display_labels_are_distinct_and_visible(states: list[str]) -> None:
    for space in (dpm.StateSpace(states), dpm.StateSpace(range(len(states)), states)):
        labels = display_labels(space)
        assert len(set(labels)) == len(states)
        assert all(label.strip() for label in labels)
        assert all(len(label) <= 100 and label.encode() for label in labels)
        assert not any(c in label for label in labels for c in "\x00\n\r\u2028\u202e")


def test_questions_without_an_answer_say_why(tmp_path: object) -> None:
    space = dpm.StateSpace(["a", "b", "c"])
    single = dpm.release(
        dpm.TransitionCounts(dpm.Layout(target=space), np.array([90, 9, 1])), unit=dpm.Event(), budget=BUDGET
    )
    for make in (dpm.figures.transitions, dpm.figures.flows, dpm.figures.mixing, dpm.figures.eigenvalues):
        with pytest.raises(ChainError, match=r"single distribution|Markov chain"):
            make(single)
    assert list(dpm.figures.stationary(single).data[0].x) == sorted(single.probabilities, reverse=True)
    other = dpm.Layout(target=space, source=dpm.StateSpace(["x", "y"]))
    matrix = dpm.release(dpm.TransitionCounts(other, np.full(6, 300)), unit=dpm.Event(), budget=BUDGET)
    assert list(dpm.figures.transitions(matrix).data[0].y) == ["x", "y"]
    with pytest.raises(ChainError, match="needs a Markov chain"):
        dpm.figures.transitions(matrix, order="cluster")
    with pytest.raises(ChainError, match="from-states and to-states differ"):
        dpm.figures.stationary(matrix)
    groups = dpm.Layout(target=space, source=space, groups=dpm.StateSpace(["am", "pm"]))
    grouped = dpm.release(dpm.TransitionCounts(groups, np.full(18, 300)), unit=dpm.Event(), budget=BUDGET)
    with pytest.raises(InputError, match=r"2 groups.*release\.of\('am'\)"):
        dpm.figures.transitions(grouped)
    assert isinstance(dpm.figures.transitions(grouped.of("pm")), go.Figure)


def test_a_look_is_kept_for_one_release(city: dpm.Release) -> None:
    assert look_at(city) is look_at(city)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize(("theme", "paper"), [(LIGHT, "#ffffff"), (DARK, "#161c24")])
def test_colours_can_be_read(theme: dict[str, dict[str, object]], paper: str) -> None:
    """Contrast of 3:1 for marks (WCAG 1.4.11); a scale whose lightness only rises or only falls."""
    back = _luminance(paper)
    for colour in theme["layout"]["colorway"]:  # type: ignore[attr-defined]
        low, high = sorted([back, _luminance(colour)])
        assert (high + 0.05) / (low + 0.05) >= 3, colour
    steps = [_luminance(c) for _, c in theme["data"]["heatmap"][0]["colorscale"]]  # type: ignore[index]
    change = np.diff(steps)
    assert np.all(change < 0) or np.all(change > 0)


@pytest.mark.parametrize(
    ("share", "written"), [(0.0, "0"), (1.0, "100"), (0.999999, "100"), (1e-9, "1.00e-07"), (0.25, "25")]
)
def test_percent(share: float, written: str) -> None:
    assert percent(share) == written + "\u00a0%"


def test_a_single_distribution_has_error_bars() -> None:
    layout = dpm.Layout(target=dpm.StateSpace(list("ABCDF")))
    counts = dpm.TransitionCounts(layout, np.array([31, 28, 20, 12, 7]))
    made = dpm.release(counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1), seed=2)
    known = share_intervals(made)
    assert known is not None
    assert np.all((known.low < known.value) & (known.value < known.high))
    bars = dpm.figures.stationary(made).data[0]
    assert np.all(np.asarray(bars.error_x.array) > 0)
