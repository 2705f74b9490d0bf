from __future__ import annotations

import re
import time
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assignor_lab.capture.errors import UnreadableLogError
from assignor_lab.capture.logs.connect.errors import NoRoundError
from assignor_lab.capture.logs.connect.replay import ComparedRound, DepartureKind
from assignor_lab.capture.logs.connect.rounds import RecordedRound, WorkerLife, read_worker_log
from assignor_lab.cli.app import build_app
from tests.capture.connect_log.logs import CAPTURES, compared, files, lines, lives_of


def _kinds(rounds: list[ComparedRound]) -> list[DepartureKind]:
    return [found.departure.kind for found in rounds if found.departure is not None]


def _without(text: str, *, first: int = 1) -> list[str]:
    left = []
    for line in lines("sessioned", "w2"):
        if text in line and first:
            first -= 1
        else:
            left.append(line)
    return left


def test_a_log_that_begins_later_than_its_worker_is_compared_from_the_first_calm_round_on() -> None:
    whole = list(lines("sessioned", "w2"))
    # Generation 12 starts the delay of a departed worker, 14 ends it, and 15 starts the next one.
    begin = next(number for number, line in enumerate(whole) if "JoinGroup" in line and "generationId=12," in line)

    found = compared(whole[begin:])

    generations = [(round_.recorded.generation, round_.is_compared) for round_ in found]
    assert generations[:2] == [(12, False), (13, False)]
    assert set(_kinds(found)) == {DepartureKind.BEGINNING_MISSING}
    assert [round_.recorded.generation for round_ in found if round_.is_same] == [18]


def test_a_log_without_its_start_is_compared_from_a_calm_first_round_on() -> None:
    found = compared(
        [line for line in lines("sessioned", "w2") if "Herder starting" not in line and "created" not in line]
    )

    assert [round_.is_same for round_ in found] == [True] * 18


def test_a_generation_whose_assignments_were_never_sent_is_named_unfinished() -> None:
    without = [
        line
        for line in lines("conflict", "w2")
        if not (("Sending leader SyncGroup" in line and "generationId=20," in line) or "at generation 20 " in line)
    ]

    found = compared(without)

    unfinished = [round_ for round_ in found if _kinds([round_]) == [DepartureKind.UNFINISHED]]
    assert [round_.recorded.generation for round_ in unfinished] == [20]
    assert found[20].recorded.last_completed == 19


def test_a_leader_that_lags_behind_the_configuration_is_named_a_mismatch() -> None:
    whole = list(lines("sessioned", "w2"))
    begin = next(number for number, line in enumerate(whole) if "during generation: 5 " in line)
    without = whole[:begin] + [line for line in whole[begin : begin + 3] if "assignments: {" not in line][1:]
    without += whole[begin + 3 :]

    found = compared(without)

    assert _kinds(found[:5]) == [DepartureKind.CONFIG_MISMATCH]


def test_garbled_bytes_make_a_round_unreadable_and_leave_the_others() -> None:
    changed = [
        line.replace("metadata=[0, 2,", "metadata=[-1, -2,")
        if "JoinGroup response" in line and "generationId=1," in line
        else line
        for line in lines("sessioned", "w2")
    ]

    found = compared(changed)

    assert _kinds(found[:1]) == [DepartureKind.UNREADABLE]
    assert "version" in (found[0].departure.detail if found[0].departure else "")
    assert sum(round_.is_compared for round_ in found) >= 16


def test_another_job_than_recorded_is_a_difference_with_names() -> None:
    changed = [
        line.replace("connectorIds=[gen-a, ", "connectorIds=[gen-a, other, ", 1)
        if "Configured assignments" in line
        else line
        for line in lines("sessioned", "w2")
    ]

    found = compared(changed)

    assert DepartureKind.JOBS in _kinds(found)
    details = [round_.departure.detail for round_ in found if round_.departure is not None]
    assert any("other" in detail and "recorded" in detail for detail in details)


def test_a_clock_that_is_a_few_milliseconds_off_is_named_and_no_difference() -> None:
    changed = [
        line.replace("04:13:58,817", "04:13:58,820") if "Lost assignments" in line else line
        for line in lines("sessioned", "w2")
    ]

    found = compared(changed)

    assert _kinds(found) == [DepartureKind.CLOCK]
    assert all(round_.is_same for round_ in found)
    assert [round_.departure.detail for round_ in found if round_.departure] == ["20989 ms, recorded 20992 ms"]


