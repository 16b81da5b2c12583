"""The walls of the house: who may import whom."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[1] / "src" / "dpmarkov"

BASE = {"errors", "states", "support", "layout"}
ALLOWED = {
    "chain": {"errors", "states", "entropy"},
    "export": {"errors", "states", "support", "layout", "entropy", "releases", "chain", "whole"},
    "utility": BASE | {"entropy", "releases", "chain", "privacy", "postprocess", "noise"},
    "report": BASE
    | {"entropy", "releases", "chain", "privacy", "utility", "postprocess", "odds", "planning", "whole"},
    "postprocess": {"errors", "states", "support", "layout", "noise"},
}
FORBIDDEN = {
    "privacy": {"entropy", "mechanisms", "events", "counts", "releases", "cli", "chain"},
    "mechanisms": {"events", "releases", "cli"},
    "papers": {"entropy", "mechanisms", "events", "counts", "releases", "cli"},
    "events": {"mechanisms", "chain", "report", "utility", "cli"},
    "pufferfish": {"cli", "report", "utility", "planning"},
    "releases": {"cli", "report", "events"},
}


def rooms_imported(path: Path) -> dict[str, int]:
    """The rooms of ours that a file imports, with a line where it does; imports inside functions count."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                pytest.fail(f"{path}: relative import; this house imports by full names")
            names = [node.module or ""]
            if node.module == "dpmarkov":
                names = [f"dpmarkov.{alias.name}" for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "dpmarkov" and len(parts) > 1:
                found[parts[1]] = node.lineno
    return found


def files_of(room: str) -> list[Path]:
    folder = SRC / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else sorted(SRC.glob(f"{room}.py"))


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_room_imports_only_what_is_allowed(room: str) -> None:
    for path in files_of(room):
        for other, line in rooms_imported(path).items():
            assert other in ALLOWED[room] | {room}, f"{path.relative_to(SRC)}:{line} imports {other}"


@pytest.mark.parametrize("room", sorted(FORBIDDEN))
def test_room_does_not_import_what_is_forbidden(room: str) -> None:
    for path in files_of(room):
        for other, line in rooms_imported(path).items():
            assert other not in FORBIDDEN[room], f"{path.relative_to(SRC)}:{line} imports {other}"


def test_randomness_enters_in_one_place() -> None:
    """Only `entropy` asks the operating system or a numpy generator for randomness."""
    for path in SRC.rglob("*.py"):
        if path.name == "entropy.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    assert alias.name not in {"random", "secrets", "randomgen"}, f"{path}:{node.lineno}"
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] not in {"random", "secrets", "randomgen"}, path
            own = {"default_rng", "RandomState", "SystemRandom"}
            if isinstance(node, ast.Attribute) and node.attr in own:
                pytest.fail(f"{path}:{node.lineno} makes a generator of its own")


def test_no_bare_assert_in_src() -> None:
    """`python -O` removes asserts: a guarantee may not hang on one."""
    for path in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.Assert), f"{path}:{node.lineno}"


def test_the_walls_can_be_broken(tmp_path: Path) -> None:
    """The checker sees a forbidden import, also inside a function."""
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from dpmarkov.counts import Counts\n    import dpmarkov.events.sql\n")
    assert set(rooms_imported(bad)) == {"counts", "events"}
