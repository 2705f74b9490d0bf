"""A local process with all imports done, from which Spark's Python workers are forked.

Spark starts ``pyspark.daemon`` with the first work, and each forked worker imports PySpark (from a zip file), PyArrow,
pandas and this package. Here, one process imports them while the JVM starts. Spark starts this module as its daemon: it
passes its streams and its environment to the prepared process, and waits for its end.
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
#: Variable with the socket of the prepared process.
_ADDRESS = "ASSIGNOR_WORKER_DAEMON"
_READY = "--ready"
#: Imports of workers in nearly every run.
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
#: Streams of a process, and seconds for its own end.
_STREAMS = (0, 1, 2)
_PATIENCE = 5.0


class ReadyDaemon:
    """A process that imports the workers' modules, and then waits for Spark's daemon.

    Raises:
        OSError: if it cannot be started, or the folder's name is too long for a socket's.
    """

    def __init__(self, folder: Path) -> None:
        address = str(folder / "daemon")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen()
            # One thread in each library, so that it can be forked; and the workers' hash seed of PySpark.
            env = {
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
                "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
            }
            number = str(listening.fileno())
            # It ends with the pipe of its standard input. Ctrl-C is for the command only.
            self._process = subprocess.Popen(
                [sys.executable, "-m", MODULE, _READY, number],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=env,
                pass_fds=[listening.fileno()],
                process_group=0,
            )
        #: Its part of the JVM's environment.
        self.environment = {_ADDRESS: address}
        self.pid = self._process.pid

    def end(self) -> None:
        """Ends it, with its workers, at the end of Spark's session."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            self._process.wait()


def _main() -> None:
    if not _handed_over():
        _import_all()
        _be_daemon()


def _handed_over() -> bool:
    """True if a prepared process was the daemon, which has ended now."""
    with socket.socket(socket.AF_UNIX) as ready:
        try:
            ready.connect(os.environ.get(_ADDRESS, ""))
        except OSError:
            return False
        socket.send_fds(ready, [b"\0"], _STREAMS)
        ready.sendall(pickle.dumps((dict(os.environ), sys.argv)))
        ready.shutdown(socket.SHUT_WR)
        for number in _STREAMS:
            # Readers and writers of the daemon's streams have to see its end.
            os.close(number)
        with suppress(OSError):
            ready.recv(1)
    return True


def _get_ready(number: int) -> None:
    """Imports everything, and becomes the daemon on request, unless its starter ends before."""
    listening = socket.socket(fileno=number)
    _import_all()
    ready, _, _ = select.select([listening, sys.stdin], [], [])
    if listening not in ready:
        return
    # Kept while this process and its workers live: the requesting process waits for that.
    asking, _ = listening.accept()
    listening.close()
    _, streams, _, _ = socket.recv_fds(asking, 1, len(_STREAMS))
    message = b"".join(iter(lambda: asking.recv(65_536), b""))
    # The request comes from this user, who alone can see the folder.
    environment, sys.argv = pickle.loads(message)  # noqa: S301
    os.environ.clear()
    os.environ.update(environment)
    for standard, given in zip(_STREAMS, streams, strict=True):
        os.dup2(given, standard)
        os.close(given)
    _be_daemon()


def _import_all() -> None:
    # This distribution's PySpark equals the zip file's, and its modules are compiled already.
    sys.path[:] = [entry for entry in sys.path if not entry.endswith(".zip") or "pyspark" not in entry]
    with suppress(ImportError):
        # PyArrow imports it with the first converted value.
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
