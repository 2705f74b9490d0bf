"""A process counts as busy if any of its threads runs: the first thread of a JVM only waits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

import pytest

from assignor_lab.runtime.isolation.rest import fields_of, runs

pytestmark = pytest.mark.slow

BUSY = "import threading; threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start(); "
IDLE = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start(); "


@contextmanager
def process(program: str) -> Iterator[int]:
    command = [sys.executable, "-c", f"{program}print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started.pid
        started.kill()


def is_seen_running(pid: int, seconds: float) -> bool:
    end = monotonic() + seconds
    while monotonic() < end:
        fields = fields_of(pid)
        # The state of the first thread alone is not enough.
        if fields[0] == b"S" and runs(pid, fields):
            return True
        sleep(0.01)
    return False


def test_a_thread_that_works_behind_one_that_waits_is_seen() -> None:
    with process(BUSY) as pid:
        assert is_seen_running(pid, seconds=30)


def test_a_process_whose_threads_all_wait_does_not_run() -> None:
    with process(IDLE) as pid:
        # On a busy machine a process may take a while until it waits.
        assert any(not is_seen_running(pid, seconds=0.3) for _ in range(50))
