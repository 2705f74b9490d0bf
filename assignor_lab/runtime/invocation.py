"""One call of one assignor: made, timed, checked. Nothing that a plugin does gets out as an exception."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from time import perf_counter_ns
from typing import Any, Generic, Protocol, TypeVar

import attrs
from typeguard import CollectionCheckStrategy, TypeCheckError, check_type

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    AssignmentError,
    AssignorLabError,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignor,
    TaskId,
)
from assignment_api.utils.validation import StrictFinding, strict_findings, validate_task_assignment
from assignor_lab.kafka.leader.callback import observes, tell
from assignor_lab.runtime.packing import fingerprint

__all__ = [
    "CallOutcome",
    "Failure",
    "InputMutatedError",
    "InvalidAnswerError",
    "Outcome",
    "RunnableAssignor",
    "invoke",
    "outcome_of",
]

A = TypeVar("A")

#: The distribution whose assignors are part of this project and are not watched for changes of their input.
TRUSTED_DISTRIBUTION = "assignor-lab"
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


class RunnableAssignor(NamedAssignor, Protocol):
    """What :func:`invoke` needs to know of a task assignor; a registry's entries have it."""

    def create(self) -> TaskAssignor:
        """A new assignor object, as Kafka makes one for each rebalance."""


@attrs.frozen
class Failure:
    """Why there is no assignment.

    Args:
        type: Name of our exception, or of the plugin's own.
        java_type: Simple name of Kafka's exception for the same fault, or ``None``.
        message: What it said, without control over its content; bounded.
    """

    type: str
    java_type: str | None
    message: str


@attrs.frozen
class CallOutcome(Generic[A]):
    """What came of one call of an assignor of any kind.

    Args:
        assignment: The answer, or ``None`` after a failure.
        failure: The failure, or ``None``.
        assign_ns: Duration of the ``assign`` call alone, nanoseconds; 0 where it was not reached.
        out_of_memory: There was no memory for what the assignor wanted.
        loss: Why the assignor's own process was ended, where it has one.
    """

    assignment: A | None
    failure: Failure | None
    assign_ns: int = attrs.field(default=0, kw_only=True)
    out_of_memory: bool = attrs.field(default=False, kw_only=True)
    loss: AssignorLabError | None = attrs.field(default=None, kw_only=True)


@attrs.frozen
class Outcome(CallOutcome[TaskAssignment]):
    """What came of one call of a task assignor; further arguments as for :class:`CallOutcome`.

    Args:
        validation: What Kafka's validation said of the answer; ``NONE`` also where there is none to look at.
        findings: What the stricter check found.
        input_mutated: The input was changed: the caller must build a new one before it goes on.
    """

    validation: AssignmentError = AssignmentError.NONE
    findings: tuple[StrictFinding, ...] = ()
    input_mutated: bool = False

    @property
    def followup(self) -> bool:
        """Whether any client is to ask for a follow-up rebalance."""
        assignments = self.assignment.assignments if self.assignment is not None else ()
        return any(client.followup_rebalance_deadline_ms is not None for client in assignments)


def invoke(
    assignor: RunnableAssignor,
    application: ApplicationMetadata,
    configs: Mapping[str, Any],
    *,
    strict: bool = False,
) -> Outcome:
    """Lets ``assignor`` place the tasks of ``application``.

    Args:
        assignor: Entry of a registry.
        application: Input; it is shown behind closed lags.
        configs: Effective configuration for ``configure``.
        strict: Look for what Kafka's validation does not notice, too.

    Returns:
        The outcome. Whatever the plugin raises, ``SystemExit`` included, is in it; only ``KeyboardInterrupt`` passes.
    """
    watched = assignor.distribution != TRUSTED_DISTRIBUTION
    before = fingerprint(application) if watched else None
    shown = application.for_next_assignor()
    outcome = _call(assignor, application, shown, configs)
    # What was shown shares its tasks with the application and has clients of its own: both count.
    if watched and any(_fingerprint_or_none(seen) != before for seen in (shown, application)):
        error = InputMutatedError(f"assignor {assignor.name} changed its input: inputs are immutable by contract")
        return Outcome(None, failure_of(error), assign_ns=outcome.assign_ns, input_mutated=True)
    if strict and outcome.assignment is not None:
        return attrs.evolve(outcome, findings=strict_findings(application, outcome.assignment))
    return outcome


def _call(
    assignor: RunnableAssignor,
    application: ApplicationMetadata,
    shown: ApplicationMetadata,
    configs: Mapping[str, Any],
) -> Outcome:
    elapsed = 0
    try:
        with prints_to_stderr():
            instance = assignor.create()
            instance.configure(configs)
            start = perf_counter_ns()
            try:
                answer = instance.assign(shown)
            finally:
                elapsed = perf_counter_ns() - start
            assignment = checked_answer(assignor.name, answer)
            validation = validate_task_assignment(application, assignment)
            if observes(instance):
                tell(instance, application, assignment, validation)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
        return Outcome(None, failure_of(error), assign_ns=elapsed, out_of_memory=isinstance(error, MemoryError))
    if validation is not AssignmentError.NONE:
        refused = InvalidAnswerError(f"assignor {assignor.name}: Kafka refuses this assignment: {validation.name}")
        return Outcome(None, failure_of(refused), validation, assign_ns=elapsed)
    return Outcome(assignment, None, assign_ns=elapsed)


