"""What processes that tests start do with signals, whatever the tests themselves were started from."""

from __future__ import annotations

import signal

__all__ = ["hear_ctrl_c"]


def hear_ctrl_c() -> None:
    """To run in a child before its program: in the background of a shell Ctrl-C is ignored, there as here."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
