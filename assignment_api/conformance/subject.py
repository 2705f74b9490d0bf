"""The subject of a trial: an assignor that can be asked, wherever it runs, and what came of asking it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import process_time_ns
from typing import Any, Generic, Protocol, TypeVar

import attrs

from assignment_api.conformance.watching import watched_call
from assignment_api.plugins.tracebacks import plugin_traceback

__all__ = ["Answering", "InProcessSubject", "Leader", "Raised", "Reply", "Subject", "raised_by"]

S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)

#: Longest message that is kept, in characters.
MESSAGE_LIMIT = 2_000


@attrs.frozen
class Raised:
    """An exception in place of an answer.

    Args:
        type: Name of its class.
        message: What it said.
        traceback: Where it came from, beginning with the plugin's first frame; empty where that is not known.
        is_refusal: It is the error with which an assignor of its kind may refuse.
        is_loss: No answer came at all: a limit was broken, or the process died.
    """

    type: str
    message: str
    traceback: str = ""
    is_refusal: bool = False
    is_loss: bool = False


@attrs.frozen(eq=False)
class Reply:
    """What came of asking once.

    Args:
        answer: What was answered, not yet checked; ``None`` where ``raised`` is there.
        raised: What came instead.
        input_changed: The state that was shown was changed.
        seen: What the call did that depends on more than its input: rule and sentence.
        cpu_ns: Processor time of the call, nanoseconds.
        badly_typed: What in the answer is not of the type that the interface says, where that was seen there already.
    """

    answer: Any = None
    raised: Raised | None = None
    input_changed: bool = False
    seen: Sequence[tuple[str, str]] = ()
    cpu_ns: int = 0
    badly_typed: str | None = None


class Leader(Protocol[S_contra]):
    """A leader who asks the assignor: each has objects of its own, for as long as its kind of group wants that."""

    def ask(self, state: S_contra, configs: Mapping[str, Any], *, watched: bool = False) -> Reply:
        """What comes of asking.

        Args:
            state: What is asked; it is the callee's to show.
            configs: Configuration for ``configure``.
            watched: Watch what the call does besides.
        """


class Subject(Protocol[S]):
    """An assignor that is tried."""

    @property
    def name(self) -> str:
        """What reports and commands call it."""

    def leader(self) -> Leader[S]:
        """A new leader."""

    def elsewhere(self) -> Subject[S] | None:
        """The same assignor in another process with another hash seed; ``None`` where there is none to be had."""


@attrs.frozen
class Answering(Generic[S]):
    """How an assignor of one kind is made to answer.

    Args:
        call: Assignor and state to the answer.
        fingerprint: Everything that the assignor is shown, to compare.
        shown: The state as it is shown.
        refusals: What it may raise to refuse.
        lives: One object lives as long as its leader.
    """

    call: Callable[[Any, S], object]
    fingerprint: Callable[[S], object]
    shown: Callable[[S], S]
    refusals: tuple[type[BaseException], ...]
    lives: bool = False


class InProcessSubject(Generic[S]):
    """An assignor in this process.

    Args:
        name: What to call it.
        factory: Makes one, not yet configured.
        answering: How its kind answers.
        another: Makes the same subject in another process.
    """

    def __init__(
        self,
        name: str,
        factory: Callable[[], Any],
        answering: Answering[S],
        another: Callable[[], Subject[S] | None] = lambda: None,
    ) -> None:
        self.name = name
        self._factory = factory
        self._answering = answering
        self._another = another

    def leader(self) -> InProcessLeader[S]:
        """A new leader."""
        return InProcessLeader(self._factory, self._answering)

    def elsewhere(self) -> Subject[S] | None:
        """The same in another process, if the maker of this one knows how."""
        return self._another()


class InProcessLeader(Generic[S]):
    """A leader in this process.

    Args:
        factory: Makes an assignor.
        answering: How its kind answers.
    """

    def __init__(self, factory: Callable[[], Any], answering: Answering[S]) -> None:
        self._factory = factory
        self._answering = answering
        self._living: Any = None

    def ask(self, state: S, configs: Mapping[str, Any], *, watched: bool = False) -> Reply:
        """What comes of asking; nothing that the assignor does gets out but ``KeyboardInterrupt``."""
        answering = self._answering
        shown = answering.shown(state)
        before = answering.fingerprint(shown)
        seen: list[tuple[str, str]] = []
        start = process_time_ns()
        try:
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
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            spent = process_time_ns() - start
            return Reply(raised=raised_by(error, answering.refusals), cpu_ns=spent, seen=seen)
        return Reply(answer, None, self._changed(shown, before), seen, spent)

    def _changed(self, shown: S, before: object) -> bool:
        try:
            return self._answering.fingerprint(shown) != before
        except Exception:  # noqa: BLE001 - anything may stand in place of what was there
            return True


def raised_by(error: BaseException, refusals: tuple[type[BaseException], ...]) -> Raised:
    """What an exception of a plugin comes to."""
    try:
        message = str(error)[:MESSAGE_LIMIT]
    except Exception:  # noqa: BLE001 - the plugin's own __str__
        message = "(no message)"
    return Raised(type(error).__name__, message, plugin_traceback(error), isinstance(error, refusals))
