"""Groups of the streams protocol in their coordinator's log: epochs, members, reasons, and missing data."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.errors import NoDecisionError
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.histories.logged_decisions import logged_decisions
from assignor_lab.capture.histories.timeline import timeline_of
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.verification.decisions import checked_decisions
from tests.capture.captured_logs import CAPTURES

LIVES = CAPTURES / "lives"
ORDERS = CAPTURES / "coordinator" / "orders-group-3.log.gz"
BROKER = LIVES / "broker.log.gz"
LINES = gzip.decompress(BROKER.read_bytes()).decode().splitlines(keepends=True)


def read(*files: Path, problems: list[str] | None = None) -> list[Scenario]:
    told: list[str] = [] if problems is None else problems
    documents = list(logged_decisions(files, on_problem=lambda problem: told.append(str(problem))))
    return [scenario_from_document(each, Place("log", number)) for number, each in enumerate(documents, 1)]


def part(tmp_path: Path, lines: list[str]) -> Path:
    log = tmp_path / "broker.log"
    log.write_text("".join(lines))
    return log


def sources(scenarios: list[Scenario], key: str) -> list[Any]:
    return [each.document["source"].get(key) for each in scenarios]


def test_each_epoch_with_a_target_is_a_decision_with_its_time_and_reason() -> None:
    scenarios = read(BROKER)
    assert {each.kind for each in scenarios} == {"streams-group"}
    assert sources(scenarios, "generation") == [3, 4, 5, 6, 7]
    assert sources(scenarios, "reason") == [
        "metadata of the topology's topics have changed: created, or other partitions or racks",
        "member s2-StreamThread-1-consumer joins",
        "member s1-StreamThread-1-consumer was fenced: the member session expired",
        "member s1-StreamThread-1-consumer joins",
        "member s2-StreamThread-1-consumer left",
    ]
    (history,) = group_histories(scenarios)
    timeline = timeline_of(history)
    assert [each.joined for each in timeline] == [(), ("s2",), (), ("s1",), ()]
    assert [each.gone for each in timeline] == [(), (), ("s1",), (), ("s2",)]
    assert [each.active_moved for each in timeline] == [0, 3, 0, 3, 0]
    assert [each.active_taken_over for each in timeline] == [0, 0, 3, 0, 3]
    assert timeline[1].waited_ms == 12


def test_members_have_their_process_rack_and_what_they_were_to_have() -> None:
    before, after = read(BROKER)[:2]
    ((old,), (_, new)) = (each.document["members"] for each in (before, after))
    assert (old["rack"], old["process_id"]) == ("r1", "1f7ab88f-4928-4393-afd3-7e8efb712aa6")
    target = before.document["observed"]["members"][old["id"]]
    assert target["active"] == {"0": [0, 1, 2], "1": [0, 1, 2]}
    assert after.document["members"][0]["active"] == target["active"]
    assert new["active"] == {}


def test_every_decision_comes_out_again() -> None:
    config = config_sources(None, (), environ={}, start=Path("/"))
    checked = list(checked_decisions(read(BROKER), discover(), config))
    assert [each.difference for each in checked] == [None] * 5
    assert {each.assignor for each in checked} == {"group_sticky"}


def test_instances_logs_beside_it_are_decisions_of_the_classic_group() -> None:
    found = read(*sorted(LIVES.glob("*.log.gz")))
    assert {(each.document["source"]["group"], each.kind) for each in found} == {
        ("classic", "streams"), ("newer", "streams-group"),
    }  # fmt: skip
    config = config_sources(None, ["num.standby.replicas=1"], environ={}, start=Path("/"))
    checked = list(checked_decisions(found, discover(), config))
    assert len(checked) == 12
    assert [each.difference for each in checked if each.difference] == []


def test_the_episode_behind_it_has_the_starts_and_ends() -> None:
    (history,) = read_histories(read(BROKER))
    episode = history_episode(history, {"streams_session_timeout_ms": 10_000})
    events = [(each["type"], each["client"]) for each in episode["events"]]
    assert events == [
        ("start", "s1"), ("start", "s2"), ("crash", "s1"), ("lose_disk", "s1"), ("start", "s1"), ("stop", "s2"),
    ]  # fmt: skip
    # It was fenced at 19:27:48.715, a session timeout after its last heartbeat.
    assert episode["events"][2]["at_ms"] + episode["initial"]["source"]["time_ms"] == 1795375658715


def test_an_epoch_that_members_never_reached_is_a_state_of_which_the_decision_is_unknown(tmp_path: Path) -> None:
    left_out = "state=STABLE, assignedTasks=(active=[0-2@4, 1-1@4, 1-2@4]"
    scenarios = read(part(tmp_path, [line for line in LINES if left_out not in line]))
    assert [each.observed is None for each in scenarios] == [False, True, False, False, False]


def test_a_log_that_begins_later_says_whom_it_does_not_know(tmp_path: Path) -> None:
    begin = next(number for number, line in enumerate(LINES) if "for epoch 4 with" in line)
    problems: list[str] = []
    scenarios = read(part(tmp_path, LINES[begin - 4 :]), problems=problems)
    assert sources(scenarios, "generation") == [5, 6, 7]
    (problem,) = [each for each in problems if "is left out" in each]
    assert "epoch 4 of group 'newer' is left out: the log begins after its first members joined" in problem


@pytest.mark.parametrize(
    "garbage", ["\x00\x1b[31m", "[GroupId ", "Member's new assignment state: epoch=x, ", "]" * 5_000]
)
def test_garbage_between_costs_nothing_else(garbage: str, tmp_path: Path) -> None:
    log = part(tmp_path, [piece for line in LINES for piece in (line, f"[2026-11-22 19:27:00,000] INFO {garbage}\n")])
    assert sources(read(log), "generation") == [3, 4, 5, 6, 7]


def test_lines_of_a_group_without_any_target_are_no_decision(tmp_path: Path) -> None:
    log = part(tmp_path, [line for line in LINES if "[GroupId newer]" in line and "Computed a new target" not in line])
    with pytest.raises(NoDecisionError, match="streams protocol"):
        read(log)


def at_info(log: Path) -> list[str]:
    """The same coordinator's log at INFO: no complete targets."""
    lines = gzip.decompress(log.read_bytes()).decode().splitlines(keepends=True)
    return [
        re.sub(r" DEBUG (.*) in (\d+)ms: \{.*\}\.", r" INFO \1 in \2ms.", line)
        if "Computed a new target" in line
        else line
        for line in lines
    ]


