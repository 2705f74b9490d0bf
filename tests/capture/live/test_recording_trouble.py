"""A recording whose disk is full, and signals that end one: what was said to be there is there, and it goes on."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.capture.recorded.group_history import GroupRecord
from assignor_lab.cli.record import _stopped_by_signals
from assignor_lab.documents.errors import OutputFileError
from tests.capture.coordinator_records import generation, key, stable_groups

GROUP = "orders"


def record_of(number: int) -> GroupRecord:
    return GroupRecord(number, 5_000 + number, key(2, GROUP), generation(number, stable_groups()[-1]))


@pytest.fixture
def limit() -> Iterator[Any]:
    """Sets how long a file may become; writes beyond that fail as those on a full disk do, after a part."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_fails_half_way_loses_nothing_that_was_said_to_be_there(tmp_path: Path, limit: Any) -> None:
    recording = GroupRecording(tmp_path, GROUP, 0)
    recording.create()
    recording.take(record_of(1))
    recording.settle(2)
    whole = (tmp_path / "records.jsonl").stat().st_size
    recording.take(record_of(2))
    limit(whole + 100)
    with pytest.raises(OutputFileError, match=r"records\.jsonl: cannot be written: .*; allow larger files") as raised:
        recording.settle(3)
    assert "name a file" not in str(raised.value)
    limit(resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    assert (tmp_path / "records.jsonl").stat().st_size == whole + 100
    again = GroupRecording(tmp_path, GROUP, 0)
    assert again.reopen() == 2
    again.take(record_of(2))
    again.settle(3)
    again.write_history()
    assert [each["generation"] for each in again.history.generations] == [1, 2]
    assert (tmp_path / "records.jsonl").read_text().count("key_hex") == 2


def test_a_recording_whose_write_failed_may_try_it_once_more(tmp_path: Path, limit: Any) -> None:
    recording = GroupRecording(tmp_path, GROUP, 0)
    recording.create()
    recording.take(record_of(1))
    limit(100)
    with pytest.raises(OutputFileError):
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
