"""Environment of simulated workers: the config log, and the machine."""
