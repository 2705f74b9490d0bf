"""The supervisor of one plugin's process: its parent, which ends everything that the plugin leaves behind.

It is between launcher and plugin. So each plugin has its own parent for orphans, and a plugin that stops or kills its
parent harms only itself. It runs until the plugin's process or the launcher has ended.
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

_WATCH_SECONDS = 1.0


def keep(run: Callable[[], NoReturn], status_written: int, alive: int, others: tuple[int, ...]) -> NoReturn:
    """Forks the process of a plugin and supervises it; the calling process does nothing else.

    Args:
        status_written: File descriptor for two lines: the process id (0 if there is none), and the exit status in the
            form of ``os.waitstatus_to_exitcode``.
    """
    try:
        os.setsid()
        become_subreaper()
        woken, wake = os.pipe()
        for descriptor in (woken, wake):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        pid = _forked(run, (status_written, alive, woken, wake))
        for descriptor in others:
            os.close(descriptor)
        _write_number(status_written, pid)
        if pid:
            _write_number(status_written, _ended(pid, alive, woken))
    finally:
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
    """The exit status of the process; if the launcher has ended, the process is ended."""
    while True:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == pid:
                    # Without /proc only its process group is known.
                    with contextlib.suppress(OSError):
                        os.killpg(pid, signal.SIGKILL)
                    return os.waitstatus_to_exitcode(ended[1])
        ready = select.select([alive, woken], [], [], _WATCH_SECONDS)[0]
        if alive in ready:
            os.kill(pid, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BlockingIOError):
            os.read(woken, 512)


def _write_number(descriptor: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.write(descriptor, b"%d\n" % number)
