"""Routes of the REST interface: connectors, tasks, the worker itself, and their description."""
