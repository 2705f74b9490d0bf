"""Patience: how long somebody waits for plays, and who is told how far one is.

A play itself knows no real time, and nothing that it answers depends on any: it looks here now and then only to learn
whether it is still waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

from assignment_api import AssignorLabError

__all__ = ["GivenUpError", "patient", "still_waited_for"]

#: Steps of the virtual clock after which a play looks again: a fraction of a millisecond.
STEPS = 64


class GivenUpError(AssignorLabError):
    """Nobody waits for a play any longer; it says how far it had come."""


#: Told the moment of a play and its last one, milliseconds of the virtual clock; raises to end the play.
Look = Callable[[int, int], None]
_LOOK: ContextVar[Look | None] = ContextVar("patience", default=None)


@contextmanager
def patient(look: Look) -> Iterator[None]:
    """Has the plays of this thread call ``look`` now and then."""
    token = _LOOK.set(look)
    try:
        yield
    finally:
        _LOOK.reset(token)


def still_waited_for() -> Look | None:
    """What a play calls at each step, with its moment and its last one; ``None``: it takes as long as it takes.

    Raises (when called):
        GivenUpError: if nobody waits any longer.
    """
    look = _LOOK.get()
    if look is None:
        return None
    steps = count()

    def looking(now_ms: int, until_ms: int) -> None:
        if next(steps) % STEPS == 0:
            look(now_ms, until_ms)

    return looking
