"""Progress and cancellation of simulations by a regularly called function.

The results do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

from assignment_api import AssignorLabError

__all__ = ["GivenUpError", "patient", "still_waited_for"]

#: Steps of the virtual clock between two calls: a fraction of a millisecond.
STEPS = 64


class GivenUpError(AssignorLabError):
    """The caller has stopped waiting for a simulation; the message has the progress."""


#: Receives the present and the last time in ms of the virtual clock; raises to end the simulation.
Look = Callable[[int, int], None]
_LOOK: ContextVar[Look | None] = ContextVar("patience", default=None)


@contextmanager
def patient(look: Look) -> Iterator[None]:
    """Let the simulations of this thread call ``look`` regularly."""
    token = _LOOK.set(look)
    try:
        yield
    finally:
        _LOOK.reset(token)


def still_waited_for() -> Look | None:
    """Function to call at each step; ``None``: no limit.

    Raises (when called):
        GivenUpError: if the caller has stopped waiting.
    """
    look = _LOOK.get()
    if look is None:
        return None
    steps = count()

    def looking(now_ms: int, until_ms: int) -> None:
        if next(steps) % STEPS == 0:
            look(now_ms, until_ms)

    return looking
