"""The assignors that Kafka ships, each an ordinary plugin."""
