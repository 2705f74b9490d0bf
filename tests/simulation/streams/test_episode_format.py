"""Episodes of Streams groups as documents: refused content, and its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError, Place, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode, read_episodes
from tests.simulation.streams.episodes import document, episode, happens, started

ROLLED = [started("a"), started("b"), {"at_ms": 9, "type": "rolling_restart", "down_ms": 10, "every_ms": 100}]


def test_rolling_restart_skips_whom_another_event_has_stopped_meanwhile() -> None:
    episode([*ROLLED, happens("crash", "a", 25), happens("stop", "b", 100), started("b", 105), started("a", 110)])
    with pytest.raises(DocumentFormatError, match="does not run"):
        # Started at 105, b is ready at 109 and closed by the restart.
        episode([*ROLLED, happens("stop", "b", 100), started("b", 105), happens("stop", "b", 112)])


@pytest.mark.parametrize(
    ("events", "where", "what"),
    [
        ([happens("stop", "a", 1)], "events[0].client", "no instance 'a'"),
        ([started("a"), happens("crash", "b", 1)], "events[1].client", 'did you mean'),
        ([started("a"), happens("stop", "a", 1), happens("crash", "a", 2)], "events[2].client", "does not run"),
        ([started("a"), started("a", 5)], "events[1].client", "runs already"),
        ([started("a", 5), started("b", 4)], "events[1].at_ms", "order of time"),
        ([started("a", 700_000)], "events[0].at_ms", "after the end"),
        ([started("a"), happens("lose_disk", "a", 5)], "events[1].client", "while it is down"),
        ([started("a"), happens("explode", "a", 5)], "events[1].type", "unknown type"),
        ([started("a", threads=0)], "events[0].threads", "from 1"),
        (
            [started("a", threads=2), happens("busy", "a", 5, for_ms=9, thread=3)],
            "events[1].thread", "'a' has 2 threads: there is no thread 3",
        ),
        (
            # A start without a number of threads has as many as the previous one.
            [started("a", threads=2), happens("stop", "a", 1), started("a", 9),
             happens("busy", "a", 99, for_ms=9, thread=3)],
            "events[3].thread", "'a' has 2 threads",
        ),
        (
            [started("a", threads=2), happens("stop", "a", 1), started("a", 9, threads=1),
             happens("busy", "a", 99, for_ms=9, thread=2)],
            "events[3].thread", "'a' has 1 thread: there is no thread 2",
        ),
        ([started("a", host="nowhere")], "events[0].host", "host:port"),
        ([started("a", colour="red")], "events[0]", "unknown key"),
        # a is down from 9 to 19, and b from 109 on.
        ([*ROLLED, happens("crash", "a", 15)], "events[3].client", "does not run"),
        ([*ROLLED, happens("stop", "b", 110)], "events[3].client", "does not run"),
        ([*ROLLED, happens("stop", "a", 12)], "events[3].client", "does not run"),
        ([*ROLLED, happens("crash", "a", 25), started("a", 30), started("a", 40)], "events[5].client", "runs already"),
        (
            [started("a"), {"at_ms": 9, "type": "rolling_restart", "down_ms": 1, "every_ms": 1, "clients": ["b"]}],
            "events[1].clients[0]", "no instance 'b'",
        ),
    ],
)  # fmt: skip
def test_an_episode_that_contradicts_itself_is_refused_with_its_place(
    events: list[dict[str, Any]], where: str, what: str
) -> None:
    if what == "did you mean":
        events = [started("instance-a"), happens("crash", "instance-b", 1)]
    with pytest.raises(DocumentFormatError) as refused:
        episode(events)
    assert where in str(refused.value)
    assert what in str(refused.value)
    assert str(refused.value).startswith("small.jsonl, line 1")


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"protocol": "eager"}, '"classic", "streams"'),
        ({"changelogs": {"9_9": {"records": 1, "bytes_per_record": 1}}}, "no task '9_9'"),
        ({"timings": {"heartbeat_interval_ms": 0}}, "at least 1"),
        ({"timings": {"heart_beat_ms": 5}}, "unknown key"),
    ],
)
def test_what_is_no_episode_is_refused(more: dict[str, Any], what: str) -> None:
    merged = {**document([started("a")]), **more}
    with pytest.raises(DocumentFormatError) as refused:
        read_episode(scenario_from_document(merged, Place("small.jsonl", 1)))
    assert what in str(refused.value)


def test_unknown_state_is_assumed_and_said() -> None:
    assert any("nothing is known of the state of 4 tasks" in each for each in episode([], changelogs={}).assumptions)


def test_an_operators_workload_takes_the_place_of_the_episodes(tmp_path: Path) -> None:
    file, workload = tmp_path / "episode.jsonl", tmp_path / "workload.json"
    file.write_text(json.dumps(document([started("a")], records=7)) + "\n")
    workload.write_text(json.dumps({
        "tasks": {"0_0": {"state_bytes": 1_000_000}}, "restore_bytes_per_s": 123,
        "changelogs": {"0_1": {"records": 5, "bytes_per_record": 2, "records_per_s": 3}},
    }))  # fmt: skip
    (read,) = read_episodes(str(file), workload)
    sizes = [None if each is None else each.records * (each.bytes_per_record or 0) for each in read.changelogs]
    assert sizes == [1_000_000, 10, 7_000, 7_000]
    assert read.timings.restore_bytes_per_s == 123


def test_state_bytes_of_a_workload_size_records_of_unknown_bytes(tmp_path: Path) -> None:
    file, workload = tmp_path / "episode.jsonl", tmp_path / "workload.json"
    counted = {"0_0": {"records": 90, "backlog_records": 10, "bytes_per_record": None, "records_per_s": 3}}
    file.write_text(json.dumps(document([started("a")], changelogs=counted)) + "\n")
    workload.write_text('{"tasks": {"0_0": {"state_bytes": 5000}}}')
    (read,) = read_episodes(str(file), workload)
    first = read.changelogs[0]
    assert first is not None
    assert (first.records, first.bytes_per_record, first.records_per_s) == (90, 50, 3)


@pytest.mark.parametrize(
    ("content", "what"), [('{"tasks": {"9_9": {}}}', "no task '9_9'"), ('{"task": {}}', "unknown key"), ("[", "JSON")]
)
def test_what_is_no_workload_is_refused_with_its_file(tmp_path: Path, content: str, what: str) -> None:
    file, workload = tmp_path / "episode.jsonl", tmp_path / "workload.json"
    file.write_text(json.dumps(document([started("a")])) + "\n")
    workload.write_text(content)
    with pytest.raises(DocumentFormatError) as refused:
        read_episodes(str(file), workload)
    assert what in str(refused.value)
    assert "workload.json" in str(refused.value)
