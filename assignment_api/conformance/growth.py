"""Growth of an answer's processor time, which sleeps do not affect."""

from __future__ import annotations

import contextlib
import math
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.subject import Reply, Subject
from assignment_api.conformance.trial import Broken, Trial

__all__ = ["Growth", "growth_of"]

#: An eighth as many members, at least two.
SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
#: For twice the size: tasks x clients needs about 4, cubes 8.
MOST_FACTOR = 10.0
#: Exponent over two doublings: tasks x clients is 2, three nested loops are 3.
MOST_SLOPE = 2.75
#: Shortest call that counts; measured time that ends repetition.
LEAST_SECONDS, ENOUGH_SECONDS = 0.01, 0.05
#: Processor time that ends a call.
CALL_SECONDS = 10.0
_REPEATS = 6


class _TooLongError(BaseException):
    """A call used up its processor time."""


@attrs.frozen
class _Measured:
    size: int
    calls: int
    spent: float

    @property
    def seconds(self) -> float:
        return self.spent / self.calls

    @property
    def counts(self) -> bool:
        return self.seconds >= LEAST_SECONDS


@attrs.frozen(eq=False)
class Growth:
    """Result of larger and larger groups."""

    found: tuple[tuple[Broken, Any], ...] = ()
    is_judged: bool = True


def growth_of(trial: Trial) -> Growth:
    """Measure and judge calls with larger and larger groups.

    Failure on the smallest group is not judged: other rules report it.
    """
    times: list[_Measured] = []
    for size in SIZES:
        state = trial.kind.sized(size, trial.capabilities)
        measured, reply = _measured(trial.subject, size, state, trial.configs)
        if reply is not None and measured is not None:
            broken = _broken(trial.kind, state, reply)
            if broken is not None:
                return Growth((_smallest(trial, size, broken, state),), is_judged=bool(times))
        if measured is None:
            late = "processor time" if reply is None else f"its time ({reply.raised.message})" if reply.raised else ""
            finding = f"{size} tasks take more than {CALL_SECONDS:g} s of {late}{_after(times)}"
            return Growth(((Broken("growth", finding, 0), state),))
        if _finding(times, measured):
            # One call can be slow by chance, such as a garbage collection.
            again, _ = _measured(trial.subject, size, state, trial.configs)
            measured = min(filter(None, (measured, again)), key=lambda each: each.seconds)
        finding = _finding(times, measured)
        if finding:
            return Growth(((Broken("growth", finding, 0), state),))
        times.append(measured)
    return Growth()


def _broken(kind: Kind[Any], state: Any, reply: Reply) -> Broken | None:
    raised = reply.raised
    if raised is not None:
        rule = "nothing refused" if raised.is_refusal else "answers"
        return Broken(rule, f"it raises {raised.type}: {raised.message}", 0, raised.traceback)
    wrong = reply.badly_typed or kind.badly_typed(reply.answer)
    if wrong is not None:
        return Broken("right types", wrong, 0)
    if reply.input_changed:
        return Broken("input untouched", f"the call changed {reply.input_changed:.200}", 0)
    return next((Broken(rule, sentence, 0) for rule, sentence in kind.troubles(state, reply.answer)), None)


def _smallest(trial: Trial, size: int, broken: Broken, state: Any) -> tuple[Broken, Any]:
    """By bisection, above the last faultless size."""
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


def _finding(times: Sequence[_Measured], last: _Measured) -> str:
    seconds = last.seconds
    if times and times[-1].counts and seconds / times[-1].seconds > MOST_FACTOR:
        factor = seconds / times[-1].seconds
        return f"{last.size} tasks take {factor:.0f} times as long as {times[-1].size}: {seconds:.2g} s{_after(times)}"
    slope = _slope([*times[-2:], last])
    if slope > MOST_SLOPE:
        return f"time grows as size to the power of {slope:.1f}: {last.size} take {seconds:.2g} s{_after(times)}"
    return ""


def _slope(last: Sequence[_Measured]) -> float:
    """Exponent of the size; 0 without three long times."""
    if len(last) < 3 or not last[0].counts:
        return 0.0
    return math.log(last[-1].seconds / last[0].seconds) / math.log(last[-1].size / last[0].size)


def _after(times: Sequence[_Measured]) -> str:
    return "".join(f", {each.size} take {each.seconds:.2g} s" for each in times[-2:])


def _measured(
    subject: Subject[Any], size: int, state: Any, configs: Mapping[str, Any]
) -> tuple[_Measured | None, Reply | None]:
    """``None`` if a call was ended. Short calls repeat: processor time may come in ticks of milliseconds."""
    spent, calls = 0.0, 0
    reply: Reply | None = None
    while calls < _REPEATS and spent < ENOUGH_SECONDS:
        calls += 1
        try:
            with _limited():
                reply = subject.leader().ask(state, configs)
        except _TooLongError:
            return None, None
        if reply.raised is not None and reply.raised.type == _TooLongError.__name__:
            return None, None
        if reply.raised is not None and reply.raised.is_loss:
            return None, reply
        spent += reply.cpu_ns / 1e9
    return _Measured(size, calls, spent), reply


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """No effect outside the main thread."""
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
