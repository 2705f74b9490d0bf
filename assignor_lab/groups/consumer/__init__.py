"""Plain consumer groups of both protocols, and share groups: three kinds with the same answers."""
