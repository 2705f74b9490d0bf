"""A Java assignor as a Python one: calls go to its JVM, and answers come back."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignmentError,
    ConsumerAssignments,
    GroupSubscription,
    TaskAssignment,
    TaskAssignor,
)
from assignor_lab.runtime.assignor_calls import AsksElsewhere
from assignor_lab.runtime.java.jvm import AssignorJvm, JavaPlace, jvm_of
from assignor_lab.runtime.java.questions import (
    TaskNumbers,
    answer_document,
    answer_of,
    computed_question,
    question_of,
)
from assignor_lab.runtime.java.settings import java_configs
from assignor_lab.runtime.plain_application import PlainApplication, PlainClient, plain_application, plain_tasks

__all__ = ["JavaFactory", "JavaTaskAssignor"]

_CLASS_KEY = "task.assignor.class"


class JavaTaskAssignor(TaskAssignor):
    """A Java task assignor of KIP-924; each one has its own Java object."""

    def __init__(self, place: JavaPlace, jvm: AssignorJvm) -> None:
        self._place = place
        self._jvm = jvm
        self.configure({})

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Stores the configuration; Java's ``configure`` receives it as texts before the call."""
        self._configs = _task_configs(configs, self._place)

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Calls the Java assignor; its exceptions are raised here under the same name."""
        infos = list(application.task_infos().values())
        known = self._jvm.known
        tasks = known if isinstance(known, TaskNumbers) and known.infos == infos else TaskNumbers(infos)
        sent_tasks = None if tasks is known else plain_tasks(infos)
        question = question_of(plain_application(application), self._configs, len(infos), sent_tasks)
        return answer_of(self._jvm.ask_of(question, tasks), application, tasks)

    def computed(
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        """Calls ``onAssignmentComputed`` of the same object, if its class overrides it."""
        if self._jvm.observes:
            self._jvm.ask(computed_question(assignment, subscription, error))


class _ObservingJavaTaskAssignor(JavaTaskAssignor):
    def on_assignment_computed(
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        self.computed(assignment, subscription, error)


@attrs.frozen
class JavaFactory(AsksElsewhere):
    """A factory of assignors in one JVM."""

    place: JavaPlace

    def __call__(self) -> JavaTaskAssignor:
        jvm = jvm_of(self.place)
        return (_ObservingJavaTaskAssignor if jvm.observes else JavaTaskAssignor)(self.place, jvm)

    def relay(self, configs: Mapping[str, Any], packed: tuple[bytes, ...]) -> Any:
        """The answer to a packed application, without building Python objects on the way."""
        jvm = jvm_of(self.place)
        if jvm.observes:
            return None
        application, tasks = packed
        ids, clients, *rest = pickle.loads(application)  # noqa: S301 - made by the lab
        known = jvm.known
        if not isinstance(known, _PackedTasks) or known.content != tasks:
            plain = pickle.loads(tasks)  # noqa: S301 - likewise
            known, sent_tasks = _PackedTasks(tasks, len(plain[0])), plain
        else:
            sent_tasks = None
        state = PlainApplication(ids, [PlainClient(*client) for client in clients], *rest)
        question = question_of(state, _task_configs(configs, self.place), known.count, sent_tasks)
        return answer_document(jvm.ask_of(question, known))


@attrs.frozen
class _PackedTasks:
    """Packed tasks that a JVM has, and their number."""

    content: bytes
    count: int


def _task_configs(configs: Mapping[str, Any], place: JavaPlace) -> dict[str, str]:
    return java_configs(configs, ((_CLASS_KEY, place.class_name), *place.configs))
