"""Histories as episodes: joins and leaves in the decisions alone, compared with the real actions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.histories.logged_decisions import logged_decisions
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from tests.capture.flight_recording import decisions, write_recording
from tests.capture.histories.pasts import CAPTURES, decisions_of, done_to, episode_of, past_of, timeline_of
from tests.capture.live.recorded_lives import STREAMS


def really_done(application: str, until_ms: int) -> list[tuple[str, str, int]]:
    return [each for each in done_to(timeline_of(application)) if each[2] < until_ms]


@pytest.mark.slow
@pytest.mark.parametrize("application", ["tagged", "orders-2", "warm", "plain-ha"])
def test_who_was_started_stopped_and_killed_is_what_was_really_done(application: str) -> None:
    found = done_to(episode_of(application))
    last = max(moment.time_ms for moment in past_of(application).moments)
    done = really_done(application, last)
    stops = [each for each in done if each[0] != "start"][-1:]
    # The shutdown at the end is not in the decisions.
    count = len(done) if not stops else len(found)
    assert {(kind, who) for kind, who, _ in found} <= {(kind, who) for kind, who, _ in done}
    assert len(found) <= count


def test_moments_of_events_are_within_some_seconds_of_the_real_ones() -> None:
    found, done = done_to(episode_of("tagged")), done_to(timeline_of("tagged"))
    for kind, who, at in found:
        assert min(abs(at - moment) for what, name, moment in done if (what, name) == (kind, who)) < 5_000


def test_a_killed_process_that_lost_state_was_killed_and_one_that_kept_it_was_stopped() -> None:
    kinds = {(who, kind) for kind, who, _ in done_to(episode_of("orders-2")) if kind != "start"}
    assert kinds == {("i1", "stop"), ("i2", "crash"), ("i2", "stop"), ("i3", "stop"), ("i4", "stop")}


def test_a_process_that_was_back_before_it_was_missed_is_seen_by_its_members_names() -> None:
    rolled = [(kind, who) for kind, who, _ in done_to(episode_of("orders-2"))][6:14]
    assert rolled == [(kind, who) for who in ("i1", "i2", "i3", "i4") for kind in ("stop", "start")]


def test_changelogs_grow_as_leaders_saw_them() -> None:
    ours, theirs = episode_of("tagged")["changelogs"], timeline_of("tagged")["changelogs"]
    assert ours.keys() == theirs.keys()
    for task, each in ours.items():
        after_ten_minutes = [
            600 * of["records_per_s"] + of["records"] + of["backlog_records"] for of in (each, theirs[task])
        ]
        assert after_ten_minutes[0] == pytest.approx(after_ten_minutes[1], rel=0.1)


def test_what_followed_is_under_recorded_and_the_episode_can_be_read() -> None:
    document = episode_of("tagged")
    episode = read_episode(scenario_from_document(document, Place("past")))
    assert len(document["recorded"]["generations"]) == 24
    assert episode.timings.session_timeout_ms == 10_000
    assert {tuple(each["assigned"]) for each in document["recorded"]["generations"][2:8]} == {("i2", "i4", "i1", "i3")}


def test_a_history_that_begins_in_the_middle_begins_with_who_was_there() -> None:
    (history,) = read_histories(decisions_of("tagged")[9:16])
    document = history_episode(history, {"session_timeout_ms": 10_000})
    there = {client["process_id"] for client in document["initial"]["clients"]}
    assert there == set(history.moments[0].participants)
    assert [(each["type"], each["client"]) for each in document["events"]] == [("start", "i2")]


def test_another_process_with_the_client_id_of_one_that_has_gone_is_that_one_with_a_lost_disk() -> None:
    decisions = [
        as_other_process(each, "i2") if number >= 14 else each for number, each in enumerate(decisions_of("tagged"))
    ]
    (history,) = read_histories(decisions)
    of_i2 = [
        each["type"]
        for each in history_episode(history, {"session_timeout_ms": 10_000})["events"]
        if each.get("client") == "i2"
    ]
    assert of_i2 == ["start", "crash", "lose_disk", "start", "stop"]


def test_processes_that_share_a_client_id_are_called_by_their_process_ids() -> None:
    (history,) = read_histories([renamed(each) for each in decisions_of("warm")])
    names = {each["client"] for each in history_episode(history)["events"] if "client" in each}
    assert names == set(history.moments[-1].participants)


def test_what_is_not_told_is_said() -> None:
    (history,) = read_histories([without_settings(each) for each in decisions_of("warm")])
    told = history_episode(history)["assumptions"]
    assert any(sentence.startswith("session.timeout.ms of the group is unknown") for sentence in told)
    for known in (
        history_episode(history, {"session_timeout_ms": 9_000}),
        history_episode(history, None, {"session.timeout.ms": 9_000}),
    ):
        assert not any("session.timeout.ms" in sentence for sentence in known["assumptions"])


def without_settings(scenario: Scenario) -> Scenario:
    document = {key: value for key, value in scenario.document.items() if key != "settings"}
    return attrs.evolve(scenario, document=document)


def test_decisions_of_two_groups_are_two_histories() -> None:
    mixed = [*decisions_of("warm"), *decisions_of("tagged")]
    assert [history.group for history in read_histories(mixed)] == ["warm-classic", "tagged-classic"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"observed": None}, "has no decision of Kafka"),
        ({"source": {"group": "g"}}, "has no time"),
    ],
)
def test_a_state_that_is_no_decision_is_refused_with_its_place(change: Mapping[str, Any], words: str) -> None:
    first = decisions_of("warm")[0]
    document = {key: value for key, value in {**first.document, **change}.items() if value is not None}
    with pytest.raises(HistoryError, match=f"log, line 1: .*{words}"):
        read_histories([attrs.evolve(first, document=document)])


def test_a_decision_that_is_there_twice_is_refused_with_both_places() -> None:
    twice = attrs.evolve(decisions_of("warm")[2], place=Place("other", 1))
    with pytest.raises(HistoryError, match="other, line 1: generation 3 is there already, at log, line 3"):
        read_histories([*decisions_of("warm"), twice])


def test_a_group_that_was_made_anew_counts_its_generations_again() -> None:
    anew = [_later(each, 3_600_000) for each in decisions_of("warm")]
    (history,) = read_histories([*decisions_of("warm"), *anew])
    assert len(history.moments) == 12


def _later(scenario: Scenario, milliseconds: int) -> Scenario:
    source = scenario.document["source"]
    moved = {**source, "time_ms": source["time_ms"] + milliseconds}
    return attrs.evolve(scenario, document={**scenario.document, "source": moved})


def test_one_decision_is_no_history() -> None:
    (history,) = read_histories(decisions_of("warm")[:1])
    with pytest.raises(HistoryError, match="one decision of group 'warm-classic' alone"):
        history_episode(history)


# --- other decisions ------------------------------------------------------------------------------


def as_other_process(scenario: Scenario, client_id: str) -> Scenario:
    text = {
        client["process_id"]
        for client in scenario.document["clients"]
        if any(name.startswith(f"{client_id}-") for name in client["consumers"])
    }
    return _replaced(scenario, dict.fromkeys(text, "aaaaaaaa-0000-4000-8000-000000000001"))


def renamed(scenario: Scenario) -> Scenario:
    return _replaced(scenario, {"v1-": "app-", "v2-": "app-"})


def _replaced(scenario: Scenario, changes: Mapping[str, str]) -> Scenario:
    import json

    text = json.dumps(scenario.document)
    for old, new in changes.items():
        text = text.replace(old, new)
    return scenario_from_document(json.loads(text), scenario.place)


def test_recorded_downtime_lasts_from_the_loss_of_a_task_until_its_next_owner_runs_it() -> None:
    recorded = episode_of("plain-ha")["recorded"]
    down, generations = recorded["downtime"]["tasks"], recorded["generations"]
    stopped = next(each["at_ms"] for each in episode_of("plain-ha")["events"] if each["type"] == "stop")
    before = next(each for each in reversed(generations) if each["assignment_t_ms"] < stopped)
    after = next(each["assignment_t_ms"] for each in generations if each["assignment_t_ms"] > stopped)
    # The logs show the end of each restore, without the names of the stores.
    assert recorded["downtime"]["shows_restoring"]
    stateful = {task["id"]: task["logged"] for task in episode_of("plain-ha")["initial"]["tasks"]}
    for task in before["assigned"]["h3"]["active"]:
        (end,) = (end for begin, end in down[task] if begin == stopped)
        assert end - after <= (1_000 if stateful[task] else 0)
    # The first instance starts with all tasks, which had no owner until its first assignment.
    first = generations[0]["assignment_t_ms"]
    assert all(begin == 0 and first <= end < first + 2_000 for (begin, end), *_ in down.values())
    # A task moves to another thread of its instance: its directory is locked for ten seconds.
    assert [154_184, 167_176] in down["1_1"]


def recorded(folder: Path) -> list[dict[str, Any]]:
    write_recording(folder / STREAMS, STREAMS)
    return decisions(folder / STREAMS)


def streams_episode(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    (history,) = read_histories(
        [scenario_from_document(each, Place("records", number)) for number, each in enumerate(documents, 1)]
    )
    return history_episode(history)


def test_recorded_downtime_of_the_streams_protocol_is_between_two_current_assignments(
    tmp_path: Path,
) -> None:
    documents = recorded(tmp_path)
    episode = streams_episode(documents)
    down = episode["recorded"]["downtime"]
    first = episode["initial"]["source"]["time_ms"]
    assert down["shows_restoring"] is False
    epoch = 1795363378003 - first
    assert [epoch + 352, epoch + 559] in down["tasks"]["1_2"]
    assert [epoch + 357, epoch + 559] in down["tasks"]["1_3"]
    # The killed member was fenced after 14 s; its tasks moved with two heartbeats.
    killed, fenced = epoch + 14_006, 1795363392224 - first
    assert [killed, fenced + 1] in down["tasks"]["1_1"]
    assert [killed, fenced + 255] in down["tasks"]["0_1"]


def test_an_older_file_of_streams_decisions_shows_no_downtime(tmp_path: Path) -> None:
    documents = [dict(each, source=dict(each["source"])) for each in recorded(tmp_path)]
    for each in documents:
        each["source"].pop("current", None)
    assert "downtime" not in streams_episode(documents)["recorded"]


def test_a_coordinators_log_shows_the_downtime_of_the_streams_protocol() -> None:
    log = CAPTURES / "lives" / "broker.log.gz"
    for episode in streams_episodes(log):
        known = {task["id"] for task in episode["initial"]["tasks"]}
        down = episode["recorded"]["downtime"]["tasks"]
        assert down.keys() == known
        for intervals in down.values():
            moments = [moment for interval in intervals for moment in interval]
            assert moments == sorted(moments)
            assert moments[0] >= 0


def streams_episodes(log: Path) -> list[dict[str, Any]]:
    documents = [each for each in logged_decisions([str(log)]) if "subtopologies" in each]
    scenarios = [scenario_from_document(each, Place("log", number)) for number, each in enumerate(documents, 1)]
    return [history_episode(each) for each in read_histories(scenarios)]


def test_a_history_that_missed_an_instance_sooner_bounds_an_unknown_session_timeout() -> None:
    log = str(CAPTURES / "versions" / "3.9.2.log.gz")
    (history,) = read_histories(
        [scenario_from_document(each, Place("log", number)) for number, each in enumerate(logged_decisions([log]), 1)]
    )
    episode = history_episode(history)
    # The instance b is in generation 6 and not in generation 7.
    times = {each["generation"]: each["assignment_t_ms"] for each in episode["recorded"]["generations"]}
    assert episode["timings"]["session_timeout_ms"] == times[7] - times[6]
    # The other members rejoined within a heartbeat interval.
    assert episode["past_timings"] == {"session_timeout_ms": times[7] - times[6] - 3_000}
    assert any("Kafka's default is too long" in sentence for sentence in episode["assumptions"])
    given = history_episode(history, {"session_timeout_ms": 45_000})
    assert given["timings"]["session_timeout_ms"] == 45_000
    assert "past_timings" not in given
