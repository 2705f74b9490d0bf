"""Java assignors of KIP-924, each in a JVM of its own with the user's Kafka, asked as any assignor."""

from assignor_lab.runtime.java.plugin import java_assignor

__all__ = ["java_assignor"]
