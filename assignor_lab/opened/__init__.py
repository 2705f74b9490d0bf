"""A group that is opened by its path: its states, its plans and its past, for commands, notebooks and scripts."""
