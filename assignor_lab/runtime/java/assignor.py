"""A Java assignor as one of ours: what it is asked goes to its JVM, and what that answers comes back."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignmentError,
    GroupAssignment,
    GroupSubscription,
    TaskAssignment,
    TaskAssignor,
)
from assignor_lab.runtime.asking import AsksElsewhere
from assignor_lab.runtime.java.jvm import JavaPlace, Jvm, jvm_of
from assignor_lab.runtime.java.questions import (
    TaskNumbers,
    answer_document,
    answer_of,
    computed_question,
    question_of,
)
from assignor_lab.runtime.plain_application import PlainApplication, PlainClient, plain_application, plain_tasks

__all__ = ["JavaFactory", "JavaTaskAssignor"]

_CLASS_KEY = "task.assignor.class"
#: Keys that no application has: ours, and the one that stands for Kafka's own assignors.
_NOT_THEIRS = ("assignor.", "internal.task.assignor.class")


class JavaTaskAssignor(TaskAssignor):
    """A task assignor of KIP-924 in Java; each has an object of its own there.

    Args:
        place: Where it is.
        jvm: The JVM that has loaded it.
    """

    def __init__(self, place: JavaPlace, jvm: Jvm) -> None:
        self._place = place
        self._jvm = jvm
        self._configs: Mapping[str, str] = _java_configs({}, place)

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Takes the configuration; Java's ``configure`` gets it, as texts, before it is asked."""
        self._configs = _java_configs(configs, self._place)

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        """Asks in Java; what that raises is raised here under the same name."""
        infos = list(application.task_infos().values())
        known = self._jvm.known
        tasks = known if isinstance(known, TaskNumbers) and known.infos == infos else TaskNumbers(infos)
        told = None if tasks is known else plain_tasks(infos)
        question = question_of(plain_application(application), self._configs, len(infos), told)
        return answer_of(self._jvm.ask_of(question, tasks), application, tasks)

    def told(self, assignment: GroupAssignment, subscription: GroupSubscription, error: AssignmentError) -> None:
        """Calls ``onAssignmentComputed`` of the object that answered, where it has one of its own."""
        if self._jvm.observes:
            self._jvm.ask(computed_question(assignment, subscription, error))


class _ObservingJavaTaskAssignor(JavaTaskAssignor):
    """One with a callback of its own: preparing what it is shown costs something."""

    def on_assignment_computed(
        self, assignment: GroupAssignment, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        self.told(assignment, subscription, error)


@attrs.frozen
class JavaFactory(AsksElsewhere):
    """Makes assignors of a place, all in one JVM.

    Args:
        place: Where they are.
    """

    place: JavaPlace

    def __call__(self) -> JavaTaskAssignor:
        """A new assignor."""
        jvm = jvm_of(self.place)
        return (_ObservingJavaTaskAssignor if jvm.observes else JavaTaskAssignor)(self.place, jvm)

    def relay(self, configs: Mapping[str, Any], packed: tuple[bytes, ...]) -> Any:
        """The answer to a packed application: no object of ours is made of it on its way to Java and back."""
        jvm = jvm_of(self.place)
        if jvm.observes:
            # The callback is told what became of an answer, which takes the objects.
            return None
        application, tasks = packed
        ids, clients, *rest = pickle.loads(application)  # noqa: S301 - made by the lab
        known = jvm.known
        if not isinstance(known, _PackedTasks) or known.content != tasks:
            plain = pickle.loads(tasks)  # noqa: S301 - likewise
            known, told = _PackedTasks(tasks, len(plain[0])), plain
        else:
            told = None
        state = PlainApplication(ids, [PlainClient(*client) for client in clients], *rest)
        question = question_of(state, _java_configs(configs, self.place), known.count, told)
        return answer_document(jvm.ask_of(question, known))


@attrs.frozen
class _PackedTasks:
    """Tasks that a JVM knows, as they travelled, and how many they are."""

    content: bytes
    count: int


def _java_configs(configs: Mapping[str, Any], place: JavaPlace) -> dict[str, str]:
    """What an application's own configuration would hold: texts, as in its ``.properties`` file."""
    kept = {
        key: _text(value)
        for key, value in configs.items()
        if value is not None and not isinstance(value, Mapping) and not key.startswith(_NOT_THEIRS)
    }
    return {**kept, _CLASS_KEY: place.class_name, **dict(place.configs)}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
