"""The outcome of a call of an assignor: an answer or a failure, whatever the plugin did."""

from __future__ import annotations

import contextlib
import math
import re
import sys
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, Generic, Protocol, TypeVar

import attrs

from assignment_api import AssignmentError, AssignorLabError
from assignment_api.plugins.tracebacks import plugin_traceback
from assignor_lab.runtime.type_checks import CollectionCheckStrategy, TypeCheckError, check_type

__all__ = [
    "MESSAGE_LIMIT",
    "CallOutcome",
    "Failure",
    "InputMutatedError",
    "InvalidAnswerError",
    "NamedAssignor",
    "check_value",
    "checked_figure",
    "failure_of",
    "looking_at_raised",
    "prints_to_stderr",
]

A = TypeVar("A")

#: Longest message kept of a failure, in characters.
MESSAGE_LIMIT = 2_000
#: Where an object happens to lie in memory, as ``repr()`` writes it: another place in every process.
_MEMORY_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


class InvalidAnswerError(AssignorLabError):
    """What an assignor returned is not an answer: a wrong type, or an answer that Kafka's validation refuses.

    Kafka fails the rebalance with a ``StreamsException`` in the second case.
    """

    java_type = "StreamsException"


class InputMutatedError(AssignorLabError):
    """An assignor changed its input, which is immutable by contract."""


class NamedAssignor(Protocol):
    """What a call needs to know of an assignor of any kind."""

    @property
    def name(self) -> str:
        """Name under which results are filed."""

    @property
    def distribution(self) -> str | None:
        """Distribution that it came from."""


@attrs.frozen
class Failure:
    """Why there is no answer.

    Args:
        type: Name of our exception, or of the plugin's own.
        java_type: Simple name of Kafka's exception for the same fault, or ``None``.
        message: What it said, without control over its content; bounded.
        traceback: Where a plugin raised it, a line for each frame from the plugin's first one on; bounded, and empty
            where nothing of a plugin was involved.
    """

    type: str
    java_type: str | None
    message: str
    traceback: str = ""


def _not_nothing(_instance: object, _attribute: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        raise ValueError("an outcome is an answer or a failure")


@attrs.frozen
class CallOutcome(Generic[A]):
    """What came of one call of an assignor of any kind: an answer or a failure, never both and never neither.

    Args:
        result: The answer, or why there is none.
        assign_ns: Duration of the ``assign`` call alone, nanoseconds; 0 where it was not reached.
        out_of_memory: There was no memory for what the assignor wanted.
        loss: Why the assignor's own process was ended, where it has one, or why it was not asked at all.
        input_mutated: The input was changed: the caller must build a new one before it goes on.
        validation: What Kafka's validation said of the answer; ``None``: nothing was validated.
    """

    result: A | Failure = attrs.field(validator=_not_nothing)
    assign_ns: int = attrs.field(default=0, kw_only=True)
    out_of_memory: bool = attrs.field(default=False, kw_only=True)
    loss: AssignorLabError | None = attrs.field(default=None, kw_only=True)
    input_mutated: bool = attrs.field(default=False, kw_only=True)
    validation: AssignmentError | None = attrs.field(default=None, kw_only=True)

    @property
    def answer(self) -> A | None:
        """The answer, or ``None`` after a failure."""
        return None if isinstance(self.result, Failure) else self.result

    @property
    def failure(self) -> Failure | None:
        """The failure, or ``None`` where there is an answer."""
        return self.result if isinstance(self.result, Failure) else None

    @property
    def stopped_at(self) -> list[str]:
        """Where a plugin's code was when its deadline came: a line for each frame; nothing where that is not known.

        It differs from call to call, so that no row tells it.
        """
        said = getattr(self.loss, "stopped_at", "")
        return said.splitlines() if isinstance(said, str) else []


def prints_to_stderr() -> contextlib.AbstractContextManager[object]:
    """What a plugin prints meanwhile is a message: results alone belong on the standard output."""
    return contextlib.redirect_stdout(sys.stderr)


def failure_of(error: BaseException) -> Failure:
    """The failure that stands for ``error``; its message is cut to ``MESSAGE_LIMIT`` characters.

    Addresses in memory are left out of it, so that the same failure is the same row in every process.
    """
    java_type = error.java_type if isinstance(error, AssignorLabError) else None
    message = _guarded(lambda: str(error))[:MESSAGE_LIMIT]
    where = plugin_traceback(error)
    if where:
        for look in _looking:
            look(error)
    return Failure(type(error).__name__, java_type, _MEMORY_ADDRESS.sub("0x...", message), where)


#: Who looks at what plugins raise, while it is there with its frames.
_looking: list[Callable[[BaseException], None]] = []


@contextlib.contextmanager
def looking_at_raised(look: Callable[[BaseException], None]) -> Iterator[None]:
    """Meanwhile ``look`` is shown what plugins raise in this process: for debuggers."""
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
        TypeError: if it is no number; a ``bool`` or a text is a mistake in the metric.
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
    """Raises ``InvalidAnswerError`` if ``value``, or any item in it, has not the type ``expected``."""
    try:
        check_type(value, expected, collection_check_strategy=CollectionCheckStrategy.ALL_ITEMS)
    except TypeCheckError as error:
        raise InvalidAnswerError(f"assignor {name}: {place}: {error}") from error
