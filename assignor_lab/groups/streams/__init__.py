"""Classic groups of Kafka Streams (KIP-924)."""
