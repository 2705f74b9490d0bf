"""Figures of a placement of tasks on processes, for any kind of group; each kind selects its own."""
