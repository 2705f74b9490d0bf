"""Namespaces of a plugin's processes: own process ids, own shared memory, and a ``/proc`` without other processes.

Processes inside cannot signal, trace or see any outside process, neither the lab nor another plugin. The kernel ends
all of them with their first process, the supervisor. On Linux, root may create namespaces, and other users through a
user namespace, unless a container or the administrator forbids it. Without namespaces everything works, and orphans
are searched in ``/proc`` (:mod:`assignor_lab.runtime.isolation.descendants`).
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
#: Capabilities that root keeps: access to files of others, and change of user (``CAP_CHOWN`` to ``CAP_SETUID``).
_KEPT_BY_ROOT = range(8)
_MOST_CAPABILITIES = 64

#: Loaded once, before processes are forked.
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


def enter() -> bool:
    """Makes the next fork of this process the first process of new namespaces; this process must do nothing else.

    Returns:
        True if that works; otherwise nothing has changed.
    """
    if _libc is None or not Path("/proc/self/stat").exists():
        return False
    if os.geteuid() == 0:
        # Without a user namespace, in which root would lose its right to read files of others.
        return _is_done(_libc.unshare(_NEW))
    user, group = os.geteuid(), os.getegid()
    # Otherwise the files below belong to root.
    show()
    if not _is_done(_libc.unshare(_NEWUSER | _NEW)):
        return False
    # The user is the same inside and outside. Where the mapping is forbidden, the user has no name but the same rights.
    with contextlib.suppress(OSError):
        for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", file).write_text(text, encoding="ascii")
    return True


def mount_own(folder: str, most_mb: int) -> None:
    """Mounts a ``/proc`` of the namespace only, and files and shared memory that end with it.

    The first process of the namespaces calls it. Mounts that a container forbids stay as outside.

    Args:
        most_mb: Mebibytes of the folder, and of ``/dev/shm``.
    """
    # Later mounts outside still appear here; mounts here do not appear outside.
    if _libc is None or not _is_done(_libc.mount(None, b"/", None, _MS_REC | _MS_SLAVE, None)):
        return
    _libc.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None)
    _libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=%dm,mode=700" % most_mb)
    if Path("/dev/shm").is_dir():  # noqa: S108 - the system's own
        _libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", _MS_NOSUID | _MS_NODEV, b"size=%dm,mode=1777" % most_mb)


def give_up_rights() -> None:
    """Drops the rights that lead out of the namespaces, for this process and its children."""
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
    """Protects memory, environment and files from other processes of the same user (as in ``ptrace``)."""
    if _libc is not None:
        _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def show() -> None:
    """Reverts :func:`hide`, so that the lab can measure the shared memory of a plugin's processes."""
    if _libc is not None:
        _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def can_be_entered() -> bool:
    """True if this system permits namespaces; a forked process tries it."""
    if _libc is None:
        return False
    pid = os.fork()
    if pid == 0:
        os._exit(0 if enter() else 1)
    return os.waitpid(pid, 0)[1] == 0


def _is_done(status: int) -> bool:
    return status == 0
