"""Growth of an answer's time, in processor time: watching detects sleeps, without waiting for them."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.subject import Reply, Subject
from assignment_api.conformance.trial import Broken, Trial

__all__ = ["Growth", "growth_of"]

#: Numbers of tasks; an eighth as many members, at least two.
SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
#: Largest factor of processor time for twice the size: tasks x clients needs about 4, cubes need 8.
MOST_FACTOR = 10.0
#: Largest exponent of the size over two doublings: tasks x clients is 2, three nested loops are 3.
MOST_SLOPE = 2.75
#: Shortest time that counts, and time after which a call is not repeated.
LEAST_SECONDS, ENOUGH_SECONDS = 0.02, 0.05
#: Processor time after which a call is ended.
CALL_SECONDS = 10.0
_REPEATS = 3


class _TooLongError(BaseException):
    """A call used up its processor time."""


@attrs.frozen(eq=False)
class Growth:
    """Result of the calls with larger and larger groups.

    Args:
        found: The violated rules, each with the state of the call.
        is_judged: True if the time of at least one call was measured.
    """

    found: tuple[tuple[Broken, Any], ...] = ()
    is_judged: bool = True


def growth_of(trial: Trial) -> Growth:
    """Measures calls with larger and larger groups, and judges their answers.

    An assignor that fails on the smallest group is not judged: other rules report that.
    """
    times: list[tuple[int, float]] = []
    for size in SIZES:
        state = trial.kind.sized(size, trial.capabilities)
        seconds, reply = _mean_seconds(trial.subject, state, trial.configs)
        if reply is not None:
            broken = _broken(trial.kind, state, reply)
            if broken is not None:
                return Growth((_smallest(trial, size, broken, state),), is_judged=bool(times))
        if math.isinf(seconds):
            told = f"{size} tasks take more than {CALL_SECONDS:g} s of processor time{_after(times)}"
            return Growth(((Broken("growth", told, 0), state),))
        if times and times[-1][1] >= LEAST_SECONDS and seconds / times[-1][1] > MOST_FACTOR:
            factor = seconds / times[-1][1]
            told = f"{size} tasks take {factor:.0f} times as long as {times[-1][0]}: {seconds:.2g} s{_after(times)}"
            return Growth(((Broken("growth", told, 0), state),))
        times.append((size, seconds))
        slope = _slope(times)
        if slope > MOST_SLOPE:
            told = f"time grows as size to the power of {slope:.1f}: {size} take {seconds:.2g} s{_after(times[:-1])}"
            return Growth(((Broken("growth", told, 0), state),))
    return Growth()


def _broken(kind: Kind[Any], state: Any, reply: Reply) -> Broken | None:
    """The first rule that the reply to a state violates."""
    raised = reply.raised
    if raised is not None:
        rule = "nothing refused" if raised.is_refusal else "answers"
        return Broken(rule, f"it raises {raised.type}: {raised.message}", 0, raised.traceback)
    wrong = reply.badly_typed or kind.badly_typed(reply.answer)
    if wrong is not None:
        return Broken("right types", wrong, 0)
    return next((Broken(rule, sentence, 0) for rule, sentence in kind.troubles(state, reply.answer)), None)


def _smallest(trial: Trial, size: int, broken: Broken, state: Any) -> tuple[Broken, Any]:
    """The violation in the smallest group between ``size`` and the last faultless one, by bisection."""
    low, high = size // 2, size
    while high - low > 1:
        middle = (low + high) // 2
        tried = trial.kind.sized(middle, trial.capabilities)
        found = _broken(trial.kind, tried, trial.subject.leader().ask(tried, trial.configs))
        if found is None or found.rule != broken.rule:
            low = middle
        else:
            high, broken, state = middle, found, tried
    return attrs.evolve(broken, found=f"{broken.found} ({high} tasks)"), state


def _slope(times: list[tuple[int, float]]) -> float:
    """Exponent of the size in the last three times; 0 without three that are long enough."""
    last = times[-3:]
    if len(last) < 3 or last[0][1] < LEAST_SECONDS:
        return 0.0
    return math.log(last[-1][1] / last[0][1]) / math.log(last[-1][0] / last[0][0])


def _after(times: list[tuple[int, float]]) -> str:
    return "".join(f", {size} take {seconds:.2g} s" for size, seconds in times[-2:])


def _mean_seconds(subject: Subject[Any], state: Any, configs: Mapping[str, Any]) -> tuple[float, Reply | None]:
    """Processor time of a call, infinite if it was ended, and its reply.

    The mean of a few short calls: on some machines processor time comes in ticks of milliseconds.
    """
    spent, calls = 0.0, 0
    reply: Reply | None = None
    while calls < _REPEATS and spent < ENOUGH_SECONDS:
        calls += 1
        try:
            with _limited():
                reply = subject.leader().ask(state, configs)
        except _TooLongError:
            return math.inf, None
        if reply.raised is not None and (reply.raised.is_loss or reply.raised.type == _TooLongError.__name__):
            return math.inf, None
        spent += reply.cpu_ns / 1e9
    return spent / calls, reply


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """End a call in this process that takes too much processor time; without effect outside the main thread."""
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
