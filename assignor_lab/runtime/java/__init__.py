"""Java assignors of KIP-924, each in its own JVM with the user's Kafka."""

from assignor_lab.runtime.java.plugin import java_assignor

__all__ = ["java_assignor"]
