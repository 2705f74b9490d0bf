"""Connectors that can be configured, and the keys of their configurations."""
