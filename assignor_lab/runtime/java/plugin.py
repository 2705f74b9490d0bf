"""The entry of a Java assignor in an author's own package."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignmentError,
    ConfigError,
    ConsumerAssignments,
    GroupSubscription,
    TaskAssignment,
    TaskAssignor,
)
from assignment_api.plugins import TaskAssignorPlugin
from assignment_api.plugins.keys import SETTING_PREFIX
from assignor_lab.runtime.java.assignor import JavaTaskAssignor
from assignor_lab.runtime.java.class_path import is_version, jars_in
from assignor_lab.runtime.java.jvm import JavaPlace, jvm_of
from assignor_lab.runtime.java.settings import JavaSettings

__all__ = ["java_assignor"]

#: Jars from a zipped package are extracted to files for the life of this process.
_unpacked = ExitStack()
atexit.register(_unpacked.close)


def java_assignor(
    name: str,
    class_name: str,
    jars: Sequence[Traversable],
    *,
    kafka: str = "",
    summary: str = "",
    aliases: Sequence[str] = (),
) -> TaskAssignorPlugin:
    """The entry of a Java assignor for hook ``assignor_lab_task_assignors``.

    It represents its class: an application's ``.properties`` file with that ``task.assignor.class`` works unchanged.
    Users choose their Kafka by the plugin's own setting ``assignor.NAME.kafka`` (a version in their local Maven
    repository) or by variable ``ASSIGNOR__JAVA__KAFKA`` (a class path), and their Java by variable
    ``ASSIGNOR__JAVA__HOME``. ``assignor.plugins.environment`` has to pass both variables on. Further keys for
    ``configure`` are ``assignor.NAME.config.KEY``.

    Args:
        kafka: Default Kafka: a version in the user's local Maven repository, or a class path. It is unnecessary if the
            jars contain Kafka.

    Raises:
        PluginDefinitionError: if a name is invalid.
    """
    factory = _factory(name, class_name, tuple(jars), kafka)
    return TaskAssignorPlugin(name, factory, aliases=tuple(aliases), java_classes=(class_name,), summary=summary)


def _factory(name: str, class_name: str, jars: tuple[Traversable, ...], kafka: str) -> Callable[[], TaskAssignor]:
    found: list[tuple[str, ...]] = []

    def unpacked() -> tuple[str, ...]:
        if not found:
            paths = [str(_unpacked.enter_context(as_file(jar))) for jar in jars]
            found.append(tuple(each for path in paths for each in jars_in(path, f"assignor {name}")))
        return found[0]

    def place_of(configs: Mapping[str, Any]) -> JavaPlace:
        own = f"{SETTING_PREFIX}{name}."
        prefix = f"{own}config."
        further = {key.removeprefix(prefix): str(configs[key]) for key in configs if key.startswith(prefix)}
        # Values of a scenario reach this, too: they may choose Kafka's version, but no path.
        version = str(configs.get(f"{own}kafka") or "")
        if version and not is_version(version):
            raise ConfigError(
                f"Invalid value {version:.80} for configuration {own}kafka: expected a version that the local Maven "
                "repository has (a class path is passed on as variable ASSIGNOR__JAVA__KAFKA, which "
                "assignor.plugins.environment has to name)"
            )
        settings = JavaSettings.of_environment(kafka, further)
        settings = attrs.evolve(settings, kafka=version or settings.kafka)
        subject = f"assignor {name}"
        needed = settings.kafka_for("", unpacked(), subject)
        return JavaPlace(
            subject, class_name, unpacked(), needed, settings.program(subject), tuple(further.items()), own
        )

    return lambda: _PackagedAssignor(place_of)


class _PackagedAssignor(TaskAssignor):
    """A Java assignor whose Kafka is known after ``configure``."""

    def __init__(self, place_of: Callable[[Mapping[str, Any]], JavaPlace]) -> None:
        self._place_of = place_of
        self._configs: Mapping[str, Any] = {}
        self._made: JavaTaskAssignor | None = None

    def configure(self, configs: Mapping[str, Any]) -> None:
        self._configs = configs

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        place = self._place_of(self._configs)
        self._made = JavaTaskAssignor(place, jvm_of(place))
        self._made.configure(self._configs)
        return self._made.assign(application)

    def on_assignment_computed(
        self, assignment: ConsumerAssignments, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        if self._made is not None:
            self._made.computed(assignment, subscription, error)
