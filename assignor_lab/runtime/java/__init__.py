"""Java assignors of KIP-924, each in its own JVM with the user's Kafka."""

from typing import TYPE_CHECKING

from assignment_api.exports import exported

if TYPE_CHECKING:
    from assignor_lab.runtime.java.plugin import java_assignor

__all__ = ["java_assignor"]

if not TYPE_CHECKING:
    __getattr__ = exported(__name__, __all__, "plugin")
