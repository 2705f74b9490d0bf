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
    """The name of a Java assignor.

    Args:
        jars: Its class path: jars, folders of classes, and ``folder/*`` for the jars of a folder, separated by colons.
        kafka: Its Kafka: a class path, or a version; empty: from the configuration.
    """

    text: str
    class_name: str
    jars: str = ""
    kafka: str = ""

    @property
    def subject(self) -> str:
        return f"assignor {PREFIX}{self.class_name}"


def java_name(selector: str) -> JavaName | None:
    """The Java assignor in ``selector``; ``None`` for other selectors.

    Raises:
        PluginLoadError: if the name has the prefix but is malformed.
    """
    if not selector.startswith(PREFIX):
        return None
    class_name, _, rest = selector.removeprefix(PREFIX).partition("@")
    jars, _, kafka = rest.partition("@")
    # Kafka's documentation writes inner classes with a dot, the JVM with a dollar: only the latter is a name.
    if not _CLASS.match(class_name):
        raise PluginLoadError(
            f"{selector!r:.200} names no Java class: expected java:CLASS@JARS, such as "
            "java:com.example.MyAssignor@my.jar:lib/*, and another @ before a Kafka of its own"
        )
    return JavaName(selector, class_name, jars.strip(), kafka.strip())
