"""Figures of a placement of tasks on processes, whatever the kind of group; each kind says which of them it has."""
