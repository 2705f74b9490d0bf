"""Logs as operators publish them: merged, rotated, without a date, of the assignor alone; neighbours of each kind."""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignor_lab.capture.logs.connect.replay import ComparedRound, replay
from assignor_lab.capture.logs.connect.rounds import read_worker_log
from assignor_lab.cli.app import build_app
from tests.capture.connect_log.logs import compared, configured, lines

CASES = Path(__file__).parents[2] / "data" / "public" / "connect"


def text_of(case: str) -> list[str]:
    with gzip.open(CASES / f"{case}.gz", "rt") as log:
        return list(log)


def written(folder: Path, **logs: Sequence[str]) -> list[Path]:
    paths = []
    for name, content in logs.items():
        paths.append(folder / name.replace("_", "."))
        paths[-1].write_text("".join(content))
    return paths


def rounds_of(*paths: Path) -> list[ComparedRound]:
    return [found for life in read_worker_log(*paths) for found in replay(life, configured)]


def counts(rounds: list[ComparedRound]) -> tuple[int, int, int]:
    return len(rounds), sum(each.is_compared for each in rounds), sum(each.is_same for each in rounds)


def replayed(*paths: Path) -> tuple[int, str]:
    result = CliRunner().invoke(build_app(), ["connect", "replay", *map(str, paths)])
    return result.exit_code, " ".join(result.output.split())


# --- merged logs ------------------------------------------------------------------------------------

MERGED = "04-merged-log-default-client-id/all.log"


@pytest.mark.parametrize(
    ("prefix", "instead"),
    [
        (r"\A\[pod/(\S+)/connect\] ", r"[pod/\1/connect] "),
        (r"\A\[pod/connect-(\S+)/connect\] ", r"connect-\1  | "),
        (r"\A\[pod/\S+\] ", ""),
        (r"\A\[pod/connect-(\S+)/connect\] ", r"connect-\1 connect "),
    ],
    ids=["kubectl", "compose", "one-stream", "unknown-prefix"],
)
def test_workers_of_a_merged_log_are_separated(tmp_path: Path, prefix: str, instead: str) -> None:
    (path,) = written(tmp_path, all_log=[re.sub(prefix, instead, line) for line in text_of(MERGED)])

    assert counts(rounds_of(path)) == (32, 32, 32)
    code, printed = replayed(path)
    assert code == 0
    assert "89 reports of a worker's work after one of them, 89 as our answer would have it" in printed


def test_brokers_before_2_5_send_no_protocol_type() -> None:
    changed = [line.replace("protocolType='connect'", "protocolType=null") for line in lines("sessioned", "w2")]

    assert counts(compared(changed)) == (18, 18, 18)


# --- rotated logs -----------------------------------------------------------------------------------

FIRST, LAST = "06-rotated-log/w1.log.1", "06-rotated-log/w1.log"


@pytest.mark.parametrize(
    "names",
    [
        ("connect_log", "connect_log_1"),
        ("connect_log_1", "connect_log"),
        ("connect-2026-11-21-01_log", "connect-2026-11-21-02_log"),
        ("a_log", "b_log"),
    ],
)
def test_parts_of_a_rotated_log_are_joined_in_time(tmp_path: Path, names: tuple[str, str]) -> None:
    paths = written(tmp_path, **{names[0]: text_of(FIRST), names[1]: text_of(LAST)})

    assert counts(rounds_of(*paths)) == (14, 14, 14)
    assert counts(rounds_of(*reversed(paths))) == (14, 14, 14)


def test_many_parts_are_joined(tmp_path: Path) -> None:
    whole = [*text_of(FIRST), *text_of(LAST)]
    parts = {f"w1_log_{number}": whole[start : start + 25] for number, start in enumerate(range(0, len(whole), 25))}

    assert counts(rounds_of(*reversed(written(tmp_path, **parts)))) == (14, 14, 14)


def test_a_missing_part_gives_no_verdict(tmp_path: Path) -> None:
    whole = [*text_of(FIRST), *text_of(LAST)]
    paths = written(tmp_path, w1_log_1=whole[:70], w1_log=whole[90:])

    code, printed = replayed(*paths)

    assert code == 0
    assert "after-gap" in printed


