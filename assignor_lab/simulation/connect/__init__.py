"""Simulation of Kafka Connect groups on a virtual clock: life cycle, episodes, metrics."""
