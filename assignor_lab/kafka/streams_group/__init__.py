"""Broker's side of the streams protocol (KIP-1071): epochs, targets, and the members' steps towards them."""

__all__ = ["PROTOCOL"]

#: The protocol's name in configurations (``group.protocol``), and the brokers' type of its groups.
PROTOCOL = "streams"
