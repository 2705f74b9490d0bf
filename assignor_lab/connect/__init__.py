"""Running Kafka Connect clusters: a client of their REST interface."""
