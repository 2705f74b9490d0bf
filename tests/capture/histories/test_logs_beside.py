"""Logs in addition to a folder of `record`: they add causes and times, but change no decision."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import attrs
import pytest

from assignor_lab.capture.histories.group_histories import history_of_rounds
from assignor_lab.capture.histories.past import PastSurroundings, read_past, scenarios_of, scenarios_of_past
from assignor_lab.capture.histories.past_files import RECORDING, files_of, grouped
from assignor_lab.capture.histories.timeline import timeline_of
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.model.events import PollTimedOut
from assignor_lab.scenarios import Scenario
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.histories.flight_folders import classic_folder

COORDINATOR = CAPTURES / "tagged" / "coordinator.broker.gz"
LIVES = CAPTURES / "lives" / "broker.log.gz"


def past_of(*sources: Path | str) -> tuple[list[Scenario], list[str]]:
    told: list[str] = []
    scenarios = list(scenarios_of_past([str(source) for source in sources], PastSurroundings(on_problem=told.append)))
    return scenarios, told


def flight(folder: Path, group: str) -> Path:
    folder.mkdir()
    records = gzip.decompress((CAPTURES / "flight" / group / "records.jsonl.gz").read_bytes())
    (folder / "records.jsonl").write_bytes(records)
    return folder


def reasons(scenarios: list[Scenario]) -> dict[int, str | None]:
    return {each.document["source"]["generation"]: each.document["source"].get("reason") for each in scenarios}


@pytest.mark.slow
def test_recorded_generations_get_the_reasons_that_the_coordinator_logged(tmp_path: Path) -> None:
    alone, _ = past_of(classic_folder(tmp_path / "past", "tagged"))
    beside, told = past_of(tmp_path / "past", COORDINATOR)
    logged = {each["source"]["generation"]: each["source"] for each in import_log([*logs("tagged"), COORDINATOR])}
    assert told == []
    assert set(reasons(alone).values()) == {None}
    assert reasons(beside) == {number: logged[number]["reason"] for number in reasons(alone)}
    begun = {each.document["source"]["generation"]: each.document["source"]["prepared_ms"] for each in beside}
    assert begun == {number: logged[number]["prepared_ms"] for number in begun}
    assert [each.observed for each in beside] == [each.observed for each in alone]


@pytest.mark.slow
def test_logs_of_instances_tell_who_was_started_and_decide_nothing_once_more(tmp_path: Path) -> None:
    folder = classic_folder(tmp_path / "past", "tagged")
    beside, told = past_of(*logs("tagged"), folder)
    assert told == []
    assert len(beside) == len(past_of(folder)[0])
    done = [each for scenario in beside for each in scenario.document["source"].get("done", ())]
    assert {(each["type"], each["client"]) for each in done} >= {("start", "i4"), ("stop", "i4")}


def test_epochs_of_the_streams_protocol_get_reasons(tmp_path: Path) -> None:
    folder = flight(tmp_path / "past", "streams")
    broker = tmp_path / "broker.log"
    broker.write_bytes(gzip.decompress(LIVES.read_bytes()).replace(b"[GroupId newer]", b"[GroupId streams]"))
    before, _ = past_of(folder)
    beside, _ = past_of(folder, broker)
    assert [each.document["source"].get("reason") for each in before] == [None] * len(before)
    told = {number: reason for number, reason in reasons(beside).items() if reason}
    assert told
    assert all(reason.startswith("member ") for reason in told.values())
    assert any(" left" in reason or " joins" in reason for reason in told.values())


def test_rounds_of_connect_workers_get_reasons(tmp_path: Path) -> None:
    folder = flight(tmp_path / "past", "real-connect")
    broker = tmp_path / "broker.log"
    # The text of a 4.4 coordinator; this group's own log was not kept.
    broker.write_text(
        "[2026-11-22 16:02:50,000] INFO [GroupCoordinator id=1] Preparing to rebalance group real-connect in state "
        "PreparingRebalance with old generation 1 (reason: Adding new member w2-7d; client reason: not provided). "
        "(org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
    )
    timelines = {
        told: [entry.reason for entry in timeline_of(history_of_rounds("connect", found))]
        for told, found in (
            (False, [each.content for each in past_of(folder)[0]]),
            (True, [each.content for each in past_of(folder, broker)[0]]),
        )
    }
    assert not any("Adding new member" in words for words in timelines[False])
    changed = [words for words, before in zip(timelines[True], timelines[False], strict=True) if words != before]
    assert len(changed) == 1
    assert changed[0].startswith("Adding new member w2-7d; client reason: not provided")


def test_logs_of_other_groups_are_a_past_of_their_own(tmp_path: Path) -> None:
    folder = classic_folder(tmp_path / "past", "tagged")
    found, _ = past_of(folder, LIVES)
    groups = {each.document["source"]["group"] for each in found}
    assert groups == {"tagged-classic", "newer"}
    recorded = [each for each in found if each.document["source"]["group"] == "tagged-classic"]
    assert set(reasons(recorded).values()) == {None}


def test_a_run_that_is_repeated_reads_the_same_files_the_same_way(tmp_path: Path) -> None:
    folder = classic_folder(tmp_path / "past", "tagged")
    shutil.copy(COORDINATOR, tmp_path / "broker.gz")
    files = [*files_of(tmp_path / "broker.gz"), *files_of(folder)]
    ((name, kind, together),) = grouped(files)
    assert (name, kind) == (str(folder / "records.jsonl"), RECORDING)
    # A manifest keeps names, and the kind of the source.
    again = [attrs.evolve(file, kind=kind) for file in together]
    ((_, kind, together),) = grouped(again)
    assert all(each.document["source"]["reason"] for each in scenarios_of(kind, together, PastSurroundings()))


def test_causes_in_logs_beside_a_recording_are_events_of_its_group(tmp_path: Path) -> None:
    folder = classic_folder(tmp_path / "past", "tagged")
    group = next(scenarios_of_past([str(folder)])).document["source"]["group"]
    log = tmp_path / "i1.log"
    log.write_text(
        f"2026-11-21 05:42:26,661 WARN [Consumer clientId=i1-StreamThread-1-consumer, groupId={group}] consumer poll "
        "timeout has expired. This means the time between subsequent calls to poll() was longer\n"
    )

    found = read_past([str(folder), str(log)])

    causes = [(of, each.sentence) for of, each in found.events if isinstance(each, PollTimedOut)]
    assert causes == [(group, "thread 1 of i1 did not poll within max.poll.interval.ms and left")]
    assert len(found.scenarios) == len(past_of(folder)[0])
