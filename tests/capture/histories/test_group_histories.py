"""Real recordings become one history each, with the events between their decisions."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from assignor_lab.capture.histories.episodes import past_as_episodes
from assignor_lab.capture.histories.timeline import GroupTimeline, timeline_of
from assignor_lab.model.events import (
    GroupEmptied,
    GroupRefilled,
    InstanceGone,
    InstanceRestartedInSession,
    ProtocolChanged,
)
from assignor_lab.model.evidence import EvidenceKind
from tests.capture.event_recordings import EVENT_GROUPS, event_folder, event_history, run, shown


def test_each_static_restart_is_an_event_of_its_instance(tmp_path: Path) -> None:
    history = event_history(event_folder(tmp_path, "static"))
    restarts = [each for each in history.events if isinstance(each, InstanceRestartedInSession)]

    assert [(each.instance, each.number) for each in restarts] == [("b1", 2)] * 5
    assert [each.at.latest_ms for each in restarts] == sorted(each.at.latest_ms for each in restarts)


def test_scale_in_after_static_restarts_names_the_instance_that_left_alone(tmp_path: Path) -> None:
    last = timeline_of(event_history(event_folder(tmp_path, "static")))[-1]

    assert (last.gone, last.restarted, last.inferred_reason) == (("b2",), (), "b2 left, or the session ended")


def test_outage_has_its_begin_and_its_end(tmp_path: Path) -> None:
    history = event_history(event_folder(tmp_path, "outage"))
    first, last = history.outages

    assert first.until_ms is not None
    assert 55_000 < first.until_ms - first.since_ms < 80_000
    assert last.until_ms is None
    assert history.is_empty_now
    assert all(entry.missing is None for entry in timeline_of(history))


def test_first_decision_after_an_outage_has_new_instances_and_no_restarted_ones(tmp_path: Path) -> None:
    history = event_history(event_folder(tmp_path, "outage"))
    entry = next(each for each in timeline_of(history) if each.generation == 6)

    assert (entry.joined, entry.gone, entry.restarted) == (("o2",), (), ())
    assert entry.inferred_reason == "after 63 s without members; o2 joined"


def test_group_that_moved_between_protocols_has_one_history(tmp_path: Path) -> None:
    history = event_history(event_folder(tmp_path, "moved"))

    assert history.protocols == ("classic", "streams")
    assert [each.number for each in history.decisions] == [1, 2, 3, 4, 2, 3, 4]
    assert [(each.before, each.after) for each in history.events if isinstance(each, ProtocolChanged)] == [
        ("classic", "streams")
    ]
    assert {each.name for each in history.instances} == {"m1", "m2"}


def test_departure_under_the_streams_protocol_has_the_time_of_its_record(tmp_path: Path) -> None:
    """The next target follows with a heartbeat of another member, seconds later."""
    history = event_history(event_folder(tmp_path, "streamed"))
    gone = next(each for each in history.events if isinstance(each, InstanceGone) and each.instance == "f2")
    decided = next(each for each in history.decisions if each.number == 6)

    assert gone.evidence.kind is EvidenceKind.RECORD
    assert gone.at.is_exact
    assert decided.at.latest_ms - gone.at.latest_ms == 3_241


def test_departures_of_a_crash_loop_count_although_each_start_has_another_name(tmp_path: Path) -> None:
    history = event_history(event_folder(tmp_path, "looping"))
    gone = [each for each in history.events if each.is_departure]

    assert len(gone) == 6
    assert len({each.subject for each in gone}) == 6


@pytest.mark.parametrize("group", EVENT_GROUPS)
def test_no_departure_is_there_twice_between_two_decisions(group: str, tmp_path: Path) -> None:
    history = event_history(event_folder(tmp_path, group))
    before = None
    for decision in history.decisions:
        departed = Counter(
            each.subject
            for each in history.between(before, decision)
            if each.is_departure and not isinstance(each, InstanceRestartedInSession)
        )
        assert all(count == 1 for count in departed.values())
        before = decision


@pytest.mark.parametrize("group", EVENT_GROUPS)
def test_history_shows_each_event_at_its_time(group: str, tmp_path: Path) -> None:
    folder = event_folder(tmp_path, group)
    history = event_history(folder)
    text = run("history", folder).stdout
    timeline = GroupTimeline.of(history)
    (document,) = shown("history", folder)["histories"]

    assert text.count("restarted within its session") == sum(
        isinstance(each, InstanceRestartedInSession) for each in history.events
    )
    assert text.count("all instances are gone") == sum(isinstance(each, GroupEmptied) for each in history.events)
    assert text.count("the group has members again") == sum(isinstance(each, GroupRefilled) for each in history.events)
    assert len(timeline.rows) == len(timeline.entries) + len(timeline.own_events)
    assert [each["sentence"] for each in document["events"]] == [each.sentence for each in history.events]
    assert "is not there" not in text


@pytest.mark.parametrize("group", EVENT_GROUPS)
def test_recorded_downtime_is_at_most_tasks_times_time(group: str, tmp_path: Path) -> None:
    for scenario in past_as_episodes([str(event_folder(tmp_path, group))]):
        recorded, until_ms = scenario.document["recorded"], scenario.document["until_ms"]
        away = recorded["downtime"]["tasks"]

        assert away
        for intervals in away.values():
            assert all(0 <= begin < end <= until_ms for begin, end in intervals)
            assert all(before[1] <= after[0] for before, after in pairwise(intervals))


def test_stop_under_the_streams_protocol_precedes_its_epoch(tmp_path: Path) -> None:
    """Each action of a play gets the rebalances until the next action."""
    (scenario,) = past_as_episodes([str(event_folder(tmp_path, "streamed"))])
    document = scenario.document
    stopped = next(each for each in document["events"] if each["type"] == "stop" and each["client"] == "f2")
    decided = next(each for each in document["recorded"]["generations"] if each["generation"] == 6)

    assert stopped["at_ms"] < decided["t_ms"] <= decided["assignment_t_ms"]
    assert decided["assignment_t_ms"] - stopped["at_ms"] == 3_241


def test_parts_of_a_group_that_moved_have_names_of_their_own(tmp_path: Path) -> None:
    found = past_as_episodes([str(event_folder(tmp_path, "moved"))])

    assert [each.id for each in found] == ["moved (classic)", "moved (streams)"]
    assert [len(each.document["recorded"]["generations"]) for each in found] == [4, 3]
