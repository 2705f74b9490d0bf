"""The summary of a run as values: differences, snapshots of states, placements, downtime, explanations."""
