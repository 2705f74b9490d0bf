"""The process on this machine that Spark's Python workers are forked from, with all that they import imported before.

Spark starts ``pyspark.daemon`` when there is work, and each worker that it forks imports PySpark (from a zip file),
PyArrow, pandas and this package for itself. Here, one process does so while the JVM starts. What Spark starts is this
module, too: it hands its streams and its environment over to the one that is ready, and waits for its end.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

__all__ = ["MODULE", "ReadyDaemon"]

MODULE = "assignor_lab.scoring.spark.worker_daemon"
#: Tells the process that Spark starts where the one that is ready listens.
_ADDRESS = "ASSIGNOR_WORKER_DAEMON"
_READY = "--ready"
#: What workers of nearly every run import.
_IMPORTED = (
    "pyspark.daemon",
    "pyspark.worker",
    "pyarrow.compute",
    "pyarrow.parquet",
    "assignor_lab.scoring.spark.job",
    "assignor_lab.scoring.spark.mapped",
    "assignor_lab.groups.streams.kind",
    "builtin_assignors.high_availability.assignor",
    "builtin_assignors.sticky.assignor",
)
#: Streams of a process, and seconds that it has to end on its own.
_STREAMS = (0, 1, 2)
_PATIENCE = 5.0


class ReadyDaemon:
    """A process that imports what workers need, and then waits for Spark to start its daemon.

    Args:
        folder: Where the socket is put on which it listens; nobody else may see the folder.

    Raises:
        OSError: if it cannot be started, or the folder's name is too long for a socket's.
    """

    def __init__(self, folder: Path) -> None:
        address = str(folder / "daemon")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            # One thread each, so that it can be forked; and workers' hashes are those that PySpark gives them.
            env = {
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
            }
            number = str(listening.fileno())
            # It ends when the pipe of its standard input does. Ctrl-C is for the command alone.
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, _READY, number],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=env,
                pass_fds=[listening.fileno()],
                process_group=0,
            )
        #: What the JVM's environment has to have.
        self.environment = {_ADDRESS: address}
        #: Its process id.
        self.pid = self._process.pid

    def end(self) -> None:
        """Ends it, with its workers; Spark's session has ended, or is not wanted any more."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()


def _main() -> None:
    """What Spark starts as its daemon, with the name of a worker's module."""
    if not _handed_over():
        _import_all()
        _be_daemon()


def _handed_over() -> bool:
    """Whether a process that is ready was the daemon, which has ended now."""
    with socket.socket(socket.AF_UNIX) as ready:
        try:
            ready.connect(os.environ.get(_ADDRESS, ""))
        except OSError:
            return False
        socket.send_fds(ready, [b"\0"], _STREAMS)
        ready.sendall(pickle.dumps((dict(os.environ), sys.argv)))
        ready.shutdown(socket.SHUT_WR)
        for number in _STREAMS:
            # Who reads from the daemon is to see its end, and who writes to it, too.
            os.close(number)
        with suppress(OSError):
            ready.recv(1)
    return True


def _get_ready(number: int) -> None:
    """Imports everything, and becomes the daemon when somebody asks, unless who started this ends before."""
    listening = socket.socket(fileno=number)
    _import_all()
    asked, _, _ = select.select([listening, sys.stdin], [], [])
    if listening not in asked:
        return
    # Kept for as long as this process and its workers live: who asked waits for that.
    asking, _ = listening.accept()
    listening.close()
    _, streams, _, _ = socket.recv_fds(asking, 1, len(_STREAMS))
    said = b"".join(iter(lambda: asking.recv(65_536), b""))
    # From somebody who may see the folder: this very user.
    environment, sys.argv = pickle.loads(said)  # noqa: S301
    os.environ.clear()
    os.environ.update(environment)
    for standard, given in zip(_STREAMS, streams, strict=True):
        os.dup2(given, standard)
        os.close(given)
    _be_daemon()


def _import_all() -> None:
    # This distribution's PySpark is the zip file's, and its modules are compiled already.
    sys.path[:] = [entry for entry in sys.path if not entry.endswith(".zip") or "pyspark" not in entry]
    with suppress(ImportError):
        # PyArrow imports it with the first value that it converts.
        import_module("pandas")
    for module in _IMPORTED:
        import_module(module)
    gc.collect()
    gc.freeze()


def _be_daemon() -> None:
    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    if sys.argv[1:2] == [_READY]:
        _get_ready(int(sys.argv[2]))
    else:
        _main()
