"""The end of a command: an exit status of 0 comes only from its own last line.

Untrusted code runs in its own processes. This guards against trusted code, which may be careless, too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn

__all__ = ["is_own_exit", "restored", "watched"]

#: Exit status of a command that foreign code ended.
ENDED_BY_OTHERS = 3


def watched() -> Callable[[int], NoReturn]:
    """Replaces ``os._exit``: from now on it reports its call, and ends this process with a status that is not 0.

    Processes that are forked from this one may end freely.

    Returns:
        The original function, for :func:`restored`.
    """
    before, pid = os._exit, os.getpid()

    def ended_by_others(status: int) -> NoReturn:
        if os.getpid() != pid:
            before(status)
        os.write(2, f"assignor: a plugin that is trusted ended the command with os._exit({status!r:.20})\n".encode())
        before(ENDED_BY_OTHERS)

    _set_exit(ended_by_others)
    return before


def restored(before: Callable[[int], NoReturn]) -> None:
    """Reverts :func:`watched`."""
    _set_exit(before)


def _set_exit(function: Callable[[int], Any]) -> None:
    os._exit = function  # type: ignore[assignment]
    # Its origin in ``os``, on POSIX systems.
    platform = sys.modules.get(os.name)
    if platform is not None:
        vars(platform)["_exit"] = function


def is_own_exit(leave: SystemExit) -> bool:
    """True if the library of the command line raised it: our commands end only by its ``Exit``."""
    trace: TracebackType | None = leave.__traceback__
    module = ""
    while trace is not None:
        module, trace = str(trace.tb_frame.f_globals.get("__name__", "")), trace.tb_next
    return module.partition(".")[0] in ("click", "typer")
