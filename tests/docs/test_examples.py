"""The worked examples run, and say what they promise."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROMISED = {
    "taxi.py": ("Protected", "Mixing time", "A page for the board", "Mean error of a row"),
    "web_clicks.py": ("one user with all events", "front >", "±"),
    "sleep_time_points.py": ("Pufferfish", "Both releases together"),
    "private_policy.py": ("expected total reward",),
}


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_example(name: str, tmp_path: Path) -> None:
    arguments = [str(tmp_path / "out")] if name == "taxi.py" else []
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    for words in PROMISED.get(name, ()):
        assert words in done.stdout
    if name == "taxi.py":
        error = float(done.stdout.rsplit(" ", 1)[1])
        assert 0 < error < 0.05
        assert (tmp_path / "out" / "report.html").stat().st_size > 1_000_000
