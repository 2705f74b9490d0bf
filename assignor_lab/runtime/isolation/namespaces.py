"""Namespaces of a plugin's processes: numbers and shared memory of their own, and a ``/proc`` that shows nobody else.

Who is in there cannot signal, trace or look at anything outside, neither the lab nor another plugin, and the kernel
ends all of them as soon as their first process, the keeper, ends. Linux lets root do that, and others by a user
namespace, unless a container or the administrator forbids it; where it cannot be had, everything works without it, and
orphans are looked for in ``/proc`` (:mod:`assignor_lab.runtime.isolation.descendants`).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

__all__ = ["can_be_entered", "enter", "give_up_rights", "hide", "mount_own", "show"]

_NEWNS, _NEWIPC, _NEWUSER, _NEWPID = 0x00020000, 0x08000000, 0x10000000, 0x20000000
_NEW = _NEWPID | _NEWNS | _NEWIPC
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_SLAVE = 0x2, 0x4, 0x8, 0x4000, 0x80000
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 4, 24
_CAPABILITY_VERSION = 0x20080522
#: What root keeps: to reach files of others, and to change who it is, as ever (``CAP_CHOWN`` to ``CAP_SETUID``).
_KEPT_BY_ROOT = range(8)
_MOST_CAPABILITIES = 64

#: Loaded once, before processes are forked.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def enter() -> bool:
    """Has the next process that this one forks begin namespaces of its own; this process must be good for nothing else.

    Returns:
        Whether it will; otherwise nothing has changed.
    """
    if _libc is None or not Path("/proc/self/stat").exists():
        return False
    if os.geteuid() == 0:
        # Without a user namespace: in one, root would lose its right to read what belongs to others.
        return _is_done(_libc.unshare(_NEW))
    user, group = os.geteuid(), os.getegid()
    # Otherwise the files below belong to root.
    show()
    if not _is_done(_libc.unshare(_NEWUSER | _NEW)):
        return False
    # Inside it is who it is outside. Where that cannot be said it is nobody by name, with the same rights.
    with contextlib.suppress(OSError):
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", file).write_text(text, encoding="ascii")
    return True


def mount_own(folder: str, most_mb: int) -> None:
    """Shows in ``/proc`` only the processes of the namespace, and gives them files and shared memory that end with it.

    Called by the first process of the namespaces. What a container forbids stays as it is outside.

    Args:
        folder: The folder that a plugin works in; what it writes there fills nobody's disk.
        most_mb: Mebibytes that it may hold, and ``/dev/shm`` as many.
    """
    # What is mounted later outside still appears; what is mounted here is not seen outside.
    if _libc is None or not _is_done(_libc.mount(None, b"/", None, _MS_REC | _MS_SLAVE, None)):
        return
    _libc.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None)
    _libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=%dm,mode=700" % most_mb)
    if Path("/dev/shm").is_dir():  # noqa: S108 - the system's own
        _libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=%dm,mode=1777" % most_mb)


def give_up_rights() -> None:
    """Takes from this process, and from those that come from it, the rights that would lead out of the namespaces."""
    if _libc is None:
        return
    kept = _KEPT_BY_ROOT if os.geteuid() == 0 else ()
    for number in range(_MOST_CAPABILITIES):
        if number not in kept:
            _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    mask = sum(1 << number for number in kept)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _libc.capset(header, (ctypes.c_uint32 * 6)(mask, mask, 0, 0, 0, 0))


def hide() -> None:
    """Keeps other processes of the same user out of this one's memory, environment and files (as in ``ptrace``)."""
    if _libc is not None:
        _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def show() -> None:
    """Undoes :func:`hide`: the lab looks at how much memory a plugin's processes share."""
    if _libc is not None:
        _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def can_be_entered() -> bool:
    """Whether this system lets processes of plugins have namespaces; a process is forked to find out."""
    if _libc is None:
        return False
    pid = os.fork()
    if pid == 0:
        os._exit(0 if enter() else 1)
    return os.waitpid(pid, 0)[1] == 0


def _is_done(status: int) -> bool:
    return status == 0
