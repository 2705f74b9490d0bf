"""The command ``assignor``: one file for each command, without logic of its own."""
