"""Kinds of groups: simulations and checks of answers."""
