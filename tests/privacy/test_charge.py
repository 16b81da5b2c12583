"""A charge fits the unit and the relation that it was made for."""

import pytest

from dpmarkov.errors import UnitError
from dpmarkov.privacy.charge import Charge
from dpmarkov.privacy.pairs import PurePair
from dpmarkov.privacy.profile import Profile
from dpmarkov.privacy.unit import Destination, Event, User, Visit


def charge(unit, relation):
    return Charge(
        purpose="look",
        unit=unit,
        relation=relation,
        epsilon=0.1,
        delta=0.0,
        profile=Profile(((PurePair(epsilon=0.1),),)),
        result={},
    )


def test_the_unit_and_the_relation_must_agree():
    charge("destination", "replace").check(Destination())
    charge("visit", "add_remove").check(Visit())
    charge("event", "replace").check(Event(relation="replace"))
    charge("user", "add_remove").check(User(max_events=3))
    for wrong, unit in (
        (charge("event", "add_remove"), Event(relation="replace")),
        (charge("event", "replace"), User(max_events=3, relation="replace")),
        (charge("user", "replace"), User(max_events=3)),
    ):
        with pytest.raises(UnitError, match="same unit and relation"):
            wrong.check(unit)
