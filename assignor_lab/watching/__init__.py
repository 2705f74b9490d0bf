"""Rebalances out of the ordinary: rules over a group's recorded past, limits, and the names of Kafka's known loops."""
