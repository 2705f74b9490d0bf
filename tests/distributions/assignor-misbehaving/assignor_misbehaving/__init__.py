"""Everything that a plugin should not do."""
