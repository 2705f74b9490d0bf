"""The growth of the time that an answer takes, in processor time: what sleeps is found by watching, not by waiting."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.subject import Subject
from assignment_api.conformance.trial import Broken

__all__ = ["TooFast", "grows_too_fast"]

#: Tasks; an eighth as many members, at least two.
SIZES = (4, 8, 16, 32, 64, 128, 256, 512)
#: Times the processor time that twice the size may take: tasks x clients x a little, and cubes are 8.
MOST_FACTOR = 10.0
#: A doubling counts from this time on, and the last size is the one that takes longer than the last.
LEAST_SECONDS, ENOUGH_SECONDS = 0.02, 0.4
#: A call is ended after so much processor time.
CALL_SECONDS = 10.0
_REPEATS = 3


class _TooLongError(BaseException):
    """A call took all the processor time that it is given."""


@attrs.frozen(eq=False)
class TooFast:
    """Time that grows too fast.

    Args:
        broken: The rule, and the times.
        state: The state that took too long.
    """

    broken: Broken
    state: Any


def grows_too_fast(kind: Kind[Any], subject: Subject[Any], configs: Mapping[str, Any]) -> TooFast | None:
    """Whether the time of an answer grows too fast with the size of the group; ``None``: it does not.

    An assignor that gives no answer to such a group is not judged: other rules say so.
    """
    times: list[tuple[int, float]] = []
    for size in SIZES:
        state = kind.sized(size)
        seconds = _mean_seconds(subject, state, configs)
        if seconds is None:
            return None
        if math.isinf(seconds):
            told = f"{size} tasks take more than {CALL_SECONDS:g} s of processor time{_after(times)}"
            return TooFast(Broken("growth", told, 0), state)
        if times and times[-1][1] >= LEAST_SECONDS and seconds / times[-1][1] > MOST_FACTOR:
            factor = seconds / times[-1][1]
            told = f"{size} tasks take {factor:.0f} times as long as {times[-1][0]}: {seconds:.2g} s{_after(times)}"
            return TooFast(Broken("growth", told, 0), state)
        times.append((size, seconds))
        if seconds > ENOUGH_SECONDS:
            return None
    return None


def _after(times: list[tuple[int, float]]) -> str:
    return "".join(f", {size} take {seconds:.2g} s" for size, seconds in times[-2:])


def _mean_seconds(subject: Subject[Any], state: Any, configs: Mapping[str, Any]) -> float | None:
    """Processor time of a call; infinite where it was ended, ``None`` where there was no answer.

    The mean of a few: processor time comes in ticks of milliseconds on some machines.
    """
    spent = 0.0
    for calls in range(1, _REPEATS + 1):
        try:
            with _limited():
                reply = subject.leader().ask(state, configs)
        except _TooLongError:
            return math.inf
        if reply.raised is not None:
            is_over = reply.raised.is_loss or reply.raised.type == _TooLongError.__name__
            return math.inf if is_over else None
        spent += reply.cpu_ns / 1e9
        if spent > ENOUGH_SECONDS:
            return spent / calls
    return spent / _REPEATS


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Ends a call in this process that takes too much processor time; elsewhere than in the main thread, none."""
    if not hasattr(signal, "ITIMER_PROF") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: Any) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
