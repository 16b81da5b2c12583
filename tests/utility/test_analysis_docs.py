"""docs/analysis.md and examples/two_years.py: the code runs and prints what it speaks of."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "analysis.md"


def test_the_guides_code_runs(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 7
    scope = {}
    for block in blocks:
        exec(compile(block, "docs/analysis.md", "exec"), scope)
    shown = capsys.readouterr().out
    assert "2 recurrent" not in shown
    assert "this one has 2: {'north', 'south'} (recurrent); {'island'} (recurrent)" in shown
    assert "privacy's noise alone" in shown
    assert "harbour -> station" in shown
    assert "NoiseLaw(kind=" in shown


def test_the_example_runs(capsys):
    runpy.run_path(str(ROOT / "examples" / "two_years.py"), run_name="__main__")
    shown = capsys.readouterr().out
    assert "trips until the airport" in shown
    assert "station -> airport" in shown
    assert "fingerprint" in shown
