"""Truncated, garbled, huge and foreign logs: complete parts are kept, the rest is reported with its place."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assignment_api import input_files
from assignor_lab.capture.errors import LogImportError, LogLineTooLongError, NoDecisionError, UnreadableLogError
from assignor_lab.capture.logs import log_files as log_files_module
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.capture.logs.rebalance import LogProblem
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.captured_logs import CAPTURES, LEADER_OF_TAGGED, text_of
from tests.patterns.collected import patterns
from tests.patterns.samples import hard_texts

UUID = "5f1a7d2e-8f2f-4ad8-9f0d-2b8c1e4f6a90"
STATE = (
    "[activeTasks: ([0_0]) standbyTasks: ([]) prevActiveTasks: ([]) prevStandbyTasks: ([])"
    " changelogOffsetTotalsByTask: ([]) taskLagTotals: ([0_0=0]) clientTags: ([]) capacity: 1 assigned: 1]"
)
DECIDED = (
    f"2026-01-01 00:00:00,000 INFO Decided on assignment: {{{UUID}={STATE}}} with no followup probing rebalance.\n"
)


def imported(path: Path) -> tuple[list[dict[str, Any]], list[LogProblem]]:
    problems: list[LogProblem] = []
    return list(import_log([path], on_problem=problems.append)), problems


def log_with(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "app.log"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- garbled messages -----------------------------------------------------------------------------


def test_a_garbled_decision_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    broken = DECIDED.replace("taskLagTotals", "taskLagTot?ls")

    documents, problems = imported(log_with(tmp_path, DECIDED + broken + DECIDED))

    assert len(documents) == 2
    assert [(problem.line, problem.column) for problem in problems if not problem.loses_decision] == [
        (2, broken.index("?") + 1)
    ]
    assert [problem.line for problem in problems if problem.loses_decision] == [2]


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_from_its_beginning(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = gzip.compress(DECIDED.encode()) if packed else DECIDED.encode()
    writer = threading.Thread(target=lambda: path.write_bytes(content))
    writer.start()

    documents, problems = imported(path)

    writer.join()
    assert (len(documents), problems) == (1, [])


def test_a_pipe_without_a_writer_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "PATIENCE_S", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableLogError, match="is a pipe that no process writes to"):
        imported(tmp_path / "pipe")


def test_a_decision_that_was_cut_off_is_named(tmp_path: Path) -> None:
    cut = DECIDED[:200]

    documents, problems = imported(log_with(tmp_path, DECIDED + cut + "\n"))

    assert len(documents) == 1
    assert problems[0].line == 2
    assert problems[0].column == len(cut) + 1
    assert "the text ends here" in problems[0].reason


def test_a_garbled_decision_is_rebuilt_from_the_pair_of_the_same_rebalance(tmp_path: Path) -> None:
    lines = text_of(LEADER_OF_TAGGED).splitlines(keepends=True)
    place = next(index for index, line in enumerate(lines) if "Decided on assignment" in line)
    lines[place] = lines[place][:300] + "\n"

    documents, problems = imported(log_with(tmp_path, "".join(lines)))

    assert [document["source"]["generation"] for document in documents] == list(range(1, 25))
    assert [(problem.line, problem.loses_decision) for problem in problems] == [(place + 1, False)]


def test_a_custom_assignors_decision_without_its_debug_line_says_what_to_switch_on(tmp_path: Path) -> None:
    lines = text_of(CAPTURES / "plain" / "p1.log.gz").splitlines(keepends=True)
    log = log_with(tmp_path, "".join(line for line in lines if " DEBUG " not in line))

    with pytest.raises(NoDecisionError, match="DEBUG"):
        imported(log)


def test_a_decision_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    twice = DECIDED.replace("prevActiveTasks: ([])", "prevActiveTasks: ([0_0, 0_0])")

    documents, problems = imported(log_with(tmp_path, DECIDED + twice))

    assert len(documents) == 1
    assert "occurs twice" in problems[0].reason
    assert problems[0].line == 2


def test_an_input_without_its_decision_is_named(tmp_path: Path) -> None:
    text = text_of(LEADER_OF_TAGGED)
    end = text.rindex("Decided on assignment")

    documents, problems = imported(log_with(tmp_path, text[: text.rindex("\n", 0, end)]))

    assert len(documents) == 23
    assert [problem.loses_decision for problem in problems] == [True]
    assert "not its outcome" in problems[0].reason


# --- unreadable files -----------------------------------------------------------------------------


def test_a_missing_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLogError, match=r"nothing\.log.*cannot be read"):
        imported(tmp_path / "nothing.log")


def test_a_folder_is_an_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableLogError, match="cannot be read"):
        imported(tmp_path)


@pytest.mark.parametrize("length", [3, 10, 1000, -1, -8])
def test_gzip_data_that_end_too_early_are_an_error(length: int, tmp_path: Path) -> None:
    log = log_with(tmp_path, LEADER_OF_TAGGED.read_bytes()[:length])

    with pytest.raises(UnreadableLogError, match="gzip"):
        imported(log)


def test_damaged_gzip_data_are_an_error(tmp_path: Path) -> None:
    data = bytearray(LEADER_OF_TAGGED.read_bytes())
    data[5000:5100] = bytes(100)

    with pytest.raises(UnreadableLogError, match=r"app\.log:\d+: the gzip data are damaged"):
        imported(log_with(tmp_path, bytes(data)))


@pytest.mark.slow
def test_a_line_that_does_not_end_is_an_error_before_it_fills_the_memory(tmp_path: Path) -> None:
    zeros = io.BytesIO()
    with gzip.GzipFile(fileobj=zeros, mode="wb") as packed:
        packed.write(DECIDED.encode())
        for _ in range(70):
            packed.write(b"x" * 2**20)

    with pytest.raises(LogLineTooLongError, match=r"app\.log:2: the line is longer than 64 MiB") as caught:
        imported(log_with(tmp_path, zeros.getvalue()))
    assert caught.value.line == 2


def test_pieces_of_a_line_are_bounded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assignor_lab.capture.logs.log_lines.MAX_LINE_BYTES", 100_000)
    piece = "2026-11-21T05:42:26.6Z stdout P Decided on assignment: " + "x" * 16_000 + "\n"

    with pytest.raises(LogLineTooLongError, match="pieces of this line"):
        imported(log_with(tmp_path, piece * 10))


# --- no decision ----------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", "\n\n", "INFO nothing of interest\n" * 1000, "\x00" * 1000])
def test_a_file_without_a_decision_says_what_to_look_for(content: str, tmp_path: Path) -> None:
    with pytest.raises(NoDecisionError, match=r"app\.log: no assignment decision: look for .*Decided on assignment"):
        imported(log_with(tmp_path, content))


def test_if_every_decision_is_garbled_the_error_names_the_first(tmp_path: Path) -> None:
    with pytest.raises(NoDecisionError, match=r"app\.log:1:\d+: the message 'Decided on assignment:' is garbled"):
        imported(log_with(tmp_path, DECIDED[:150] + "\n"))


# --- anything at all ------------------------------------------------------------------------------

REAL = text_of(CAPTURES / "plain" / "p1.log.gz").encode()
PIECES = REAL.split(b"\n")[:60]


def read_anything(data: bytes) -> None:
    with suppress(LogImportError):
        for document in import_log(["-"], standard_input=io.BytesIO(data)):
            scenario_from_document(document, Place("-", 1))


@settings(deadline=None)
@given(st.binary(max_size=500))
@example(b"\x1f\x8b" + b"\x08" * 20)
@example(b'{"log": "' + b"[" * 300 + b'"}\n')
def test_any_bytes_are_decisions_or_a_typed_error(data: bytes) -> None:
    read_anything(data)
    read_anything(b"Decided on assignment: " + data)
    read_anything(DECIDED.encode() + data)


@settings(deadline=None)
@given(st.data())
def test_any_mixture_of_real_lines_is_decisions_or_a_typed_error(data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(PIECES), max_size=40))
    cut = data.draw(st.integers(0, 400))
    text = b"\n".join(lines)
    read_anything(text[: len(text) - cut])


@settings(deadline=None)
@given(st.integers(0, len(REAL) - 1), st.integers(0, 200), st.binary(max_size=20))
def test_any_damage_to_a_real_log_is_decisions_or_a_typed_error(start: int, length: int, patch: bytes) -> None:
    read_anything(REAL[:start] + patch + REAL[start + length :])


def test_bytes_that_are_no_utf_8_do_no_harm(tmp_path: Path) -> None:
    log = log_with(tmp_path, b"\xff\xfe\x80 " + DECIDED.encode())

    documents, problems = imported(log)

    assert len(documents) == 1
    assert not problems


@pytest.mark.slow
def test_block_borders_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = imported(LEADER_OF_TAGGED)
    for size in (97, 4096, 65_537):
        monkeypatch.setattr(log_files_module, "_BLOCK_BYTES", size)
        assert imported(LEADER_OF_TAGGED)[0] == expected


@pytest.mark.slow
def test_repeated_words_of_messages_cost_seconds(tmp_path: Path) -> None:
    # Quadratic work takes minutes here; one member's line of 3 KB took 55 s.
    lines = [
        hard
        for used in patterns()
        if used.where.startswith("assignor_lab.capture.logs.")
        for _, _, hard in list(hard_texts(used.pattern, 100))[::2]
    ]
    path = log_with(tmp_path, "\n".join(lines))
    command = [sys.executable, "-m", "assignor_lab.cli.main", "import", str(path)]

    ended = subprocess.run(command, timeout=60, check=False, capture_output=True, text=True)

    assert "internal error" not in ended.stderr
    assert ended.returncode == 2
