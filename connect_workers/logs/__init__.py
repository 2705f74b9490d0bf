"""Config, offset and status logs of a cluster."""
