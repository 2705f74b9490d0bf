"""Kafka Connect groups on the virtual clock: life cycle, episodes, metrics."""
