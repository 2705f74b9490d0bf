"""Calls of task assignors of Streams: a new one for each rebalance, as in Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from assignment_api import ApplicationMetadata, AssignmentError, TaskAssignment, TaskAssignor
from assignment_api.plugins import FoundTaskAssignor, Registry
from assignment_api.plugins.named_code import task_assignor_asked_for
from assignment_api.utils.refusals import refusal_sentence
from assignor_lab.groups.streams.checking import checked_answer, validation_of
from assignor_lab.groups.streams.placement import state_of
from assignor_lab.groups.streams.transfer import (
    Receiver,
    answer_document,
    answer_of,
    expected_of,
    fingerprint,
    packed_application,
)
from assignor_lab.kafka.leader.callback import observes, tell
from assignor_lab.runtime.assignor_calls import AssignorCalls, InProcessAssignor
from assignor_lab.runtime.invocation import CallOutcome, NamedAssignor

__all__ = ["ASKING", "RunnableAssignor", "StreamsOutcome", "invoke"]

StreamsOutcome = CallOutcome[TaskAssignment]


class RunnableAssignor(NamedAssignor, Protocol):
    """The part of a task assignor that :func:`invoke` needs; a registry's entries have it."""

    def create(self) -> TaskAssignor:
        """A new assignor object, as Kafka creates one for each rebalance."""


class _StreamsAsking(AssignorCalls[ApplicationMetadata, TaskAssignment]):
    place = f"{__name__}:ASKING"

    def select(self, registry: Registry, selector: str, *, may_run_code: bool) -> FoundTaskAssignor:
        return registry.task_assignor(selector, may_run_code=may_run_code)

    def from_code(self, selector: str) -> FoundTaskAssignor:
        return task_assignor_asked_for(selector)

    def created(self, found: RunnableAssignor) -> TaskAssignor:
        return found.create()

    def shown(self, state: ApplicationMetadata) -> ApplicationMetadata:
        # Lags stay closed until the assignor requests them.
        return state.for_next_assignor()

    def fingerprint(self, state: ApplicationMetadata) -> object:
        return fingerprint(state)

    def checked(self, name: str, answer: object, state: ApplicationMetadata, *, is_trusted: bool) -> TaskAssignment:
        return checked_answer(name, answer, is_trusted=is_trusted)

    def validated(
        self, state: ApplicationMetadata, answer: TaskAssignment, assignor: TaskAssignor | None
    ) -> AssignmentError:
        validation = validation_of(state, answer)
        if assignor is not None and observes(assignor):
            tell(assignor, state, answer, validation)
        return validation

    def refusal(self, state: ApplicationMetadata, answer: TaskAssignment, validation: AssignmentError) -> str:
        return refusal_sentence(state, answer, validation)

    def packed(self, state: ApplicationMetadata) -> tuple[bytes, ...]:
        return packed_application(state)

    def receiver(self) -> Callable[..., ApplicationMetadata]:
        return Receiver().application

    def prepare(self, state: ApplicationMetadata) -> None:
        expected_of(state)
        state_of(state)

    def answer_document(self, state: ApplicationMetadata, answer: TaskAssignment) -> Any:
        return answer_document(state, answer)

    def answer_of(self, state: ApplicationMetadata, document: object) -> TaskAssignment:
        return answer_of(state, document)


ASKING = _StreamsAsking()


def invoke(
    assignor: RunnableAssignor, application: ApplicationMetadata, configs: Mapping[str, object]
) -> StreamsOutcome:
    """Lets ``assignor`` place the tasks of ``application``, shown behind closed lags, in this process.

    Returns:
        The outcome. It holds every exception of the plugin, ``SystemExit`` included; only ``KeyboardInterrupt`` passes.
    """
    return InProcessAssignor(ASKING, assignor, configs).ask(application)
