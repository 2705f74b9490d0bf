"""A Streams group on the virtual clock: instances, their state, and the protocol that gives them tasks."""
