"""Simulation of a Streams group on a virtual clock."""
