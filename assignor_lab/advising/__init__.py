"""Advice: the settings to run a group with, chosen by a race of configurations on drawn days."""
