"""The broker's side of the streams protocol (KIP-1071): epochs, targets, and how members walk towards them."""

__all__ = ["PROTOCOL"]

#: The protocol as configurations call it (``group.protocol``), and brokers the type of its groups.
PROTOCOL = "streams"
