"""Decisions in the logs of Streams leaders; ``connect/`` reads the logs of Connect workers."""
