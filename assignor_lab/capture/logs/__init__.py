"""Logs of Kafka Streams instances as decisions of their group's leader; those of Connect workers in ``connect/``."""
