"""Instances of connectors and tasks that one worker runs."""
