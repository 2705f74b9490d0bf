"""Environment of simulated workers: the config log, and the machine that starts and stops jobs."""
