"""The guide's code and the example run as they stand."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_guides_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "docs" / "correlated.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) >= 4
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "docs/correlated.md", "exec"), scope)
    shown = capsys.readouterr().out
    assert "group privacy" in shown
    assert "2 2.0" in shown


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "sleep_time_points.py"), run_name="__main__")
    assert "Both releases together: epsilon = 1." in capsys.readouterr().out
