"""Signals in processes that tests start, independent of the tests' own parent."""

from __future__ import annotations

import signal

__all__ = ["hear_ctrl_c"]


def hear_ctrl_c() -> None:
    """Enables Ctrl-C in a child before its program: a shell's background processes ignore it, with their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
