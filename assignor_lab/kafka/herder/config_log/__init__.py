"""The config log as a herder reads it: its records, its end, and what a change of it sets off."""
