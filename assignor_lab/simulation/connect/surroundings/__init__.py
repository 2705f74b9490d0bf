"""Surroundings of simulated workers: the config log, and the machine on which jobs start and stop."""
