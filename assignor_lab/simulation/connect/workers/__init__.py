"""Workers of a simulated Connect group: their processes, herders and requests."""
