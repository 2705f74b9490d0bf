"""A plugin with all kinds of forbidden behaviour."""