def test_at_debug_every_target_is_told_in_full_and_comes_out_again_from_the_one_before() -> None:
    scenarios = read(ORDERS)
    assert sources(scenarios, "generation") == [
        8,
        9,
        10,
        12,
        13,
        14,
        15,
        16,
        18,
        20,
        21,
        22,
        24,
        25,
        26,
        28,
        29,
        30,
        32,
    ]
    assert all("observed" in each.document for each in scenarios)
    config = config_sources(None, ["num.standby.replicas=1"], environ={}, start=Path("/"))
    assert [each.difference for each in checked_decisions(scenarios, discover(), config)] == [None] * 19


def test_at_info_they_are_what_members_were_brought_to(tmp_path: Path) -> None:
    told = [each for each in read(part(tmp_path, at_info(ORDERS))) if "observed" in each.document]
    assert 0 < len(told) < 19
    full = {each.document["source"]["generation"]: each.document["observed"] for each in read(ORDERS)}
    for each in told:
        assert each.document["observed"] == full[each.document["source"]["generation"]]


def test_who_joins_with_the_request_that_computes_is_shown_last_and_has_nothing_before() -> None:
    thirteenth = next(each for each in read(ORDERS) if each.document["source"]["generation"] == 13)
    *others, new = thirteenth.document["members"]
    assert new["id"].startswith("JGbt")
    assert (new["active"], new["standby"]) == ({}, {})
    # The order of the broker's table, not of the joins.
    assert [each["id"][:4] for each in others] == ["EQmf", "F3xJ", "AqEY", "BKt8", "aT-L", "iMLo"]


def test_a_target_of_somebody_of_whom_the_log_never_tells_is_not_known(tmp_path: Path) -> None:
    lines = gzip.decompress(ORDERS.read_bytes()).decode().splitlines(keepends=True)
    log = part(tmp_path, [line for line in lines if not ("JGbt" in line and "member metadata" in line)])
    found = [each for each in read(log) if each.document["source"]["generation"] == 13]
    assert all("observed" not in each.document for each in found)


def test_a_join_that_comes_to_nothing_leaves_later_targets_known(tmp_path: Path) -> None:
    lines = gzip.decompress(ORDERS.read_bytes()).decode().splitlines(keepends=True)
    place, join = next((number, line) for number, line in enumerate(lines) if "JGbt" in line and "Member joins" in line)
    ghost = join.replace("JGbtjQf9Tg-UdhSb7ZASlg", "ghostQf9Tg-UdhSb7ZASlg")
    found = read(part(tmp_path, [*lines[: place - 20], ghost, *lines[place - 20 :]]))
    assert sum("observed" in each.document for each in found) == 19


def test_targets_of_members_that_came_before_the_log_are_left_out_and_named(tmp_path: Path) -> None:
    lines = gzip.decompress(ORDERS.read_bytes()).decode().splitlines(keepends=True)
    target = next(line for line in lines if "Computed a new target assignment for epoch 8 " in line)
    problems: list[str] = []
    assert read(part(tmp_path, [target]), problems=problems) == []
    assert any("epoch 8 of group" in problem for problem in problems)


def test_a_hostile_target_is_read_and_told_of_nobody(tmp_path: Path) -> None:
    lines = gzip.decompress(ORDERS.read_bytes()).decode().splitlines(keepends=True)
    place, target = next((n, line) for n, line in enumerate(lines) if "Computed a new target" in line)
    head, _, tail = target.partition("{")
    for nasty in ("a=(active=[" * 5_000 + "], standby=[" * 5_000 + "], warmup=[" * 5_000, "a" * 200_000):
        # A pattern that tries again from every place would take hours.
        found = read(part(tmp_path, [*lines[:place], f"{head}{{{nasty}}}{tail[-80:]}", *lines[place + 1 :]]))
        assert len(found) >= 18