def outcome_of(
    assignor: NamedAssignor,
    shown: object,
    made: Callable[[], Callable[[], object]],
    checked: Callable[[object], A],
) -> CallOutcome[A]:
    """One call of a broker-side or Connect assignor: made, timed, checked.

    Args:
        assignor: Whose call it is.
        shown: Its input, which has a complete ``repr``: an assignor of somebody else must leave it as it was.
        made: Makes and configures the assignor, and returns its call; not within the time that is measured.
        checked: The answer once it has passed every check; raises ``InvalidAnswerError`` else.

    Returns:
        The outcome. Whatever the plugin raises, ``SystemExit`` included, is in it; only ``KeyboardInterrupt`` passes.
    """
    watched = assignor.distribution != TRUSTED_DISTRIBUTION
    before = repr(shown) if watched else None
    elapsed = 0
    try:
        with prints_to_stderr():
            call = made()
            start = perf_counter_ns()
            try:
                answer = call()
            finally:
                elapsed = perf_counter_ns() - start
        assignment = checked(answer)
        if watched and repr(shown) != before:
            raise InputMutatedError(f"assignor {assignor.name} changed its input: inputs are immutable by contract")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
        return CallOutcome(None, failure_of(error), assign_ns=elapsed, out_of_memory=isinstance(error, MemoryError))
    return CallOutcome(assignment, None, assign_ns=elapsed)


@contextlib.contextmanager
def prints_to_stderr() -> Iterator[None]:
    """What a plugin prints meanwhile is a message: results alone belong on the standard output."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def failure_of(error: BaseException) -> Failure:
    """The failure that stands for ``error``; its message is cut to ``MESSAGE_LIMIT`` characters.

    Addresses in memory are left out of it, so that the same failure is the same row in every process.
    """
    java_type = error.java_type if isinstance(error, AssignorLabError) else None
    message = _guarded(lambda: str(error))[:MESSAGE_LIMIT]
    return Failure(type(error).__name__, java_type, _MEMORY_ADDRESS.sub("0x...", message))


def _guarded(text: Callable[[], str]) -> str:
    try:
        return text()
    except Exception as error:  # noqa: BLE001 - the plugin's own __str__ is code that may fail, too
        return f"(no message: {type(error).__name__} while it was made)"


def checked_answer(name: str, answer: object) -> TaskAssignment:
    """``answer`` once every item in it has the type that the SPI says.

    Raises:
        InvalidAnswerError: naming the first item that has not.
    """
    if not isinstance(answer, TaskAssignment):
        raise InvalidAnswerError(f"assignor {name} returned {type(answer).__name__}, expected TaskAssignment")
    _check_items(name, lambda: "assignments", answer.assignments, StreamsClientAssignment)
    _check_items(name, lambda: "remarks", answer.remarks, str)
    for client in answer.assignments:
        _check_items(name, partial(_tasks_place, client), client.tasks, AssignedTask)
        _check_fields(name, client)
    return answer


def _tasks_place(client: StreamsClientAssignment) -> str:
    return f"assignments[{client.process_id}].tasks"


def _check_items(name: str, place: Callable[[], str], items: tuple[Any, ...], expected: type) -> None:
    if type(items) is tuple and set(map(type, items)) <= {expected}:
        return  # the usual case: typeguard would look at each of maybe 50,000 items in turn
    check_value(name, place(), items, tuple[expected, ...])  # type: ignore[valid-type]


_FIELD_TYPES: dict[type, dict[str, Any]] = {
    owner: {field.name: field.type for field in attrs.fields(attrs.resolve_types(owner)) if field.name != "tasks"}
    for owner in (StreamsClientAssignment, AssignedTask)
}


def _check_fields(name: str, client: StreamsClientAssignment) -> None:
    deadline = client.followup_rebalance_deadline_ms
    # The usual case first: typeguard takes longer over four fields than some assignors over their answer.
    if type(client.process_id) is not ProcessID or not (deadline is None or type(deadline) is int):
        _check_values(name, f"assignment of {client.process_id}", client)
    if deadline is not None and not -(1 << 63) <= deadline < 1 << 63:
        raise InvalidAnswerError(
            f"assignor {name}: assignment of {client.process_id}: followup_rebalance_deadline_ms {deadline:.3e} is no "
            "64-bit number of milliseconds"
        )
    checked = {(TaskId, AssignedTaskType)}
    for task in client.tasks:
        shape = (type(task.id), type(task.type))
        if shape not in checked:
            _check_values(name, f"assignment of {client.process_id}: task {task.id}", task)
            checked.add(shape)


def check_value(name: str, place: str, value: object, expected: Any) -> None:
    """Raises ``InvalidAnswerError`` if ``value``, or any item in it, has not the type ``expected``."""
    try:
        check_type(value, expected, collection_check_strategy=CollectionCheckStrategy.ALL_ITEMS)
    except TypeCheckError as error:
        raise InvalidAnswerError(f"assignor {name}: {place}: {error}") from error


def _check_values(name: str, place: str, value: StreamsClientAssignment | AssignedTask) -> None:
    for field, expected in _FIELD_TYPES[type(value)].items():
        try:
            check_type(getattr(value, field), expected)
        except TypeCheckError as error:
            raise InvalidAnswerError(f"assignor {name}: {place}: {field}: {error}") from error


def _fingerprint_or_none(application: ApplicationMetadata) -> tuple[bytes, ...] | None:
    try:
        return fingerprint(application)
    except Exception:  # noqa: BLE001 - a plugin may have put anything in place of what was there
        return None
