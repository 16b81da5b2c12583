"""Every block of code in README and docs runs, and every page and link is there."""

import ast
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from doc_code import ROOT, commands, pages, python_blocks
from doc_files import write_files

import dpmarkov as dpm
from dpmarkov.cli import COMMANDS, cli

PAGES = pages()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    states = dpm.StateSpace.read(folder / "zones.csv", column="LocationID", label="Zone")
    counts = dpm.count(folder / "trips.parquet", source="pickup_zone", target="dropoff_zone", states=states)
    made = dpm.release(counts, unit=dpm.Event(), budget=dpm.Budget(epsilon=1, delta=1e-6))
    for name in ("release", "this-year", "last-year"):
        made.save(folder / name)
    return folder


@pytest.fixture
def place(files: Path, tmp_path: Path) -> Iterator[Path]:
    """A fresh copy of the files, as the working directory."""
    folder = tmp_path / "work"
    shutil.copytree(files, folder)
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


def clear(text: str) -> None:
    """Take away the releases that this text makes itself."""
    for name in re.findall(r"""(?:save\("|--out )([\w-]+)/?(?:"|\s|$)""", text):
        if Path(name).is_dir():
            shutil.rmtree(name)


@pytest.mark.parametrize("page", [p for p in PAGES if python_blocks(p)], ids=lambda p: p.name)
def test_python_runs(page: Path, place: Path) -> None:
    """The blocks of a page, in order, in one namespace."""
    clear(page.read_text(encoding="utf-8"))
    namespace: dict[str, object] = {"__name__": "docs"}
    for block in python_blocks(page):
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, namespace)


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_commands_run(page: Path, place: Path) -> None:
    """The commands of a page, in order; of those with `...` only the options are checked."""
    clear(page.read_text(encoding="utf-8"))
    for line, command in commands(page):
        if command[0] == "demo":
            continue  # tests/cli runs it
        if "..." in command:
            known = cli.get_command(None, command[0])  # type: ignore[arg-type]
            options = {name for parameter in known.params for name in parameter.opts}  # type: ignore[union-attr]
            assert {word for word in command if word.startswith("--")} <= options, f"{page.name}:{line}"
            continue
        outcome = CliRunner().invoke(cli, command, standalone_mode=False)
        assert outcome.exception is None, f"{page.name}:{line}: {command}: {outcome.exception}"


def test_the_pages_are_read() -> None:
    """The check has power: blocks and commands are found where they are known to be."""
    names = {page.name: page for page in PAGES}
    assert len(python_blocks(names["units.md"])) == 2
    assert [command[0] for _, command in commands(names["index.md"])] == ["plan", "release", "show", "report"]
    assert all(command[0] in COMMANDS for page in PAGES for _, command in commands(page))
    text = (ROOT / "docs" / "units.md").read_text(encoding="utf-8").split("\n")
    assert text[python_blocks(names["units.md"])[0].line - 1] == "import dpmarkov as dpm"


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE))
    assert listed == {page.name for page in PAGES[1:]}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"


def test_reference_names_exist() -> None:
    """Each `::: name` is importable, and what is public stands in the reference."""
    import importlib

    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^::: (\S+)$", text, flags=re.MULTILINE)
    for name in listed:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute), name
    last = {name.rpartition(".")[2] for name in listed}
    modules = {"figures", "DpmarkovError", *dpm._ROOMS}
    missing = {name for name in dir(dpm) if not name.startswith("_")} - last - modules
    assert not missing, f"docs/reference.md lacks {sorted(missing)}"


def test_examples_are_documented_and_compile() -> None:
    for example in sorted((ROOT / "examples").glob("*.py")):
        tree = ast.parse(example.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), example.name


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_has_no_machine_in_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "/work/" not in text
    assert "/tmp/" not in text


def test_the_site_builds_strictly_and_asks_no_network(tmp_path: Path) -> None:
    """A broken link, a page outside the navigation's reach or a name that is gone fails the build."""
    pytest.importorskip("mkdocs", reason="the docs' tools are not installed (make docs installs them)")
    built = subprocess.run(
        [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--site-dir",
            str(tmp_path / "site"),
        ],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Start here" in page
    assert not re.findall(r"""<(?:script|link|img)[^>]+(?:src|href)=["']?(?:https?:)?//[^>]+>""", page)
    reference = (tmp_path / "site" / "reference.html").read_text(encoding="utf-8")
    assert 'id="dpmarkov.releases.make.release"' in reference
