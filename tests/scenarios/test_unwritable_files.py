from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assignor_lab.scenarios import OutputFileError, canonical_line, write_lines
from tests.scenarios.documents import streams_document
from tests.signals import hear_ctrl_c

pytestmark = pytest.mark.slow

COMMAND = f'exec "{sys.executable}" -m assignor_lab.cli.main'
ASSIGN = f"{COMMAND} assign --assignor sticky"


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.jsonl").write_bytes(canonical_line(streams_document()))
    return tmp_path


def test_a_missing_folder_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(OutputFileError, match=r"missing/out\.jsonl: cannot be written: No such file or directory; "):
        write_lines(tmp_path / "missing" / "out.jsonl", [])


def test_a_folder_in_place_of_a_file_is_one_message(folder: Path) -> None:
    done = shell(f"{ASSIGN} in.jsonl --out .", folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert ".: cannot be written: Is a directory; " in done.stderr


def test_a_full_disk_is_one_message(folder: Path) -> None:
    for done in (shell(f"{ASSIGN} in.jsonl > /dev/full", folder), shell(f"{ASSIGN} in.jsonl --out /dev/full", folder)):
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "cannot be written: No space left on device; " in done.stderr


@pytest.mark.parametrize("command", [f"{ASSIGN} in.jsonl", f"{COMMAND} plugins", f"{COMMAND} config --json"])
def test_a_closed_standard_output_is_one_message(folder: Path, command: str) -> None:
    done = shell(f"{command} >&-", folder)
    assert (done.returncode, done.stderr) == (
        2,
        "assignor: the standard output is closed: open it, or name a file with --out\n",
    )


def test_results_go_to_a_file_though_the_standard_output_is_closed(folder: Path) -> None:
    done = shell(f"{ASSIGN} in.jsonl --out out.jsonl >&-", folder)
    assert done.returncode == 0
    # The one remark names the release of the answers.
    assert done.stderr.startswith("assignor: sticky: as Kafka 4.4 decides")
    assert done.stderr.count("\n") == 1
    assert (folder / "out.jsonl").stat().st_size > 0


def test_a_closed_standard_input_is_an_empty_one(folder: Path) -> None:
    done = shell(f"{ASSIGN} - <&-", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("command", [f"{ASSIGN} in.jsonl", f"{COMMAND} import in.jsonl"])
@pytest.mark.parametrize("out", ["in.jsonl", "./in.jsonl", "link.jsonl"])
def test_results_never_replace_what_they_are_made_from(folder: Path, command: str, out: str) -> None:
    (folder / "link.jsonl").symlink_to("in.jsonl")
    before = (folder / "in.jsonl").read_bytes()
    done = shell(f"{command} --out {out}", folder)
    assert done.returncode == 2
    assert "would be replaced: choose another file" in done.stderr
    assert (folder / "in.jsonl").read_bytes() == before


def test_ctrl_c_is_one_message(folder: Path) -> None:
    read, write = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", "assignor_lab.cli.main", "assign", "--assignor", "sticky", "-"],
        preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - nothing else runs there
        cwd=folder,
        stdin=read,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        # More than its buffer holds, so that output has begun when the first byte arrives.
        os.write(write, canonical_line(streams_document()) * 40)
        assert process.stdout is not None
        process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=60)
    os.close(read)
    os.close(write)
    assert (process.returncode, messages) == (130, "assignor: interrupted\n")
