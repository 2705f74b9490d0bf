"""Differences between kinds of groups: the small simulated groups, and the checks of answers."""
