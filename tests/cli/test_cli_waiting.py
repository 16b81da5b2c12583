"""Long work shows a sign of life on a terminal, and nowhere else."""

import os
import pty
import subprocess
import sys

CODE = """
import time
from dpmarkov.cli.waiting import waiting
with waiting("Planning"):
    time.sleep(0.4)
print("done")
"""


def test_nothing_is_shown_where_nobody_looks() -> None:
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert (found.stdout, found.stderr) == ("done\n", "")


def test_a_terminal_shows_what_is_being_done() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    found = subprocess.run(
        [sys.executable, "-c", CODE], stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert found.stdout == b"done\n"
    assert "Planning" in shown
    assert "0:00:00" in shown
