"""Causes that only the instances' logs name, of real applications: in the history, in the findings, beside records."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.histories.past import read_past
from assignor_lab.model.history import GroupHistory
from tests.capture.captured_logs import CAPTURES
from tests.capture.event_recordings import shown

_CAUSES = CAPTURES / "causes"
_LATE = "thread 1 of {} did not poll within max.poll.interval.ms and left"
_BROKEN = "IllegalArgumentException: a record that cannot be processed"
_TAKEN = (
    "FencedInstanceIdException: The broker rejected this static consumer since another consumer with the same "
    "group.instance.id has registered with a different member.id"
)
_ABSENT = "MissingSourceTopicException: One or more source topics were missing during rebalance"
#: Group to its sentences with causes, in order and once each, and the rules of its findings.
EXPECTED: dict[str, tuple[list[str], set[str]]] = {
    "pausing": ([_LATE.format("p2"), _LATE.format("p1")], {"poll timeout", "flapping instance"}),
    "replaced": ([f"thread 1 of r2 died and was replaced: {_BROKEN}"], {"dead thread"}),
    "ending": (
        [f"the exception handler of e1 closes the instance: {_BROKEN}", f"thread 1 of e1 died: {_BROKEN}"],
        {"dead thread"},
    ),
    "fenced": (
        [f"the exception handler of s1 closes the instance: {_TAKEN}", f"thread 1 of s1 died: {_TAKEN}"],
        {"dead thread"},
    ),
    "missing": (
        [
            "no assignment was made: source topic absent is missing: create it",
            f"the exception handler of m1 closes the instance: {_ABSENT}",
        ],
        {"failed assignment", "dead thread"},
    ),
    "grown": (
        [
            "no assignment was made: internal topic grown-counts-repartition has 2 partitions, 4 expected: an input "
            "topic was enlarged; use the reset tool, or recreate the topic",
        ],
        {"failed assignment", "dead thread"},
    ),
    "failing": (
        ["no assignment was made: the leader's assignor failed: no capacity is left (IllegalStateException)"],
        {"failed assignment", "dead thread"},
    ),
}


def logs_of(group: str, folder: Path) -> list[Path]:
    found = []
    for file in sorted((_CAUSES / group).glob("*.log.gz")):
        found.append(folder / file.stem)
        found[-1].write_bytes(gzip.decompress(file.read_bytes()))
    return found


def history_of(*sources: Path) -> GroupHistory:
    past = read_past([str(each) for each in sources])
    (history,) = group_histories(past.scenarios, past.events)
    return history


def sentences_of(history: GroupHistory) -> list[str]:
    """Of the events, each once, by time."""
    return list(dict.fromkeys(each.sentence for each in history.events))


@pytest.mark.parametrize("group", EXPECTED)
def test_logs_of_real_applications_name_their_causes(group: str, tmp_path: Path) -> None:
    logs = logs_of(group, tmp_path)
    sentences, rules = EXPECTED[group]
    assert [each for each in sentences_of(history_of(*logs)) if each in sentences] == sentences
    (checked,) = shown("check", *logs)["groups"]
    assert {each["rule"] for each in checked["findings"]} == rules


@pytest.mark.parametrize("group", ["pausing", "replaced", "ending", "fenced"])
def test_records_take_their_causes_from_the_logs(group: str, tmp_path: Path) -> None:
    logs = logs_of(group, tmp_path)
    folder = tmp_path / group
    folder.mkdir()
    (folder / "records.jsonl").write_bytes(gzip.decompress((_CAUSES / group / "records.jsonl.gz").read_bytes()))
    shutil.copy(_CAUSES / group / "brokers.json", folder)
    cause = EXPECTED[group][0][-1]
    assert cause not in sentences_of(history_of(folder))
    assert cause in sentences_of(history_of(folder, *logs))


def test_a_static_member_has_the_client_id_of_its_time(tmp_path: Path) -> None:
    """s3 takes the instance id of s1 later."""
    history = history_of(*logs_of("fenced", tmp_path))
    assert [each.name for each in history.instances] == ["s1", "s2"]
    assert [each for each in sentences_of(history) if each.endswith(" started")] == [
        "s1 started",
        "s2 started",
        "s3 started",
    ]


def test_a_decision_that_reached_no_member_gave_it_no_tasks(tmp_path: Path) -> None:
    """They counted as waiting for their release until the next rebalance, 25 minutes later (12,556 task-seconds)."""
    (history,) = read_histories(read_past([str(each) for each in logs_of("interrupted", tmp_path)]).scenarios)
    down = history_episode(history)["recorded"]["downtime"]["tasks"]
    total_s = sum(end - begin for times in down.values() for begin, end in times) / 1_000
    assert 200 < total_s < 400