def test_a_delay_that_no_clock_explains_is_a_difference() -> None:
    changed = [
        line.replace("04:13:58,817", "04:13:59,817") if "Lost assignments" in line else line
        for line in lines("sessioned", "w2")
    ]

    assert _kinds(compared(changed)) == [DepartureKind.DELAY]


def test_a_process_that_starts_again_has_forgotten_what_the_one_before_knew() -> None:
    log = list(lines("sessioned", "w2"))

    lives = lives_of([*log, *log])

    assert [len(life.rounds) for life in lives if life.rounds] == [18, 18]
    assert all(life.from_start for life in lives)


@pytest.mark.slow
def test_the_command_ends_with_1_where_answers_differ(tmp_path: Path) -> None:
    log = tmp_path / "w2.log"
    log.write_text(
        "".join(
            line.replace("04:13:58,817", "04:13:59,817") if "Lost assignments" in line else line
            for line in lines("sessioned", "w2")
        )
    )

    result = CliRunner().invoke(build_app(), ["connect", "replay", str(log)])

    assert result.exit_code == 1
    assert "18 rounds recorded, 18 compared, 17 the same" in result.stdout
    assert "1 delay: the delay differs" in result.stdout
    assert re.search(r"w2\.log:\d+: generation \d+: delay: 19992 ms, recorded 20992 ms", result.stdout)


def test_logs_without_a_leader_are_refused_with_a_remedy() -> None:
    result = CliRunner().invoke(build_app(), ["connect", "replay", str(CAPTURES / "eager" / "w2.log.gz")])

    assert isinstance(result.exception, NoRoundError)
    assert "DEBUG" in str(result.exception)


def test_a_missing_file_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLogError, match=r"no\.log"):
        read_worker_log(tmp_path / "no.log")


def _rounds(lives: list[WorkerLife]) -> list[RecordedRound]:
    return [recorded for life in lives for recorded in life.rounds]


@pytest.mark.slow
@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
def test_a_damaged_log_is_read_as_far_as_it_goes(data: st.DataObject) -> None:
    log = list(lines("sessioned", "w2"))[:120]
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(log) - 1))
        how = data.draw(st.sampled_from(["drop", "cut", "swap", "insert"]))
        if how == "drop" and len(log) > 1:
            del log[at]
        elif how == "cut":
            log[at] = log[at][: data.draw(st.integers(0, len(log[at])))] + "\n"
        elif how == "swap":
            log[at], log[0] = log[0], log[at]
        else:
            where = data.draw(st.integers(0, len(log[at])))
            log[at] = log[at][:where] + data.draw(st.text(max_size=5)) + log[at][where:]
    for found in compared(log):
        assert found.departure is None or found.departure.kind in DepartureKind


@pytest.mark.parametrize(
    "line",
    [
        "Received successful JoinGroup response: JoinGroupResponseData(" + "x, errorCode=0, generationId=1, " * 30_000,
        "Received successful JoinGroup response: JoinGroupResponseData(x, errorCode=0, generationId=" + "9" * 10_000,
        "Sending leader SyncGroup to coordinator " + "SyncGroupRequestData(generationId=" * 30_000,
        "Configured assignments: " + "{ connectorIds=[" * 60_000,
        "Joined group at generation 1 with protocol version " + ", connectorIds=[], taskIds=[" * 40_000,
        "clientId=" * 100_000,
    ],
)
def test_a_line_of_a_megabyte_is_gone_through_once(line: str) -> None:
    # Of this process alone: other work on the machine does not count.
    started = time.process_time()
    lives_of(["[Worker clientId=w, groupId=g] " + line + "\n"])
    assert time.process_time() - started < 5


def test_an_eager_round_that_names_a_task_in_the_billions_is_unreadable() -> None:
    changed = [
        line.replace("0, 0, 0, 2, -1, -1, -1, -1, 0, 0, 0, 0", "0, 0, 0, 2, -1, -1, -1, -1, 127, 0, 0, 0")
        if "Sending leader SyncGroup" in line
        else line
        for line in lines("eager", "w1")
    ]

    kinds = _kinds(compared(changed))

    assert kinds
    assert set(kinds) == {DepartureKind.UNREADABLE}


@given(st.binary(max_size=300))
def test_any_bytes_are_a_log(data: bytes) -> None:
    try:
        lives = read_worker_log(BytesIO(data))
    except UnreadableLogError:
        return
    assert _rounds(lives) == []


def test_the_captured_logs_are_those_of_all_workers() -> None:
    assert [len(files(group)) for group in ("sessioned", "eager", "conflict")] == [3, 2, 2]
