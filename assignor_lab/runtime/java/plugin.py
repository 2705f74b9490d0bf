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
    GroupAssignment,
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

#: Packages' jars that came out of an archive lie in files for as long as this process lives.
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

    It takes the place of its class: an application's ``.properties`` file that names that as ``task.assignor.class``
    works as it is. Users choose their Kafka by the plugin's own setting, ``assignor.NAME.kafka``, a version that their
    local Maven repository has; or a class path by variable ``ASSIGNOR__JAVA__KAFKA``, and their Java by variable
    ``ASSIGNOR__JAVA__HOME``, both passed on by ``assignor.plugins.environment``. Further keys for ``configure`` are
    ``assignor.NAME.config.KEY``.

    Args:
        name: What users select it by.
        class_name: Full name of the class, which implements ``TaskAssignor`` of KIP-924.
        jars: The jars of the package that it is in, such as ``importlib.resources.files("my_package") / "my.jar"``.
        kafka: The Kafka that it runs with where the user names none: a version that the user's local Maven repository
            has, or a class path. The first jars may hold one themselves; then nothing need be said.
        summary: One line about it.
        aliases: Further names of it.

    Raises:
        PluginDefinitionError: if a name is none.
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
        # What a scenario says reaches this, too: of the user's Kafka it may choose the version, and no path.
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
    """A Java assignor whose Kafka is known when it is configured."""

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
        self, assignment: GroupAssignment, subscription: GroupSubscription, error: AssignmentError
    ) -> None:
        if self._made is not None:
            self._made.told(assignment, subscription, error)
