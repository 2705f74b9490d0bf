"""Kafka's assignors as plugins."""
