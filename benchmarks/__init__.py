"""Benchmarks: the lab's assignors beside official Kafka's (`make bench`)."""
