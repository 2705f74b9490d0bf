"""Names of Java assignors: ``java:CLASS[@JARS[@KAFKA]]``."""

from __future__ import annotations

import re

import attrs

from assignment_api.plugins import PluginLoadError

__all__ = ["PREFIX", "JavaName", "java_name"]

PREFIX = "java:"
_CLASS = re.compile(r"\A[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*\Z")


@attrs.frozen
class JavaName:
    """A Java assignor as it is named.

    Args:
        text: The whole name.
        class_name: Its class.
        jars: Its class path: jars, folders of classes, and ``folder/*`` for the jars of a folder; colons between them.
        kafka: The Kafka that it is to run with: a class path, or a version; empty: the configuration says which.
    """

    text: str
    class_name: str
    jars: str = ""
    kafka: str = ""

    @property
    def subject(self) -> str:
        """What messages call it."""
        return f"assignor {PREFIX}{self.class_name}"


def java_name(selector: str) -> JavaName | None:
    """The Java assignor that ``selector`` names; ``None`` where it names something else.

    Raises:
        PluginLoadError: if it starts like one and is none.
    """
    if not selector.startswith(PREFIX):
        return None
    class_name, _, rest = selector.removeprefix(PREFIX).partition("@")
    jars, _, kafka = rest.partition("@")
    # Kafka's documentation writes inner classes with a dot, and the JVM with a dollar: only the latter is a name.
    if not _CLASS.match(class_name):
        raise PluginLoadError(
            f"{selector!r:.200} names no Java class: expected java:CLASS@JARS, such as "
            "java:com.example.MyAssignor@my.jar:lib/*, and another @ before a Kafka of its own"
        )
    return JavaName(selector, class_name, jars.strip(), kafka.strip())
