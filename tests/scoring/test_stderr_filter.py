"""Output of the engine and plugins on standard error stays readable."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

SCRIPT = """
import subprocess, sys, threading
from assignor_lab.scoring.spark.stderr_filter import filtered_stderr
say = "import sys; sys.stderr.buffer.write(sys.stdin.buffer.read())"
with filtered_stderr():
    child = subprocess.Popen([sys.executable, "-c", say], stdin=subprocess.PIPE)
child.communicate(sys.stdin.buffer.read())
for thread in threading.enumerate():
    if thread.name == "assignor-stderr":
        thread.join()
sys.stderr.write("our own\\n")
"""


def said(text: bytes) -> list[str]:
    done = subprocess.run([sys.executable, "-c", SCRIPT], input=text, capture_output=True, timeout=60, check=True)
    return done.stderr.decode().splitlines()


def test_lines_that_every_spark_prints_are_left_out() -> None:
    assert said(b'Setting default log level to "WARN".\nreal trouble\n') == ["real trouble", "our own"]


def test_nothing_that_is_said_can_steer_the_terminal() -> None:
    assert said(b"\x1b[2J\x07\xff tab\there\n") == ["\\x1b[2J\\x07\ufffd tab\there", "our own"]


def test_endless_lines_are_cut() -> None:
    first, *others = said(b"x" * 3_000_000 + b"\nnext\n")
    assert len(first) == 4_000
    assert others == ["next", "our own"]


TRACE = b'Traceback (most recent call last):\n  File "daemon.py", line 95, in worker\n'


def test_workers_whose_answer_nobody_waits_for_any_more_say_nothing() -> None:
    assert said(TRACE + b"BrokenPipeError: [Errno 32] Broken pipe\nreal trouble\n") == ["real trouble", "our own"]


def test_two_that_speak_at_once_are_kept_apart_from_what_follows() -> None:
    both = TRACE + TRACE + b"BrokenPipeError: [Errno 32]\nConnectionResetError: [Errno 104]\n"
    assert said(both + b"after\n") == ["after", "our own"]


def test_other_stack_traces_stay_whole() -> None:
    trouble = TRACE + b"ValueError: trouble\n"
    assert said(trouble + b"after\n") == [*trouble.decode().splitlines(), "after", "our own"]
    assert said(TRACE) == [*TRACE.decode().splitlines(), "our own"]