def test_debug_that_was_switched_on_later_is_compared_from_the_first_calm_round_on() -> None:
    whole = list(lines("sessioned", "w2"))
    begin = next(number for number, line in enumerate(whole) if "during generation: 8 " in line)
    changed = [line for number, line in enumerate(whole) if number >= begin or "DEBUG" not in line]

    rounds, is_compared, is_same = counts(compared(changed))

    assert rounds == 10
    assert is_compared == is_same == 10


# --- logs without dates -----------------------------------------------------------------------------


OF_DAY = [f"08-time-of-day-only/w{worker}.log" for worker in (1, 2, 3)]


def shifted(line: str, seconds: int) -> str:
    hours, minutes, second = map(int, line[:8].split(":"))
    moved = (hours * 3600 + minutes * 60 + second + seconds) % 86_400
    return f"{moved // 3600:02}:{moved // 60 % 60:02}:{moved % 60:02}{line[8:]}"


@pytest.mark.parametrize("seconds", [0, 7_200, 71_100], ids=["utc", "another-zone", "over-midnight"])
def test_times_of_day_are_enough(tmp_path: Path, seconds: int) -> None:
    logs = {Path(case).name.replace(".", "_"): [shifted(line, seconds) for line in text_of(case)] for case in OF_DAY}
    paths = written(tmp_path, **logs)

    assert counts(rounds_of(*paths)) == (32, 32, 32)
    assert replayed(*paths)[0] == 0


def test_lines_without_any_time_give_no_verdict(tmp_path: Path) -> None:
    paths = written(tmp_path, **{Path(case).stem + "_log": [line[9:] for line in text_of(case)] for case in OF_DAY})

    code, printed = replayed(*paths)

    assert code == 0
    assert "32 rounds recorded, 0 compared" in printed
    assert "differ" not in printed


# --- the assignor's own text ------------------------------------------------------------------------

ASSIGNOR = "21-assignor-logger-only/worker.log"


def test_the_assignors_text_alone_is_compared() -> None:
    (life,) = read_worker_log(CASES / f"{ASSIGNOR}.gz")
    (found,) = replay(life, configured)

    assert (found.recorded.generation, found.is_compared, found.is_same) == (6, True, True)
    assert {member[:8]: [str(task) for task in jobs.tasks] for member, jobs in found.owned_after.items()} == {
        "worker-1": ["sink-a-0", "sink-a-1"], "worker-2": ["sink-b-0", "sink-b-1"],
    }  # fmt: skip
    assert all(not message.delay_ms for message in (found.recorded.assignments or {}).values())


def test_the_assignors_differences_as_text_are_compared() -> None:
    assignment = "Assignment{error=0, leader='l', leaderUrl='u', offset=29, connectorIds=[], taskIds=[]"
    changed = [
        re.sub(
            r"Actual assignments: \{(\S+?)=\{.*?\}, (\S+?)=\{.*?\}\}",
            rf"Actual assignments: {{\1={assignment}, revokedConnectorIds=[], revokedTaskIds=[], delay=0}}, "
            rf"\2={assignment}, revokedConnectorIds=[], revokedTaskIds=[], delay=0}}}}",
            line,
        )
        for line in text_of(ASSIGNOR)
    ]

    assert counts(compared(changed)) == (1, 1, 1)
    assert counts(compared([line.replace("taskIds=[], revoked", "taskIds=[x-0], revoked") for line in changed])) == (
        1, 0, 0,
    )  # fmt: skip


def test_another_placement_in_the_assignors_text_is_no_verdict_without_its_memory() -> None:
    changed = [line.replace("taskIds=[sink-b-0, sink-b-1]}}}", "taskIds=[]}}}") for line in text_of(ASSIGNOR)]

    assert all(each.departure is None or not each.departure.kind.is_difference for each in compared(changed))


# --- missing lines ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_missing_lines_never_make_a_difference(seed: int) -> None:
    draw = random.Random(seed)
    for group, worker in (("sessioned", "w2"), ("sessioned", "w1"), ("conflict", "w2")):
        whole = list(lines(group, worker))
        dropped = set(draw.sample(range(len(whole)), draw.choice([1, 2, 5])))
        for kept in (
            [line for number, line in enumerate(whole) if number not in dropped],
            whole[draw.randrange(len(whole) // 2) :],
            [line for number, line in enumerate(whole) if number > max(dropped) or "DEBUG" not in line],
        ):
            assert not [
                each for each in compared(kept) if each.departure is not None and each.departure.kind.is_difference
            ]
