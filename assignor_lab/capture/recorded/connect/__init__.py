"""Kafka Connect groups from recorded responses, as histories."""
