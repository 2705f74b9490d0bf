"""The origin of a named Java assignor: the facts that a process needs to load it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.plugins import Found, FoundTaskAssignor, PartitionAssignorPlugin, TaskAssignorPlugin
from assignor_lab.runtime.assignor_calls import AssignorCalls
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.runtime.java.assignor import JavaFactory
from assignor_lab.runtime.java.class_path import content_digest, jars_in
from assignor_lab.runtime.java.jvm import AssignorJvm, JavaPlace, jvm_of
from assignor_lab.runtime.java.naming import JavaName
from assignor_lab.runtime.java.partition_assignor import JavaPartitionFactory
from assignor_lab.runtime.java.settings import JavaSettings

__all__ = ["DESCRIBE", "JavaOrigin", "describe", "java_origin"]

#: Handler that loads an assignor in its own process.
DESCRIBE = f"{__name__}:describe"


@attrs.frozen
class JavaOrigin(AssignorOrigin):
    """A named Java assignor.

    Args:
        kind: Its kind in listings, one of those of its interfaces.
    """

    name: str
    place: JavaPlace
    kind: str = "task-assignor"

    def select(self, asking: AssignorCalls[Any, Any], selector: str) -> FoundTaskAssignor | Found[Any]:  # noqa: ARG002 - there is one alone
        jvm_of(self.place)
        if self.kind == "task-assignor":
            return FoundTaskAssignor(self.name, TaskAssignorPlugin("java", JavaFactory(self.place)), None, None)
        factory = JavaPartitionFactory(self.kind, self.place)
        return Found(self.name, PartitionAssignorPlugin("java", factory), None, None)

    def digest(self) -> str:
        """Digest of its content, independent of its path."""
        return content_digest(self.place.class_name, self.place.jars, self.place.kafka)


def java_origin(name: JavaName, settings: JavaSettings) -> JavaOrigin:
    """The origin of an assignor.

    Raises:
        PluginLoadError: if its jars, its Kafka or a Java is missing; a sentence has the missing part and a remedy.
    """
    jars = jars_in(name.jars, name.subject)
    kafka = settings.kafka_for(name.kafka, jars, name.subject)
    program = settings.program(name.subject)
    return JavaOrigin(
        name.text,
        JavaPlace(name.subject, name.class_name, jars, kafka, program, tuple(settings.configs.items())),
    )


def describe(_memory: dict[str, Any], origin: JavaOrigin) -> Mapping[str, Any]:
    """Loads the assignor in its own process as a trial, and tells the kinds of its interfaces.

    Raises:
        PluginLoadError: if it cannot be loaded.
    """
    jvm = AssignorJvm(origin.place)
    jvm.close()
    return {"kinds": list(jvm.kinds)}
