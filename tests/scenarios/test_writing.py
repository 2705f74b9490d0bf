"""Files appear complete or not at all, with equal bytes for equal documents; result rows have the format's shape."""

from __future__ import annotations

import gzip
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assignment_api import AssignedTask, ProcessID, StreamsClientAssignment, TaskAssignment, TaskId
from assignor_lab.scenarios import canonical_line, error_row, read_scenarios, result_row, write_lines
from tests.scenarios.documents import PROCESS_1, PROCESS_2, scenario, streams_document

CLIENT_1, CLIENT_2 = ProcessID.parse(PROCESS_1), ProcessID.parse(PROCESS_2)


def active(*ids: str) -> list[AssignedTask]:
    return [AssignedTask.active(TaskId.parse(task)) for task in ids]


def standby(*ids: str) -> list[AssignedTask]:
    return [AssignedTask.standby(TaskId.parse(task)) for task in ids]


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_what_is_written_can_be_read(tmp_path: Path, name: str) -> None:
    documents = [streams_document(id="a"), streams_document(id="ü🦆")]
    assert write_lines(tmp_path / name, documents) == 2
    assert [scenario.document for scenario in read_scenarios(tmp_path / name)] == documents
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_bytes_of_a_compressed_file_depend_on_nothing_but_its_lines(tmp_path: Path) -> None:
    for name in ("one.jsonl.gz", "other.jsonl.gz"):
        write_lines(tmp_path / name, [streams_document()])
    written = (tmp_path / "one.jsonl.gz").read_bytes()
    assert written == (tmp_path / "other.jsonl.gz").read_bytes()
    assert written[4:8] == bytes(4)  # no moment of writing
    assert gzip.decompress(written) == canonical_line(streams_document())


def test_a_line_has_no_spaces_and_keeps_the_order_of_its_keys() -> None:
    assert canonical_line({"b": [1, {"ä": None}], "a": True}) == b'{"b":[1,{"\\u00e4":null}],"a":true}\n'


def test_a_number_that_json_cannot_say_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_lines(tmp_path / "out.jsonl", [{"a": float("nan")}])
    assert list(tmp_path.iterdir()) == []


def failing() -> Iterator[dict[str, Any]]:
    yield {"a": 1}
    raise RuntimeError("half way")


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"old")
    with pytest.raises(RuntimeError, match="half way"):
        write_lines(tmp_path / name, failing())
    assert (tmp_path / name).read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_a_process_that_is_killed_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    program = (
        "import os, signal, sys\n"
        "from assignor_lab.scenarios import write_lines\n"
        "def documents():\n"
        "    for number in range(100_000):\n"
        "        yield {'number': number}\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "write_lines(sys.argv[1], documents())\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)]).returncode == -9
    assert path.read_bytes() == b"old"


def test_a_replaced_file_keeps_its_permissions_and_a_new_one_gets_the_usual(tmp_path: Path) -> None:
    old, new, usual = tmp_path / "old.jsonl", tmp_path / "new.jsonl", tmp_path / "usual"
    old.write_bytes(b"")
    old.chmod(0o640)
    usual.write_bytes(b"")
    write_lines(old, [])
    write_lines(new, [])
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


def test_a_link_stays_and_what_it_names_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target.jsonl", tmp_path / "link.jsonl"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_lines(link, [{"a": 1}])
    assert link.is_symlink()
    assert target.read_bytes() == b'{"a":1}\n'


def test_a_device_is_written_to_and_not_replaced() -> None:
    assert write_lines(os.devnull, [{"a": 1}]) == 1
    assert not Path(os.devnull).is_file()


@pytest.mark.slow
def test_a_dash_is_the_standard_output() -> None:
    program = "from assignor_lab.scenarios import write_lines; write_lines('-', [{'a': 1}])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert run.stdout == b'{"a":1}\n'


# --- result rows ----------------------------------------------------------------------------------


def test_a_result_has_every_client_in_the_order_of_the_scenario_and_sorted_tasks() -> None:
    answer = TaskAssignment([StreamsClientAssignment.of(CLIENT_1, [*active("1_10", "1_9", "0_0"), *standby("2_0")])])
    assert result_row(scenario(), "mine", answer) == {
        "format": 1,
        "kind": "streams",
        "id": "small",
        "assignor": "mine",
        "assignment": {
            PROCESS_2: {"active": [], "standby": []},
            PROCESS_1: {"active": ["0_0", "1_9", "1_10"], "standby": ["2_0"]},
        },
        "followup": False,
        "threads": None,
        "error": None,
    }
    assert list(result_row(scenario(), "mine", answer)["assignment"]) == [PROCESS_2, PROCESS_1]


def test_clients_that_the_answer_alone_names_come_last() -> None:
    stranger = ProcessID.parse("00000000-0000-0000-0000-000000000000")
    answer = TaskAssignment([StreamsClientAssignment.of(stranger, active("0_0"))])
    assert list(result_row(scenario(), "mine", answer)["assignment"]) == [PROCESS_2, PROCESS_1, str(stranger)]


def test_one_deadline_makes_a_followup_and_deadlines_are_written_when_asked_for() -> None:
    answer = TaskAssignment(
        [
            StreamsClientAssignment.of(CLIENT_2, []).with_followup_rebalance(0),
            StreamsClientAssignment.of(CLIENT_1, []),
        ]
    )
    row = result_row(scenario(), "mine", answer)
    assert row["followup"] is True
    assert "followups" not in row
    assert result_row(scenario(), "mine", answer, with_followups=True)["followups"] == {PROCESS_2: 0}


def test_threads_are_sorted_too() -> None:
    answer = TaskAssignment([])
    spread = {"c1": {"active": [TaskId(0, 10), TaskId(0, 9)], "standby": []}}
    row = result_row(scenario(), "mine", answer, threads=spread)
    assert row["threads"] == {"c1": {"active": ["0_9", "0_10"], "standby": []}}


def test_an_error_is_a_row_without_an_assignment() -> None:
    row = error_row(scenario(), "mine", "ConfigError", "ConfigException", "too many")
    assert row["error"] == {"type": "ConfigError", "java_type": "ConfigException", "message": "too many"}
    assert (row["assignment"], row["followup"], row["threads"]) == (None, None, None)
    json.loads(canonical_line(row))
