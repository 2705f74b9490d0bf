"""Groups of a running Kafka: read-only requests."""
