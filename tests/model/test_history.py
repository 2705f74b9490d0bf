"""A history has its decisions and events in one order."""

from __future__ import annotations

from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.model.events import GroupEmptied, GroupRefilled, InstanceStopped
from assignor_lab.model.evidence import Evidence, InferenceRule
from assignor_lab.model.history import RECORDED, GroupHistory, GroupName, Outage
from assignor_lab.model.moment import Moment

_SEEN = Evidence.inferred(InferenceRule.ABSENT)


def _decision(time_ms: int, number: int) -> Decision:
    share = InstanceShare("p1", frozenset({"m1", "m2"}), ("0_0", "0_1"))
    return Decision(Moment.at(time_ms), _SEEN, "classic", number, {"b1": share})


def _history(*events: GroupEmptied | GroupRefilled | InstanceStopped) -> GroupHistory:
    return GroupHistory(GroupName("app"), RECORDED, (_decision(100, 1), _decision(900, 3)), events)


def test_event_of_an_interval_is_before_the_decision_that_shows_it() -> None:
    stopped = InstanceStopped(Moment(101, 900), _SEEN, "b2")
    entries = _history(stopped).entries

    assert [each.at.latest_ms for each in entries] == [100, 900, 900]
    assert entries[1] == stopped


def test_outage_ends_with_the_first_member() -> None:
    emptied, refilled = GroupEmptied(Moment.at(200), _SEEN), GroupRefilled(Moment.at(800), _SEEN, 600)

    assert list(_history(emptied, refilled).outages) == [Outage(200, 800)]
    assert not _history(emptied, refilled).is_empty_now


def test_group_without_members_is_empty_now() -> None:
    history = _history(GroupEmptied(Moment.at(200), _SEEN))

    assert list(history.outages) == [Outage(200, None)]
    assert history.is_empty_now


def test_decision_counts_members_and_owners() -> None:
    decision = _decision(100, 1)

    assert decision.members == 2
    assert decision.owners == {"0_0": "b1", "0_1": "b1"}
