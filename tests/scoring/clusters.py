"""Spark's own servers as processes of this machine, from the installed package: a standalone cluster, Spark Connect."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs
import pyspark

SPARK_HOME = Path(pyspark.__file__).parent
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
PATIENCE_SECONDS = 120


@attrs.frozen
class Cluster:
    """A standalone cluster."""

    master: str
    workers: tuple[int, ...]

    def executors(self) -> list[int]:
        return [child for worker in self.workers for child in descendants(worker)[:1]]


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and workers of one core each."""
    port = _free_port()
    where = ["--host", "127.0.0.1", "--webui-port", "0"]
    with ExitStack() as stack:
        log = folder / "master.log"
        server = stack.enter_context(_process([_class(), _MASTER, *where, "--port", str(port)], log))
        address = f"spark://127.0.0.1:{port}"
        _wait_for(lambda: _is_open(port), server, log)
        worker = [_class(), _WORKER, *where, "--cores", "1", "--memory", "1g", "--work-dir"]
        started = [
            stack.enter_context(
                _process([*worker, str(folder / f"work-{number}"), address], folder / f"worker-{number}.log")
            )
            for number in range(workers)
        ]
        _wait_for(lambda: log.read_text().count("Registering worker") == workers, server, log)
        yield Cluster(address, tuple(process.pid for process in started))


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server on two cores; yields its address."""
    port = _free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    words = [str(SPARK_HOME / "bin" / "spark-submit"), "--class", _CONNECT, "--master", "local[2]"]
    words += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    log = folder / "connect.log"
    with _process([*words, "--driver-java-options", _JAVA_OPTIONS, "spark-internal"], log, folder) as server:
        _wait_for(lambda: _is_open(port), server, log)
        yield f"sc://127.0.0.1:{port}"


def descendants(parent: int) -> list[int]:
    found, waiting = [], [parent]
    while waiting:
        children = _children(waiting.pop(0))
        found += children
        waiting += children
    return found


def _children(parent: int) -> list[int]:
    children = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue
            if int(stat.rpartition(")")[2].split()[1]) == parent:
                children.append(int(folder.name))
    return sorted(children)


def _class() -> str:
    return str(SPARK_HOME / "bin" / "spark-class")


@contextmanager
def _process(command: list[str], log: Path, folder: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    environment = {
        **os.environ,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        # A Connect server has Spark's driver in it, which refuses less.
        "SPARK_DAEMON_MEMORY": "768m",
        "SPARK_DAEMON_JAVA_OPTS": _JAVA_OPTIONS,
        "PYSPARK_PYTHON": sys.executable,
        # As in Spark's own script for a Connect server.
        "SPARK_CONNECT_MODE": "0",
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        for pid in [*descendants(process.pid), process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait(timeout=PATIENCE_SECONDS)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _wait_for(ready: Callable[[], bool], server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ready():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
