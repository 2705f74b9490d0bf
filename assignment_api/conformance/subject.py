"""An assignor that can be called in any process."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic, process_time, process_time_ns
from typing import Any, Generic, Protocol, TypeVar

import attrs

from assignment_api.conformance.watching import watched_call
from assignment_api.errors import AssignorLabError
from assignment_api.plugins.tracebacks import plugin_traceback

__all__ = ["Answering", "InProcessSubject", "Leader", "Raised", "Reply", "Subject", "raised_by"]

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)

#: Longest message, characters.
MESSAGE_LIMIT = 2_000
#: Seconds for one call, as the default of an isolated one; those without a processor do not count.
DEADLINE_SECONDS = 10
#: Longest extension on a busy machine, as a multiple of the deadline.
_MOST_STRETCH = 10
#: A call with this share of the elapsed time as processor time works, and does not wait.
_WORKS = 0.05


@attrs.frozen
class Raised:
    """An exception instead of an answer.

    Args:
        is_refusal: An assignor of this kind may refuse with it.
        is_loss: No reply: a limit was exceeded, or the process died.
        after_answer: Raised by the callback.
    """

    type: str
    message: str
    traceback: str = ""
    is_refusal: bool = False
    is_loss: bool = False
    after_answer: bool = False


@attrs.frozen(eq=False)
class Reply:
    """Result of one call.

    Args:
        input_changed: Part that the call changed, or empty.
        seen: Dependencies on more than the input: rule and sentence.
        cpu_ns: Processor time, nanoseconds.
        badly_typed: Part with a wrong type, if the other process found it.
    """

    answer: Any = None
    raised: Raised | None = None
    input_changed: str = ""
    seen: Sequence[tuple[str, str]] = ()
    cpu_ns: int = 0
    badly_typed: str | None = None


class Leader(Protocol[S_contra]):
    """Calls the assignor, with objects of its own that live as their kind requires."""

    def ask(self, state: S_contra, configs: Mapping[str, Any], *, watched: bool = False) -> Reply:
        """Result of one call."""


class Subject(Protocol[S]):
    """An assignor under test."""

    @property
    def name(self) -> str:
        """Name in reports and commands."""

    def leader(self) -> Leader[S]:
        """A new leader."""

    def elsewhere(self) -> Subject[S] | None:
        """The assignor in another process with another hash seed, or ``None``."""


@attrs.frozen
class Answering(Generic[S]):
    """Calling convention for assignors of one kind.

    Args:
        fingerprint: Comparable parts of the input, by name or words of a name.
        shown: The state as the assignor receives it.
        lives: One object lives as long as its leader.
        computed: Callback after a well-typed answer, or ``None``.
    """

    call: Callable[[Any, S], object]
    fingerprint: Callable[[S], Mapping[Any, object]]
    shown: Callable[[S], S]
    refusals: tuple[type[BaseException], ...]
    lives: bool = False
    computed: Callable[[Any, S, Any], None] | None = None
    has_members: Callable[[S], bool] = lambda _state: True
    badly_typed: Callable[[object], str | None] = lambda _answer: None


class InProcessSubject(Generic[S]):
    """An assignor in this process."""

    def __init__(
        self,
        name: str,
        factory: Callable[[], Any],
        answering: Answering[S],
        another: Callable[[], Subject[S] | None] = lambda: None,
        *,
        has_deadline: bool = True,
    ) -> None:
        self.name = name
        self._factory = factory
        self._answering = answering
        self._another = another
        self._has_deadline = has_deadline

    def leader(self) -> InProcessLeader[S]:
        """A new leader."""
        return InProcessLeader(self._factory, self._answering, has_deadline=self._has_deadline)

    def elsewhere(self) -> Subject[S] | None:
        """``None`` without ``another``."""
        return self._another()


class InProcessLeader(Generic[S]):
    """A leader in this process."""

    def __init__(self, factory: Callable[[], Any], answering: Answering[S], *, has_deadline: bool = True) -> None:
        self._factory = factory
        self._answering = answering
        self._living: Any = None
        self._deadline_seconds = DEADLINE_SECONDS if has_deadline else 0

    def ask(self, state: S, configs: Mapping[str, Any], *, watched: bool = False) -> Reply:
        """Result of one call; of exceptions only ``KeyboardInterrupt`` passes."""
        answering = self._answering
        shown = answering.shown(state)
        before = answering.fingerprint(shown)
        seen: list[tuple[str, str]] = []
        start = process_time_ns()
        spent = 0
        # For such a group Kafka's assignors have various errors: all typed ones are refusals.
        refusals = answering.refusals if answering.has_members(state) else (*answering.refusals, AssignorLabError)
        has_answered = False
        try:
            with _deadline(self._deadline_seconds):
                assignor = self._living
                if assignor is None:
                    assignor = self._factory()
                    assignor.configure(configs)
                if answering.lives:
                    self._living = assignor
                start = process_time_ns()
                if watched:
                    answer = watched_call(lambda: answering.call(assignor, shown), seen)
                else:
                    answer = answering.call(assignor, shown)
                spent = process_time_ns() - start
                has_answered = True
                computed = answering.computed
                if computed is not None and answering.badly_typed(answer) is None:
                    if watched:
                        watched_call(lambda: computed(assignor, shown, answer), seen)
                    else:
                        computed(assignor, shown, answer)
        except KeyboardInterrupt:
            raise
        except _LateError as error:
            message = f"it did not answer within {DEADLINE_SECONDS} s"
            return Reply(
                raised=Raised("DeadlineExceededError", message, plugin_traceback(error), is_loss=True), seen=seen
            )
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            if not has_answered:
                spent = process_time_ns() - start
            raised = attrs.evolve(raised_by(error, refusals), after_answer=has_answered)
            return Reply(raised=raised, cpu_ns=spent, seen=seen)
        return Reply(answer, None, self._changed(shown, before), seen, spent)

    def _changed(self, shown: S, before: Mapping[Any, object]) -> str:
        try:
            after = self._answering.fingerprint(shown)
        except Exception:  # noqa: BLE001 - anything may stand in place of what was there
            return "the input"
        if before == after:
            return ""
        part = next(part for part in (*before, *after) if before.get(part) != after.get(part))
        return part if isinstance(part, str) else " ".join(map(str, part))


class _LateError(BaseException):
    """A call in this process passed its deadline."""


@contextlib.contextmanager
def _deadline(seconds: int) -> Iterator[None]:
    """End a call that never returns; 0: no deadline. No effect outside the main thread."""
    if not seconds or not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    start, used, delayed = monotonic(), process_time(), _seconds_in_queue()

    def over(_number: int, _frame: Any) -> None:
        elapsed, worked = monotonic() - start, process_time() - used
        stolen = elapsed - worked if worked >= _WORKS * elapsed else _seconds_in_queue() - delayed
        left = seconds + stolen - elapsed
        if left <= _SOON or elapsed >= _MOST_STRETCH * seconds:
            raise _LateError
        signal.setitimer(signal.ITIMER_REAL, left)

    before = signal.signal(signal.SIGALRM, over)
    remaining, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        # The caller's timer, such as a test's deadline, goes on.
        signal.setitimer(signal.ITIMER_REAL, remaining, interval)
        signal.signal(signal.SIGALRM, before)


#: Seconds.
_SOON = 0.05


def _seconds_in_queue() -> float:
    """Time in which this thread was ready and had no processor; 0 if the system does not report it."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def raised_by(error: BaseException, refusals: tuple[type[BaseException], ...]) -> Raised:
    """Description of a plugin's exception."""
    try:
        message = str(error)[:MESSAGE_LIMIT]
    except Exception:  # noqa: BLE001 - the plugin's own __str__
        message = "(no message)"
    return Raised(type(error).__name__, message, plugin_traceback(error), isinstance(error, refusals))
