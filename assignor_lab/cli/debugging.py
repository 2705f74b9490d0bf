"""A debugger at the place where a plugin raised, for ``--pdb``."""

from __future__ import annotations

import pdb  # noqa: T100 - this is the debugger that the user asked for
import sys

from assignor_lab.cli.text import note

__all__ = ["debug"]


def debug(error: BaseException) -> None:
    """Opens Python's debugger at the place of ``error``; the command goes on afterwards."""
    note(f"{type(error).__name__}: {error}")
    note("the debugger is where it was raised: u and d go up and down, q goes on")
    debugger = pdb.Pdb(stdin=sys.stdin, stdout=sys.stderr)
    debugger.reset()
    debugger.interaction(None, error.__traceback__)
