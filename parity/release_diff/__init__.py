"""Differences between two versions of Kafka: bytecode of named classes, defaults of settings, answers."""
