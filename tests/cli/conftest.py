"""Run the command line as a user does, in process: its own exit codes, its own standard error."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from dpmarkov.cli import main


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["dpmarkov", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        assert "a bug of dpmarkov" not in captured.err
        return Result(int(stop.value.code or 0), captured.out, captured.err)

    return call
