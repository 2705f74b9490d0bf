"""Logs of Kafka Streams instances, read as decisions of their group's leader."""
