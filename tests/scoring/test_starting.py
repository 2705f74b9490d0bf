"""Spark starts while the command does other work: its output meanwhile, and no start if it is not needed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assignor_lab.scoring.spark import class_archive
from assignor_lab.scoring.spark.class_archive import archive_options
from tests.scoring.test_score_command import COMMAND, FAMILY, environment, score

MAGIC = (0xF00BABA8).to_bytes(4, "little")


def processes_that_name(text: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in words:
            found.append(words)
    return found


@pytest.mark.slow
def test_a_mistake_leaves_neither_a_jvm_nor_its_files_behind(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch-of-this-test"
    scratch.mkdir()
    done = score(tmp_path, "nowhere.jsonl", "--engine", "spark", TMPDIR=str(scratch))
    assert done.returncode == 2
    (message,) = done.stderr.decode().splitlines()
    assert message.startswith("assignor: nowhere.jsonl: cannot be read")
    deadline = time.monotonic() + 60
    while processes_that_name(str(scratch)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_that_name(str(scratch)) == []
    assert [path.name for path in scratch.iterdir() if path.name.startswith("assignor-")] == []


@pytest.mark.slow
def test_a_terminal_is_told_that_spark_starts_before_anything_else(tmp_path: Path) -> None:
    here, there = pty.openpty()
    command = [*COMMAND, "score", *FAMILY, "--engine", "spark", "--assignor", "stick", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=there, stderr=there, stdout=subprocess.DEVNULL, env=environment(TERM="xterm")):
        os.close(there)
        told = b""
        while True:
            try:
                told += os.read(here, 4096)
            except OSError:
                # The terminal's other end is closed: the command has ended.
                break
    os.close(here)
    assert told.index(b"starting Spark") < told.index(b"did you mean")


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSIGNOR_CLASS_ARCHIVES", str(tmp_path / "archives"))
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark.jar").touch()
    return tmp_path / "jars"


def made_by(jars: Path) -> Path:
    """The file that the JVM of a first run should write."""
    option, *_ = archive_options("/usr/bin/java", jars).split()
    name, _, file = option.partition("=")
    assert name == "-XX:ArchiveClassesAtExit"
    return Path(file)


def test_the_first_run_makes_an_archive_and_later_ones_start_from_it(jars: Path) -> None:
    making = made_by(jars)
    assert archive_options("/usr/bin/java", jars) == "", "another run makes it already"
    making.write_bytes(MAGIC + b"classes")
    used, *_ = archive_options("/usr/bin/java", jars).split()
    name, _, file = used.partition("=")
    assert (name, Path(file).read_bytes()) == ("-XX:SharedArchiveFile", MAGIC + b"classes")
    assert list(Path(file).parent.iterdir()) == [Path(file)]


def test_what_a_killed_jvm_left_is_no_archive(jars: Path) -> None:
    making = made_by(jars)
    making.write_bytes(bytes(100))
    abandoned = making.rename(making.with_name(making.name.replace(f".{os.getpid()}.", ".999999999.")))
    assert archive_options("/usr/bin/java", jars) == "", "its JVM may still be writing"
    os.utime(abandoned, (1, 1))
    assert made_by(jars) == making
    assert not abandoned.exists()


def test_another_spark_has_another_archive_and_old_ones_go(jars: Path) -> None:
    names = []
    for second in range(4):
        os.utime(jars / "spark.jar", (second, second))
        made_by(jars).write_bytes(MAGIC)
        names.append(archive_options("/usr/bin/java", jars))
    assert len(set(names)) == 4
    assert len(list((jars.parent / "archives").iterdir())) == class_archive.KEPT


@pytest.mark.parametrize("said", ["", "/proc/nowhere", "with space"])
def test_where_no_archive_can_be_kept_there_is_none(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setenv("ASSIGNOR_CLASS_ARCHIVES", said and str(tmp_path / said))
    assert archive_options("/usr/bin/java", jars) == ""


IMPORTING_THREADS = """
import sys
import threading
from importlib.abc import MetaPathFinder

threads = set()


class Finder(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.startswith("pyspark."):
            threads.add(threading.current_thread().name)


class NoJvm:
    def __init__(self, *arguments):
        pass

    def wait(self):
        raise OSError("no JVM here")

    def end(self):
        pass


sys.meta_path.insert(0, Finder())
import assignor_lab.scoring.spark.session as session

session.SparkJvm = NoJvm
with session.starting_session("local[1]") as started:
    try:
        started()
    except session.SparkJavaError:
        print(*threads)
"""


@pytest.mark.slow
def test_pyspark_is_imported_in_one_thread_since_two_can_meet_each_others_halves() -> None:
    words = [sys.executable, "-c", IMPORTING_THREADS]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("MainThread\n", "")


KILLED = """
import logging, os, signal
import assignor_lab.scoring.spark.session as session

try:
    with session.starting_session("local[1]") as started:
        spark = started()
        os.kill(session._KEPT[0]._process.pid, signal.SIGKILL)
        spark.range(1).count()
except session.SparkJavaError as error:
    print(error)
logging.getLogger().warning("as before")
"""


@pytest.mark.slow
def test_a_jvm_that_is_killed_ends_the_run_in_one_sentence_without_a_traceback_of_py4j() -> None:
    words = [sys.executable, "-c", KILLED]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    assert done.stdout.startswith("the JVM of Spark was ended by SIGKILL: it was killed or had too little memory")
    assert done.stderr.splitlines() in (["as before"], ["WARNING:root:as before"])
