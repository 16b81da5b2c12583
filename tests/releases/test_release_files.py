"""A release on disk: written whole or not at all, the same shape whatever was drawn, checked on loading."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import dpmarkov as dpm
from dpmarkov.errors import EngineError, ParameterError, ReleaseFormatError
from dpmarkov.mechanisms.noisy_posterior import NoisyPosterior
from dpmarkov.postprocess import NoiseLaw, estimate_probabilities
from dpmarkov.releases import files

BUDGET = dpm.Budget(epsilon=1, delta=1e-6)


def counts_of(
    matrix: object, states: dpm.StateSpace | None = None, **options: object
) -> dpm.TransitionCounts:
    array = np.asarray(matrix)
    space = states or dpm.StateSpace(["a", "b", "c"], labels=["Ä one", "B two", "C three"])
    layout = dpm.Layout(target=space, source=None if array.ndim == 1 else space, **options)  # type: ignore[arg-type]
    return dpm.TransitionCounts.from_matrix(array, layout=layout)


def made(matrix: object = ((900, 50, 3), (0, 400, 20), (70, 0, 0)), **options: object) -> dpm.Release:
    return dpm.release(counts_of(matrix), unit=dpm.Event(), budget=BUDGET, **options)  # type: ignore[arg-type]


def test_round_trip(tmp_path: Path) -> None:
    release = made()
    folder = release.save(tmp_path / "out")
    assert sorted(p.name for p in folder.iterdir()) == [
        "counts.parquet",
        "release.json",
        "transitions.parquet",
    ]
    again = dpm.load(folder)
    assert np.array_equal(again.noisy_counts, release.noisy_counts)
    assert again.mechanism["reason"] == release.mechanism["reason"]
    assert np.array_equal(again.probabilities, release.probabilities)
    assert again.layout == release.layout
    assert again.guarantee.to_dict() == release.guarantee.to_dict()
    assert again.guarantee.describe() == release.guarantee.describe()
    assert again.mechanism == release.mechanism
    table = pq.read_table(folder / "transitions.parquet")
    assert table.column_names == ["from", "to", "probability", "from_label", "to_label"]
    assert table.column("from").to_pylist()[:4] == ["a", "a", "a", "b"]
    assert table.column("to_label").to_pylist()[:3] == ["Ä one", "B two", "C three"]


def test_the_json_says_what_a_script_needs(tmp_path: Path) -> None:
    folder = made().save(tmp_path / "out")
    document = json.loads((folder / "release.json").read_text())
    assert document["schema_version"] == 1
    assert document["guarantee"]["epsilon"] == 1
    assert 0 <= document["guarantee"]["delta"] <= 1e-6
    assert "add_remove" in document["guarantee"]["relation"]
    assert document["made"]["private"] is True


def test_size_and_order_of_the_files_do_not_depend_on_the_data(tmp_path: Path) -> None:
    sizes, shapes = set(), set()
    for i, matrix in enumerate([np.zeros((3, 3), int), np.full((3, 3), 10**6), np.diag([5, 0, 10**9])]):
        folder = made(matrix).save(tmp_path / str(i))
        sizes.add(tuple((path.name, path.stat().st_size) for path in sorted(folder.iterdir())))
        document = json.loads((folder / "release.json").read_text())
        # What is left differs by nothing but hashes and the clock.
        del document["files"], document["made"]["time"], document["cite"]
        shapes.add(json.dumps(document))
    assert len(sizes) == len(shapes) == 1


def test_noisy_numbers_carry_the_law_of_their_noise(tmp_path: Path) -> None:
    """A file that is sent on alone leads back to the same rows, by public parameters alone."""
    release = made(mechanism="laplace", postprocess="project")
    path = release.save(tmp_path / "counts") / "counts.parquet"
    table = pq.read_table(path)
    told = json.loads(table.schema.metadata[b"dpmarkov"])
    assert told["noise_std"] == release.mechanism["noise_std"]
    law = NoiseLaw(**told["noise"])
    assert law == NoiseLaw(kind="laplace", scale=release.mechanism["scale"])
    rows = estimate_probabilities(
        np.asarray(table.column("noisy_count")), release.layout, law, method="project"
    )
    assert np.array_equal(rows, release.probabilities)
    assert pq.read_schema(path.with_name("transitions.parquet")).metadata is None

    bought = made(form="prior", totals_share=0.1)
    told = json.loads(
        pq.read_schema(bought.save(tmp_path / "totals") / "row_totals.parquet").metadata[b"dpmarkov"]
    )
    assert told["noise"] == {"kind": "laplace", "scale": bought.mechanism["totals_scale"]}

    drawn = made(mechanism=NoisyPosterior(sigma=20.0, prior=1.0))
    folder = drawn.save(tmp_path / "drawn")
    assert json.loads(pq.read_schema(folder / "counts.parquet").metadata[b"dpmarkov"]) == {
        "noise": {"kind": "gaussian", "scale": 20.0},
        "noise_std": 20.0,
    }
    # A mechanism of somebody's own may mean anything by its parameters, and older files say nothing.
    own = replace(release, mechanism={"name": "own", "noise": "loud", "scale": "large"})
    assert pq.read_schema(own.save(tmp_path / "own") / "counts.parquet").metadata is None
    assert np.array_equal(dpm.load(tmp_path / "own").noisy_counts, release.noisy_counts)


def test_a_single_distribution_and_a_rectangle(tmp_path: Path) -> None:
    one = dpm.release(counts_of([5, 10, 0]), unit=dpm.Event(), budget=BUDGET)
    again = dpm.load(one.save(tmp_path / "one"))
    assert again.transition_matrix.shape == (1, 3)
    assert pq.read_table(tmp_path / "one" / "transitions.parquet").column_names == [
        "to",
        "probability",
        "to_label",
    ]
    with pytest.raises(dpm.DpmarkovError, match="not a Markov chain"):
        _ = again.chain


def test_a_support_stays_zero(tmp_path: Path) -> None:
    space = dpm.StateSpace(["a", "b", "c"])
    support = dpm.Support.from_pairs(space, space, [("a", "b"), ("b", "c"), ("b", "b"), ("c", "a")])
    release = dpm.release(
        counts_of(np.full((3, 3), 9), space, support=support), unit=dpm.Destination(), budget=BUDGET
    )
    matrix = dpm.load(release.save(tmp_path / "out")).transition_matrix
    assert np.count_nonzero(matrix) == 4
    assert matrix[0, 1] == 1.0


def test_an_output_that_is_in_use_is_refused(tmp_path: Path) -> None:
    release = made()
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("precious")
    with pytest.raises(ParameterError, match="not empty"):
        release.save(full)
    with pytest.raises(ParameterError, match=r"thesis\.txt"):
        release.save(full, overwrite=True)
    assert (full / "thesis.txt").read_text() == "precious"
    release.save(tmp_path / "out")
    with pytest.raises(ParameterError, match="not empty"):
        made().save(tmp_path / "out")
    second = made()
    second.save(tmp_path / "out", overwrite=True)
    assert np.array_equal(dpm.load(tmp_path / "out").probabilities, second.probabilities)
    with pytest.raises(ParameterError, match="is a file"):
        release.save(full / "thesis.txt")
    empty = tmp_path / "empty"
    empty.mkdir()
    release.save(empty)


def test_a_disk_that_fills_up_half_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made()
    first.save(tmp_path / "out")
    write = files._write

    def full_disk(path: Path, data: bytes) -> None:
        if path.name == "release.json":
            write(path, data[:10])
            raise OSError(28, "No space left on device")
        write(path, data)

    monkeypatch.setattr(files, "_write", full_disk)
    with pytest.raises(EngineError, match="No space left on device; nothing was left there"):
        made().save(tmp_path / "new")
    with pytest.raises(EngineError, match="No space left"):
        made().save(tmp_path / "out", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert np.array_equal(dpm.load(tmp_path / "out").probabilities, first.probabilities)


def test_damaged_foreign_and_newer_files_are_told_apart(tmp_path: Path) -> None:
    folder = made().save(tmp_path / "out")
    manifest = folder / "release.json"
    table = folder / "transitions.parquet"
    text, data = manifest.read_text(), table.read_bytes()

    def broken(change: object) -> str:
        with pytest.raises(ReleaseFormatError) as caught:
            dpm.load(folder)
        manifest.write_text(text)
        table.write_bytes(data)
        return str(caught.value)

    flipped = bytearray(data)
    flipped[len(flipped) // 2] ^= 1
    assert "does not match its hash" in broken(table.write_bytes(bytes(flipped)))
    assert "damaged" in broken(manifest.write_text(text[: len(text) // 2]))
    assert "not written by dpmarkov" in broken(manifest.write_text("{}"))
    assert "not written by dpmarkov" in broken(manifest.write_text("[1]"))
    assert "reads 1 to 1" in broken(
        manifest.write_text(text.replace('"schema_version": 1', '"schema_version": 9'))
    )
    assert "transitions.parquet cannot be read: No such file" in broken(table.unlink())
    document = json.loads(text)
    for key in ("layout", "guarantee", "mechanism", "made", "files"):
        part = {k: v for k, v in document.items() if k != key}
        message = broken(manifest.write_text(json.dumps(part)))
        assert "damaged" in message or "cannot be loaded" in message
    document["guarantee"]["unit"]["name"] = "galaxy"
    assert "unknown unit 'galaxy'" in broken(manifest.write_text(json.dumps(document)))
    with pytest.raises(ReleaseFormatError, match=r"there is no .*nowhere; give the directory"):
        dpm.load(tmp_path / "nowhere")
    dpm.load(folder)


def test_a_seed_stamps_everything(tmp_path: Path) -> None:
    first, second = made(seed=3), made(seed=3)
    assert np.array_equal(first.probabilities, second.probabilities)
    again = dpm.load(first.save(tmp_path / "out"))
    for text in (str(first), str(again), str(again.guarantee)):
        assert "SEEDED: NOT PRIVATE" in text
    assert json.loads((tmp_path / "out" / "release.json").read_text())["made"]["private"] is False
    assert "SEEDED" not in str(made())


def test_an_empty_table_yields_a_release() -> None:
    release = made(np.zeros((3, 3), int))
    assert np.allclose(release.transition_matrix.sum(axis=1), 1)
    assert release.guarantee.delta == 0
    assert 0 < made(np.zeros((3, 3), int), mechanism="dirichlet").guarantee.delta <= 1e-6


def test_print_outs_are_readable() -> None:
    text = str(made(mechanism="dirichlet"))
    for word in ("Protected", "From whom", "Neighbours", "Evidence", "Assumptions", "1e-06", "add_remove"):
        assert word in text
    assert "0.000 " not in text
    assert max(map(len, text.splitlines())) <= 110


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": dpm.Budget(epsilon=1), "mechanism": "dirichlet"}, "pure"),
        ({"mechanism": "magic"}, "mechanism must be one of auto, laplace, gaussian, dirichlet"),
        ({"mechanism": "laplace", "floor": 1.0}, "belong to the Dirichlet mechanism"),
        ({"form": "neither"}, "form must be one of"),
        ({"floor": -1.0}, "floor must be a number"),
        ({"expected_events": 0}, "the expected number of events must be a number from 1 to"),
        ({"budget": (1, 1e-6)}, "budget must be a dpmarkov.Budget"),
        ({"unit": "event"}, "unit must be a unit"),
        ({"seed": -1}, "seed must be an integer >= 0"),
        ({"mechanism": None}, "mechanism must be auto"),
        ({"mechanism": "magic"}, "auto"),
    ],
)
def test_bad_requests_are_refused(options: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"unit": dpm.Event(), "budget": BUDGET, **options}
    with pytest.raises(dpm.DpmarkovError, match=message):
        dpm.release(counts_of(np.ones((3, 3), int)), **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), "x", None])
def test_bad_epsilon(epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a finite number > 0; got"):
        dpm.Budget(epsilon=epsilon, delta=1e-6)  # type: ignore[arg-type]


@pytest.mark.parametrize("delta", [-1e-9, 1, 2.5, float("nan")])
def test_bad_delta(delta: float) -> None:
    with pytest.raises(ParameterError, match="0 <= delta < 1"):
        dpm.Budget(epsilon=1, delta=delta)


def test_a_mechanism_of_ones_own_must_fit_the_budget() -> None:
    from dpmarkov.mechanisms.dirichlet import Dirichlet

    counts = counts_of(np.ones((3, 3), int))
    fits = Dirichlet(form="prior", weight=2.0**-5, alpha=1.0)
    assert dpm.release(counts, unit=dpm.Event(), budget=BUDGET, mechanism=fits).guarantee.delta <= 1e-6
    greedy = Dirichlet(form="prior", weight=1.0, alpha=1.0)
    with pytest.raises(ParameterError, match="nothing was drawn"):
        dpm.release(counts, unit=dpm.Event(), budget=BUDGET, mechanism=greedy)


def test_evidence_says_whether_it_is_exact_or_a_bound() -> None:
    """One pair, or losses on a lattice, is exact; a composition that rounds up, or a norm bound, is not."""
    from dpmarkov.mechanisms.additive import Additive
    from dpmarkov.postprocess import NoiseLaw
    from dpmarkov.privacy.unit import User
    from dpmarkov.releases.make import guarantee_for

    layout = dpm.Layout.square(dpm.StateSpace(["a", "b", "c"]))

    def kind(noise: str, scale: float, unit: dpm.Event | User) -> str:
        mechanism = Additive(noise=NoiseLaw(kind=noise, scale=scale))  # type: ignore[arg-type]
        return guarantee_for(mechanism, unit=unit, budget=BUDGET, layout=layout).evidence.kind

    many = User(max_events=5, max_per_pair=1)
    assert kind("laplace", 1.0, dpm.Event()) == kind("laplace", 5.0, many) == "exact"
    assert kind("gaussian", 8.0, dpm.Event()) == "exact"
    assert kind("gaussian", 20.0, many) == "theorem"
    assert made(mechanism="dirichlet").guarantee.evidence.kind == "exact"


def test_a_guarantee_that_its_own_evidence_does_not_prove_is_refused(tmp_path):
    """The tables have hashes; the guarantee has its evidence."""
    folder = made(mechanism="gaussian").save(tmp_path / "r")
    manifest = folder / "release.json"
    whole = manifest.read_text()
    for change in ({"epsilon": 0.5}, {"delta": made(mechanism="gaussian").guarantee.delta / 2}):
        document = json.loads(whole)
        document["guarantee"] |= change
        manifest.write_text(json.dumps(document))
        with pytest.raises(
            ReleaseFormatError, match=r"evidence proves no less than .*: the file was changed"
        ):
            dpm.load(folder)


def test_a_table_must_be_counted_first():
    with pytest.raises(ParameterError, match=r"release takes what dpmarkov\.count gave; got list"):
        dpm.release([[1, 2]], unit=dpm.Event(), budget=dpm.Budget(epsilon=1))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads where Linux lists them")
def test_loading_leaves_no_thread_that_an_early_exit_would_meet(tmp_path: Path) -> None:
    folder = made().save(tmp_path / "out")
    code = (
        "import os, sys\nimport dpmarkov as dpm\nfrom dpmarkov.releases.files import load\n"
        "before = len(os.listdir('/proc/self/task'))\nload(sys.argv[1])\n"
        "sys.exit(len(os.listdir('/proc/self/task')) - before)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(folder)], check=False).returncode == 0


def test_a_file_that_may_not_be_read_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made().save(tmp_path / "out")

    def refuse(path: Path, *_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(
        ReleaseFormatError, match=r"release\.json cannot be read: Permission denied"
    ) as caught:
        dpm.load(folder)
    assert "damaged" not in str(caught.value)


def test_an_output_without_a_name_is_refused_in_words() -> None:
    with pytest.raises(ParameterError, match="an empty text; name a directory"):
        made().save("")


def test_the_release_is_found_by_its_file_too(tmp_path: Path) -> None:
    folder = made().save(tmp_path / "out")
    assert dpm.load(folder / "release.json").citation == dpm.load(folder).citation
    with pytest.raises(ReleaseFormatError, match=r"transitions\.parquet is a file; give the directory"):
        dpm.load(folder / "transitions.parquet")


def test_the_public_names_and_rooms_are_there_at_once() -> None:
    code = (
        "import dpmarkov as dpm\nfrom dpmarkov import *\n"
        "dpm.export.write_csv, dpm.odds.odds, dpm.utility, Budget, release\n"
        "assert not hasattr(dpm, 'nowhere')\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
