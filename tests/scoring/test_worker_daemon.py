"""The process from which Spark's workers are forked: it takes over Spark's start, and ends when it is not needed."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assignor_lab.scoring.spark.worker_daemon import MODULE, ReadyDaemon

pytestmark = pytest.mark.slow

#: The import of a worker of this name fails with a message about itself.
WORKER = "pyspark_worker_of_this_test"


@contextmanager
def as_spark_does(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Spark's start of a process, with a module that is its worker."""
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHON_WORKER_FACTORY_SECRET": "secret", **environment},
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that answers with the id of its parent, True if everything was imported, and a variable."""
    (tmp_path / f"{WORKER}.py").write_text(
        "import os, sys\n"
        "def main(infile, outfile):\n"
        "    imported = 'assignor_lab.scoring.spark.job' in sys.modules\n"
        "    outfile.write(f'{os.getppid()} {imported} {os.environ.get(\"OF_SPARK\")}'.encode())\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)


@pytest.fixture
def daemon(tmp_path: Path, worker: None) -> Iterator[ReadyDaemon]:
    ready = ReadyDaemon(tmp_path)
    yield ready
    ready.end()


def port_of(process: subprocess.Popen[bytes]) -> int:
    """The port at which the daemon accepts requests for workers, which it writes once."""
    assert process.stdout is not None
    (port,) = struct.unpack("!i", process.stdout.read(4))
    return int(port)


def asked(port: int) -> list[str]:
    """The output of a new worker, requested as Spark does."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        assert int.from_bytes(connection.recv(4), "big") > 0, "the worker's process"
        connection.sendall(struct.pack("!i", 6) + b"secret")
        connection.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: connection.recv(4096), b""))
    assert said.startswith(struct.pack("!i", 2) + b"ok")
    return said[6:].decode().split()


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_workers_come_from_the_process_that_is_ready_in_the_environment_that_spark_gives(daemon: ReadyDaemon) -> None:
    with as_spark_does({**daemon.environment, "OF_SPARK": "told"}) as process:
        port = port_of(process)
        assert asked(port) == [str(daemon.pid), "True", "told"]
        assert asked(port) == [str(daemon.pid), "True", "told"]
        process.communicate(timeout=60)
        assert process.returncode == 0
    daemon.end()
    assert not is_there(daemon.pid)


@pytest.mark.parametrize("gone", ["never there", "ended before", "taken already"])
def test_where_none_is_ready_what_spark_starts_is_the_daemon_itself(daemon: ReadyDaemon, gone: str) -> None:
    environment = {**daemon.environment, "OF_SPARK": "told"}
    with as_spark_does(environment) as first:
        if gone == "taken already":
            asked(port_of(first))
        elif gone == "ended before":
            first.kill()
            daemon.end()
        else:
            environment = {"OF_SPARK": "told"}
        with as_spark_does(environment) as process:
            assert asked(port_of(process)) == [str(process.pid), "True", "told"]


def test_what_spark_started_ends_with_the_daemon_that_was_ready(daemon: ReadyDaemon) -> None:
    with as_spark_does(dict(daemon.environment)) as process:
        asked(port_of(process))
        os.kill(daemon.pid, signal.SIGKILL)
        assert process.wait(timeout=60) == 0


def test_one_that_nobody_takes_ends_with_who_started_it(daemon: ReadyDaemon) -> None:
    assert is_there(daemon.pid)
    daemon.end()
    assert not is_there(daemon.pid)


def test_a_folder_whose_name_is_too_long_for_a_socket_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    with pytest.raises(OSError, match="too long"):
        ReadyDaemon(folder)
