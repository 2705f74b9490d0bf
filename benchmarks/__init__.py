"""Benchmarks: our assignors beside official Kafka's (`make bench`)."""
