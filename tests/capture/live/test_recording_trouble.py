"""A full disk, and signals that end a recording: reported records are saved, and it can continue."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.cli.record import _stopped_by_signals
from assignor_lab.documents.errors import OutputFileError
from tests.capture.coordinator_records import generation, key, stable_groups

GROUP = "orders"


def record_of(number: int) -> GroupRecord:
    return GroupRecord(number, 5_000 + number, key(2, GROUP), generation(number, stable_groups()[-1]))


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    """Limits the length of files: a longer write fails after a part, as on a full disk.

    Only the code below has the limit: pytest's own output may be a file, and is written before fixtures end.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_fails_half_way_loses_nothing_that_was_said_to_be_there(tmp_path: Path) -> None:
    recording = GroupRecording(tmp_path, GROUP, 0)
    recording.create()
    recording.take(record_of(1))
    recording.settle(2)
    whole = (tmp_path / "records.jsonl").stat().st_size
    recording.take(record_of(2))
    refused = pytest.raises(OutputFileError, match=r"records\.jsonl: cannot be written: .*; allow larger files")
    with refused as raised, longest_file(whole + 100):
        recording.settle(3)
    assert "name a file" not in str(raised.value)
    assert (tmp_path / "records.jsonl").stat().st_size == whole + 100
    again = GroupRecording(tmp_path, GROUP, 0)
    assert again.reopen() == 2
    again.take(record_of(2))
    again.settle(3)
    again.write_history()
    assert [each["generation"] for each in again.history.generations] == [1, 2]
    assert (tmp_path / "records.jsonl").read_text().count("key_hex") == 2


def test_a_recording_whose_write_failed_may_try_it_once_more(tmp_path: Path) -> None:
    recording = GroupRecording(tmp_path, GROUP, 0)
    recording.create()
    recording.take(record_of(1))
    with pytest.raises(OutputFileError), longest_file(100):
        recording.settle(2)
    assert not recording.is_settled


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_asks_for_an_orderly_end_and_the_second_one_does_not_wait(name: str) -> None:
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with _stopped_by_signals() as is_stopped:
        assert not is_stopped()
        os.kill(os.getpid(), number)
        assert is_stopped()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before
