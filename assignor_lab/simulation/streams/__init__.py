"""Simulation of a Streams group on a virtual clock: instances, their state, and the group protocol."""
