"""A Java assignor as one of ours: what it is asked goes to its JVM, and what that answers comes back."""

from __future__ import annotations

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
from assignor_lab.runtime.java.questions import TaskNumbers, answer_of, computed_question, question_of

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
        is_new = not isinstance(known, TaskNumbers) or known.infos != infos
        tasks = TaskNumbers(infos) if is_new or not isinstance(known, TaskNumbers) else known
        question = question_of(application, self._configs, tasks, tells_tasks=is_new)
        self._jvm.known = None
        answer = self._jvm.ask(question)
        self._jvm.known = tasks
        return answer_of(answer, application, tasks)

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
