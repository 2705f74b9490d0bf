"""Timings and moments that recordings bound: heartbeats, sessions, late threads, repeated decisions, silent stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.capture.edges.decision_input import DecisionInput
from assignor_lab.capture.edges.happened import Happened
from assignor_lab.capture.edges.moments import DecisionMoment, Participant
from assignor_lab.capture.histories.episodes import episodes_of_past
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.capture.histories.reactions import learned_heartbeat_ms, longest_streams_session_ms
from assignor_lab.capture.histories.repeated_decisions import repeated_decisions
from assignor_lab.capture.recorded.partition_states import NotedEvent
from assignor_lab.simulation.streams.episode import StreamsEpisode

CAPTURES = Path("tests/data/captures")


def episodes(*sources: str) -> list[StreamsEpisode]:
    quiet = PastSurroundings(on_problem=lambda _: None)
    return episodes_of_past([str(CAPTURES / each) for each in sources], around=quiet)


def decided(
    time_ms: int,
    members: dict[str, str],
    placed: dict[str, list[str]] | None = None,
    changes: list[tuple[int, str]] = [],  # noqa: B006 - never changed
    noted: tuple[NotedEvent, ...] = (),
) -> DecisionMoment:
    current = [{"time_ms": at, "member": member, "active": {"0": [0]}} for at, member in changes]
    people = {process: Participant(process, process, frozenset({member})) for process, member in members.items()}
    shares = {process: (active, ()) for process, active in (placed or {}).items()}
    document = {"subtopologies": [], "source": {"current": current}}
    return DecisionMoment(time_ms, None, 1, "", "none", people, shares, DecisionInput(document), noted=noted)


def targets(*waits_ms: int) -> list[DecisionMoment]:
    there = {"a": "1"}
    later = [(10_000 * place + wait, "1") for place, wait in enumerate(waits_ms, start=1)]
    return [decided(0, there), *(decided(10_000 * place, there, changes=[each]) for place, each in enumerate(later, 1))]


def test_short_waits_for_targets_contradict_the_default_interval() -> None:
    found = learned_heartbeat_ms(targets(255, 352, 478, 357))
    assert found is not None
    assert (found.count, found.longest_ms, found.interval_ms) == (4, 478, 500)


@pytest.mark.parametrize("waits", [(), (744,), (300, 1_500, 2_400), (100, 6_000)])
def test_few_or_long_waits_leave_the_default(waits: tuple[int, ...]) -> None:
    assert learned_heartbeat_ms(targets(*waits)) is None


def test_a_change_with_the_target_itself_is_no_wait() -> None:
    assert learned_heartbeat_ms(targets(1, 2, 2, 1)) is None


def test_a_fenced_member_bounds_the_session_by_its_last_change() -> None:
    first = decided(0, {"a": "1", "b": "2"}, changes=[(400, "1"), (7_000, "2")])
    fenced = NotedEvent(20_400, "fenced", "a")
    assert longest_streams_session_ms([first, decided(20_500, {"b": "2"}, noted=(fenced,))], 5_000) == 20_000
    assert longest_streams_session_ms([first, decided(20_500, {"b": "2"}, noted=(fenced,))], 20_000) is None
    assert longest_streams_session_ms([first, decided(20_500, {"b": "2"})], 5_000) is None


def test_a_decision_without_a_reason_is_a_rebalance_of_the_leader() -> None:
    there = {"a": "1", "b": "2"}
    held = {"a": ["0_0"], "b": ["0_1"]}
    moments = [decided(1_000, there, held), decided(9_000, there, held)]
    (found,) = repeated_decisions(moments, [], 3_000)
    assert (found.type, found.within_ms) == ("metadata_changes", (5_999, 8_999))
    # An event between them, another member or a task that another instance has explain it.
    assert not list(repeated_decisions(moments, [Happened(5_000, "stop", "c")], 3_000))
    assert not list(repeated_decisions([moments[0], decided(9_000, {"a": "1"}, held)], [], 3_000))
    taken = decided(9_000, there, {"a": ["0_1"], "b": ["0_0"]})
    assert not list(repeated_decisions([moments[0], taken, decided(9_500, there, held)], [Happened(8_000, "x", "")], 1))


def test_a_thread_that_a_decision_lacks_joins_after_it() -> None:
    (found,) = episodes("versions/3.9.2.log.gz")
    start = next(each for each in found.events if each.type == "start")
    early, late = sorted(each for each in start.details.joins_ms or () if each is not None)
    assert early < late
    assert found.recorded is not None
    first = found.recorded.decisions[0].at.latest_ms - found.start_ms
    assert early < first < late


def test_heartbeats_and_sessions_of_a_streams_group_come_from_its_records() -> None:
    (found,) = (each for each in episodes("flight/streams/records.jsonl.gz") if each.protocol == "streams")
    assert found.timings.streams_heartbeat_interval_ms == 500
    (sentence,) = (each for each in found.assumptions if "streams.heartbeat.interval.ms" in each)
    assert "6 targets within 478 ms" in sentence


def test_the_stop_of_a_static_member_in_its_session_is_an_interval() -> None:
    (found,) = episodes("events/static/records.jsonl.gz")
    stops = [each for each in found.events if (each.type, each.client) == ("stop", "b1")]
    starts = [each for each in found.events if (each.type, each.client) == ("start", "b1")]
    silent = [each for each in stops if each.within_ms is not None]
    assert len(silent) >= 5
    for stop in silent[:5]:
        assert stop.within_ms is not None
        back = next(each for each in starts if each.at_ms > stop.at_ms)
        assert stop.within_ms[0] <= stop.at_ms <= stop.within_ms[1] < back.at_ms
