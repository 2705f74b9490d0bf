"""Layouts of brokers' responses that kafka-python lacks, in its own form."""
