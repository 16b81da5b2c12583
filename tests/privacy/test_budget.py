"""Budgets and charges as values: what is refused, how they print, how they are kept."""

import math
from pathlib import Path

import numpy as np
import pytest

import dpmarkov as dpm
from dpmarkov.errors import EngineError, ParameterError
from dpmarkov.privacy.charge import Charge
from dpmarkov.privacy.pairs import ApproximatePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.readable import budget_warning, odds_factor


@pytest.mark.parametrize("given", [True, np.True_, "1", b"1", None, 1j, "nan", 10**400])
def test_what_is_no_number_is_no_budget(given: object) -> None:
    with pytest.raises(ParameterError, match="epsilon must be a finite number > 0; got"):
        dpm.Budget(epsilon=given)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="0 <= delta < 1; got"):
        dpm.Budget(epsilon=1, delta=given)  # type: ignore[arg-type]


def test_numbers_of_any_kind_are_a_budget() -> None:
    assert dpm.Budget(epsilon=np.int64(2), delta=np.float32(0)) == dpm.Budget(epsilon=2.0)


def test_a_claim_is_printed_rounded_up() -> None:
    assert str(dpm.Budget(epsilon=0.12345649)) == "epsilon = 0.123457, delta = 0"
    assert str(dpm.Budget(epsilon=0.1)) == "epsilon = 0.1, delta = 0"
    assert str(dpm.Budget(epsilon=1000)) == "epsilon = 1000, delta = 0"
    assert budget_warning(1000, 0).startswith("epsilon = 1000 is large")
    for epsilon in (1e-300, 0.1, math.log(2), 1.0, 7.3, 12.0, 19.9):
        for form in (".4g", ",.0f"):
            assert float(odds_factor(epsilon, form).replace(",", "")) >= math.exp(epsilon)
            assert int(odds_factor(epsilon + 21, form).removeprefix("10^")) >= (epsilon + 21) / math.log(10)
    assert odds_factor(1.0, ".4g") == "2.719"


def charge() -> Charge:
    profile = Profile(((ApproximatePair(epsilon=0.3, delta=0.0),),))
    return Charge(
        purpose="look", unit="event", relation="add_remove", epsilon=0.3000004, delta=0.0, profile=profile,
        result={"max_events": 3},
    )  # fmt: skip


def test_a_charge_is_a_value() -> None:
    assert len({charge(), charge()}) == 1
    assert charge().in_words() == "look: epsilon = 0.300001, delta = 0"


def test_a_charge_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = charge().save(tmp_path / "charge.json")
    before = path.read_bytes()
    with pytest.raises(ParameterError, match=r"--overwrite; in Python overwrite=True"):
        charge().save(path)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(EngineError, match="No space left on device"):
        charge().save(path, overwrite=True)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    assert Charge.load(charge().save(path, overwrite=True)) == charge()
