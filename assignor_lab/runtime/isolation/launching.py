"""The lab's side of the launcher: starts it, requests processes, receives their exit status."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import attrs

from assignor_lab.runtime.isolation.descendants import marked
from assignor_lab.runtime.isolation.errors import ProcessStartError
from assignor_lab.runtime.isolation.folders import HeldFolder, remove_folder
from assignor_lab.runtime.isolation.limits import Limits

__all__ = ["Launched", "Launcher", "launcher_of", "search_path"]

#: Variables of the lab's process that every process of a plugin gets.
PASSED_VARIABLES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT")
#: Seconds for an answer of the launcher; only its imports at the start take long.
PATIENCE_SECONDS = 60.0
#: Seconds between two checks for a stopped launcher.
LOOK_SECONDS = 0.2

#: Seconds for the removal of plugins' folders at the end.
LAST_SECONDS = 10.0

_PROGRAM = (
    "import sys; from assignor_lab.runtime.isolation.launcher import main; main(*map(int, sys.argv[1:3]), sys.argv[3])"
)


def search_path() -> list[str]:
    """The complete search path of modules, because a plugin's process works in another folder."""
    here = str(Path.cwd())
    return [here if entry == "" else str(Path(entry).absolute()) for entry in sys.path]


@attrs.frozen(eq=False)
class Launched:
    """A process of a plugin.

    Args:
        supervisor: Id of its parent, which gets the orphans below it.
    """

    pid: int
    supervisor: int
    connection: socket.socket
    output: int
    generation: int


class Launcher:
    """One launcher process; it starts with the first process, and again after its end."""

    def __init__(self, environment: tuple[str, ...], hash_seed: int) -> None:
        self._environment = environment
        self._hash_seed = hash_seed
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._folders: HeldFolder | None = None
        self._open: set[Launched] = set()
        self._generation = 0
        self._lock = threading.Lock()

    def launch(self, limits: Limits, modules: Sequence[str] = ()) -> Launched:
        """A new process with its limits.

        Raises:
            ProcessStartError: if it cannot be started.
        """
        command = {
            "do": "fork",
            "memory_mb": limits.memory_mb,
            "modules": list(modules),
        }
        near, far = socket.socketpair()
        reading, writing = os.pipe()
        try:
            answer = self._reply_to(command, [far.fileno(), writing])
        except BaseException:
            near.close()
            os.close(reading)
            raise
        finally:
            far.close()
            os.close(writing)
        if answer["pid"] is None:
            near.close()
            os.close(reading)
            raise ProcessStartError("no process can be started: there are too many, or there is no room for its folder")
        near.setblocking(False)
        os.set_blocking(reading, False)
        launched = Launched(answer["pid"], answer["supervisor"], near, reading, self._generation)
        self._open.add(launched)
        return launched

    def reap(self, launched: Launched, *, waits: bool) -> int | None:
        """Ends a process with everything that it started, and closes its connections."""
        self._open.discard(launched)
        _close(launched)
        if self.has_lost(launched):
            return None  # it ended together with its launcher
        try:
            status: int | None = self._reply_to({"do": "reap", "pid": launched.pid, "waits": waits}, [])["status"]
        except ProcessStartError:
            return None  # the launcher ended, and with it all its processes
        return status

    def has_lost(self, launched: Launched) -> bool:
        """True if the launcher of a process has ended, and the process with it."""
        gone = self._process is None or self._process.poll() is not None
        return gone or launched.generation != self._generation

    def another(self) -> Launcher:
        """A launcher of the same kind for one plugin, so that other plugins cannot end it."""
        made = Launcher(self._environment, self._hash_seed)
        _alone.append(made)
        return made

    def stop(self) -> None:
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """Closes the connection to a launcher of the process from which this one was forked."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # it is no child of this process
        for launched in self._open:
            _close(launched)
        self._process, self._control, self._open, self._lock = None, None, set(), threading.Lock()

    def _reply_to(self, command: dict[str, Any], descriptors: list[int]) -> Any:
        with self._lock:
            fresh = self._control is None
            try:
                return self._answer(command, descriptors)
            except (OSError, ValueError) as error:
                self._stop()
                if not fresh and command["do"] == "fork":
                    with contextlib.suppress(OSError, ValueError):
                        return self._answer(command, descriptors)
                    self._stop()
                raise ProcessStartError(f"the launcher of plugins' processes does not work: {error}") from error

    def _answer(self, command: dict[str, Any], descriptors: list[int]) -> Any:
        control = self._control or self._started()
        socket.send_fds(control, [json.dumps(command).encode()], descriptors)
        line = b""
        end = monotonic() + PATIENCE_SECONDS
        while not line.endswith(b"\n"):
            try:
                part = control.recv(4_096)
            except TimeoutError:
                if self._is_stopped() or monotonic() >= end:
                    raise
                continue
            if not part:
                raise OSError("it has ended")
            line += part
        return json.loads(line)

    def _started(self) -> socket.socket:
        near, far = socket.socketpair()
        variables = {name: os.environ[name] for name in (*PASSED_VARIABLES, *self._environment) if name in os.environ}
        variables |= {
            "PYTHONPATH": os.pathsep.join(search_path()),
            "PYTHONHASHSEED": str(self._hash_seed),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TZ": "UTC",
        }
        self._folders = HeldFolder.make("assignor-plugins-")
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(far.fileno()), str(os.getpid()), self._folders.path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(far.fileno(),),
                env=variables,
                cwd="/",
            )
        except BaseException:
            near.close()
            raise
        finally:
            far.close()
        near.settimeout(LOOK_SECONDS)
        self._control = near
        self._generation += 1
        return near

    def _is_stopped(self) -> bool:
        """True if the launcher was stopped by a signal and so cannot answer."""
        try:
            with open(f"/proc/{self._process.pid}/stat", "rb") as file:  # type: ignore[union-attr]  # noqa: PTH123
                return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
        except (OSError, AttributeError):
            return False

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(0 if self._is_stopped() else 5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._folders is not None:
            _end_marked(self._folders.path)
            # The launcher removes it itself, unless it was killed.
            remove_folder(self._folders.path, LAST_SECONDS)
            self._folders.release()
        self._process, self._control, self._folders = None, None, None


def _end_marked(folders: str) -> None:
    """Ends the remaining processes of a killed launcher, found by its folders."""
    for _ in range(100):
        left = marked(folders)
        if not left:
            return
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        sleep(0.01)


def _close(launched: Launched) -> None:
    launched.connection.close()
    os.close(launched.output)


_alone: list[Launcher] = []
_launchers: dict[tuple[tuple[str, ...], int], Launcher] = {}


def launcher_of(environment: tuple[str, ...], hash_seed: int = 0) -> Launcher:
    """The launcher of this process for this environment; one for each environment."""
    key = (environment, hash_seed)
    if key not in _launchers:
        _launchers[key] = Launcher(environment, hash_seed)
    return _launchers[key]


def _stop_all() -> None:
    for launcher in (*_launchers.values(), *_alone):
        launcher.stop()


def _forget_all() -> None:
    for launcher in (*_launchers.values(), *_alone):
        launcher.forget()
    _launchers.clear()
    _alone.clear()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
