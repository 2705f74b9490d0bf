"""Kafka's own rules, as plain functions and state machines: no input, no output, no clock."""
