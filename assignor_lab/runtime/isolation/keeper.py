"""The keeper of one plugin's process: its parent, which ends whatever the plugin leaves behind.

It stands between launcher and plugin, so that each plugin's orphans fall to a process of its own, and that a plugin
which stops or kills its parent harms itself. It runs until the plugin's process has ended, or the launcher is gone.

Where the system permits, it is the first process of a namespace (:mod:`assignor_lab.runtime.isolation.namespaces`):
then nothing in there can stop or kill it, and the kernel ends all of them when it ends.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable
from typing import NoReturn

from assignor_lab.runtime.isolation.descendants import become_subreaper, end_descendants, end_with_parent

__all__ = ["keep"]

#: Seconds between two looks, should a signal be missed.
_WATCH_SECONDS = 1.0


def keep(
    run: Callable[[], NoReturn], told: int, alive: int, others: tuple[int, ...], *, is_first: bool = False
) -> NoReturn:
    """Forks a process that runs a plugin, and keeps it; called in a process that is nothing else.

    Args:
        run: Runs the plugin in the new process.
        told: File descriptor for two lines: the process id, or 0 if there is none, and how it ended, as
            ``os.waitstatus_to_exitcode`` has it.
        alive: File descriptor that can be read as soon as the launcher is gone.
        others: File descriptors of the plugin's process alone.
        is_first: Whether this is the first process of a namespace; the process id that it tells is one of that.
    """
    try:
        os.setsid()
        become_subreaper()
        woken, wake = os.pipe()
        for descriptor in (woken, wake):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        pid = _forked(run, (told, alive, woken, wake))
        for descriptor in others:
            os.close(descriptor)
        _tell(told, pid)
        if pid:
            _tell(told, _ended(pid, alive, woken))
    finally:
        # The kernel ends what is left in a namespace, whose numbers mean something else in the /proc of others.
        if not is_first:
            with contextlib.suppress(Exception):
                end_descendants(os.getpid())
        os._exit(0)


def _forked(run: Callable[[], NoReturn], ours: tuple[int, ...]) -> int:
    try:
        pid = os.fork()
    except OSError:
        return 0
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for descriptor in ours:
                os.close(descriptor)
            end_with_parent()
            run()
        finally:
            os._exit(70)
    return pid


def _ended(pid: int, alive: int, woken: int) -> int:
    """How the process ended; it is ended if the launcher is gone."""
    while True:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == pid:
                    # Where there is no /proc, its group is all that is known of what it started.
                    with contextlib.suppress(OSError):
                        os.killpg(pid, signal.SIGKILL)
                    return os.waitstatus_to_exitcode(ended[1])
        ready = select.select([alive, woken], [], [], _WATCH_SECONDS)[0]
        if alive in ready:
            os.kill(pid, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BlockingIOError):
            os.read(woken, 512)


def _tell(descriptor: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.write(descriptor, b"%d\n" % number)
