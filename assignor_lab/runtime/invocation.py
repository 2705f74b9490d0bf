"""The outcome of a call of an assignor: an answer or a failure."""

from __future__ import annotations

import contextlib
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from typing import Any, Generic, Protocol, TypedDict, TypeVar

import attrs

from assignment_api import AssignmentError, AssignorLabError
from assignment_api.plugins.tracebacks import plugin_traceback

__all__ = [
    "MESSAGE_LIMIT",
    "CallOutcome",
    "CallFailure",
    "CallTimes",
    "InputMutatedError",
    "InvalidAnswerError",
    "NamedAssignor",
    "check_value",
    "checked_figure",
    "failure_of",
    "looking_at_raised",
    "prints_to_stderr",
    "summed_times",
]

A = TypeVar("A")

#: Longest message of a failure, in characters.
MESSAGE_LIMIT = 2_000
#: Memory address in a ``repr()``, which differs between processes.
_MEMORY_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


class InvalidAnswerError(AssignorLabError):
    """The returned object is no valid answer: a wrong type, or a refusal of Kafka's validation.

    In the second case Kafka fails the rebalance with a ``StreamsException``.
    """

    java_type = "StreamsException"


class InputMutatedError(AssignorLabError):
    """An assignor changed its input, which is immutable by contract."""


class NamedAssignor(Protocol):
    """Name and distribution of an assignor of any kind."""

    @property
    def name(self) -> str: ...

    @property
    def distribution(self) -> str | None: ...


@attrs.frozen
class CallFailure:
    """The reason of a missing answer.

    Args:
        traceback: Frames of the exception, one in a line, from the plugin's first one on; bounded, and empty if no
            plugin was involved.
    """

    type: str
    java_type: str | None
    message: str
    traceback: str = ""


def _not_nothing(_instance: object, _attribute: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        raise ValueError("an outcome is an answer or a failure")


class CallTimes(TypedDict):
    """The times of a call, as arguments of :class:`CallOutcome`."""

    assign_ns: int
    processor_ns: int


@attrs.frozen
class CallOutcome(Generic[A]):
    """The outcome of one call of an assignor of any kind: either an answer or a failure.

    Args:
        assign_ns: Duration of the ``assign`` call alone, nanoseconds; 0 if it was not reached.
        processor_ns: Processor time of the thread in this call; by default ``assign_ns``, for assignors in a JVM.
        out_of_memory: True if the assignor ran out of memory.
        loss: Reason for the end of the assignor's own process, or for a call that was not made.
        input_mutated: True if the input was changed: the caller must build a new one.
        validation: Result of Kafka's validation; ``None`` if nothing was validated.
        unread: Configured settings that an assignor without declared settings has not read.
    """

    result: A | CallFailure = attrs.field(validator=_not_nothing)
    assign_ns: int = attrs.field(default=0, kw_only=True)
    processor_ns: int = attrs.field(kw_only=True)
    out_of_memory: bool = attrs.field(default=False, kw_only=True)
    loss: AssignorLabError | None = attrs.field(default=None, kw_only=True)
    input_mutated: bool = attrs.field(default=False, kw_only=True)
    validation: AssignmentError | None = attrs.field(default=None, kw_only=True)
    unread: tuple[str, ...] = attrs.field(default=(), kw_only=True)

    @processor_ns.default
    def _wall_time(self) -> int:
        return self.assign_ns

    @property
    def answer(self) -> A | None:
        return None if isinstance(self.result, CallFailure) else self.result

    @property
    def times(self) -> CallTimes:
        return {"assign_ns": self.assign_ns, "processor_ns": self.processor_ns}

    @property
    def failure(self) -> CallFailure | None:
        return self.result if isinstance(self.result, CallFailure) else None

    @property
    def stopped_at(self) -> list[str]:
        """Position of a plugin's code at its deadline, a line for each frame; empty if unknown.

        No row contains it, because it differs from call to call.
        """
        place = getattr(self.loss, "stopped_at", "")
        return place.splitlines() if isinstance(place, str) else []


def summed_times(outcomes: Iterable[CallOutcome[Any]]) -> CallTimes:
    """The times of all calls together."""
    of = [outcome.times for outcome in outcomes]
    return {
        "assign_ns": sum(each["assign_ns"] for each in of),
        "processor_ns": sum(each["processor_ns"] for each in of),
    }


class prints_to_stderr:  # noqa: N801 - a context manager, as in contextlib
    """Redirects a plugin's output to standard error, because standard output is for results only."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = sys.stdout
        sys.stdout = sys.stderr

    def __exit__(self, *_error: object) -> None:
        sys.stdout = self._before


def failure_of(error: BaseException) -> CallFailure:
    """The failure for ``error``; its message is cut to ``MESSAGE_LIMIT`` characters.

    Memory addresses are removed, so that the same failure gives the same row in every process.
    """
    java_type = error.java_type if isinstance(error, AssignorLabError) else None
    message = _guarded(lambda: str(error))[:MESSAGE_LIMIT]
    where = plugin_traceback(error)
    if where:
        for look in _looking:
            look(error)
    return CallFailure(type(error).__name__, java_type, _MEMORY_ADDRESS.sub("0x...", message), where)


#: Observers of exceptions of plugins, called while the frames exist.
_looking: list[Callable[[BaseException], None]] = []


@contextlib.contextmanager
def looking_at_raised(look: Callable[[BaseException], None]) -> Iterator[None]:
    """Passes exceptions of plugins in this process to ``look``, for debuggers."""
    _looking.append(look)
    try:
        yield
    finally:
        _looking.remove(look)


def _guarded(text: Callable[[], str]) -> str:
    try:
        return text()
    except Exception as error:  # noqa: BLE001 - the plugin's own __str__ is code that may fail, too
        return f"(no message: {type(error).__name__} while it was made)"


def checked_figure(figure: object) -> float:
    """Returns the figure of a metric as a float.

    Raises:
        TypeError: if it is not a number; ``bool`` and text are mistakes of the metric.
        ValueError: if it is not finite.
    """
    if isinstance(figure, bool) or not isinstance(figure, Real):
        kind = type(figure).__name__
        raise TypeError(f"the metric returned {figure!r:.80} ({kind}): return a finite number, or None for unknown")
    number = float(figure)
    if not math.isfinite(number):
        raise ValueError(f"the metric returned {number}: return a finite number, or None for unknown")
    return number


def check_value(name: str, place: str, value: object, expected: Any) -> None:
    """Raises ``InvalidAnswerError`` if ``value``, or any item in it, does not have the type ``expected``."""
    # Its import takes as long as a small command.
    from assignor_lab.runtime.type_checks import CollectionCheckStrategy, TypeCheckError, check_type

    try:
        check_type(value, expected, collection_check_strategy=CollectionCheckStrategy.ALL_ITEMS)
    except TypeCheckError as error:
        raise InvalidAnswerError(f"assignor {name}: {place}: {error}") from error
