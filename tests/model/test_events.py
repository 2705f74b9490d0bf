"""Events are values with words of their own."""

from __future__ import annotations

import attrs
import pytest

from assignor_lab.model import events
from assignor_lab.model.events import (
    DecisionFailed,
    GroupEvent,
    GroupRefilled,
    InstanceRestartedInSession,
    PollTimedOut,
    TopologyChanged,
)
from assignor_lab.model.evidence import Evidence, InferenceRule
from assignor_lab.model.moment import Moment

_AT = Moment.at(1_000)
_SEEN = Evidence.inferred(InferenceRule.REWRITTEN)
#: A value for each annotation of an event's own fields.
_VALUES = {
    "bool": True,
    "str": "b1",
    "str | None": "7",
    "int": 90_000,
    "int | None": 5,
    "tuple[str, ...]": ("0_0", "0_1"),
}
_CLASSES = [getattr(events, name) for name in events.__all__ if name != "GroupEvent"]


def _made(of: type[GroupEvent]) -> GroupEvent:
    own = {field.name: _VALUES[str(field.type)] for field in attrs.fields(of) if field.name not in ("at", "evidence")}
    return of(_AT, _SEEN, **own)


@pytest.mark.parametrize("of", _CLASSES)
def test_each_event_is_a_frozen_value_with_a_sentence(of: type[GroupEvent]) -> None:
    event = _made(of)

    assert event == _made(of)
    assert len({event, _made(of)}) == 1
    assert event.sentence
    assert event.type.islower()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        event.at = Moment.at(2)  # type: ignore[misc]


def test_types_of_events_are_distinct() -> None:
    types = [_made(of).type for of in _CLASSES]

    assert len(set(types)) == len(types)
    assert InstanceRestartedInSession(_AT, _SEEN, "b1").type == "instance_restarted_in_session"


def test_sentences_name_the_cause() -> None:
    assert PollTimedOut(_AT, _SEEN, "b1", "2", 300_000).sentence == (
        "thread 2 of b1 did not poll within max.poll.interval.ms of 300,000 ms and left"
    )
    assert DecisionFailed(_AT, _SEEN, "source topic orders is missing").sentence == (
        "no assignment was made: source topic orders is missing"
    )
    assert GroupRefilled(_AT, _SEEN, 1_500_000).sentence == "the group has members again after 25 min 0 s without any"
    assert TopologyChanged(_AT, _SEEN, ("1_0",), ()).sentence == "the topology or its topics changed: 1 task more"


def test_moment_is_a_point_or_an_interval() -> None:
    assert Moment.at(5).is_exact
    assert Moment(5, 9).later(10) == Moment(15, 19)
    with pytest.raises(ValueError, match="ends before it begins"):
        Moment(9, 5)
