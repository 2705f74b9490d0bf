"""Groups of a running Kafka: list and state.

This code only reads: it never writes, joins or commits.
"""
