"""The origin of a Java assignor that was named: what a process needs to know to have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.plugins import FoundTaskAssignor, TaskAssignorPlugin
from assignor_lab.runtime.asking import Asking
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.runtime.java.assignor import JavaFactory
from assignor_lab.runtime.java.class_path import content_digest, jars_in
from assignor_lab.runtime.java.jvm import JavaPlace, Jvm, jvm_of
from assignor_lab.runtime.java.naming import JavaName
from assignor_lab.runtime.java.settings import JavaSettings

__all__ = ["DESCRIBE", "JavaOrigin", "describe", "java_origin"]

#: What says, in a process of its own, whether an assignor can be had.
DESCRIBE = f"{__name__}:describe"


@attrs.frozen
class JavaOrigin(AssignorOrigin):
    """A named Java assignor.

    Args:
        name: The name under which its results are filed.
        place: Where it is.
    """

    name: str
    place: JavaPlace

    def select(self, asking: Asking[Any, Any], selector: str) -> FoundTaskAssignor:  # noqa: ARG002 - there is one alone
        """The assignor, in the process that is to ask it; its JVM is started."""
        jvm_of(self.place)
        return FoundTaskAssignor(self.name, TaskAssignorPlugin("java", JavaFactory(self.place)), None, None)

    def digest(self) -> str:
        """What it is made of, wherever that lies."""
        return content_digest(self.place.class_name, self.place.jars, self.place.kafka)


def java_origin(name: JavaName, settings: JavaSettings) -> JavaOrigin:
    """The origin of an assignor.

    Raises:
        PluginLoadError: if its jars, its Kafka or a Java cannot be found; a sentence says which, with a remedy.
    """
    jars = jars_in(name.jars, name.subject)
    kafka = settings.kafka_for(name.kafka, jars, name.subject)
    program = settings.program(name.subject)
    return JavaOrigin(
        name.text,
        JavaPlace(name.subject, name.class_name, jars, kafka, program, tuple(settings.configs.items())),
    )


def describe(_memory: dict[str, Any], origin: JavaOrigin) -> Mapping[str, Any]:
    """Has the assignor loaded, to see whether it can be; in a process of its own.

    Raises:
        PluginLoadError: if it cannot.
    """
    Jvm(origin.place).close()
    return {}
