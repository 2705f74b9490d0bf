"""Errors of a message of Connect's protocol; Kafka has one exception for all of them."""

from __future__ import annotations

from assignor_lab.kafka.wire.errors import WireError

__all__ = ["ConnectSchemaError", "InconsistentProtocolsError", "UnsupportedConnectVersionError"]


class ConnectSchemaError(WireError):
    """Bytes do not hold the expected field, or a field's value has no bytes. Kafka: ``SchemaException``."""

    java_type = "SchemaException"


class UnsupportedConnectVersionError(ConnectSchemaError):
    """A version cannot be read (below 0) or written (none of 0 to 3). Kafka: ``SchemaException``."""


class InconsistentProtocolsError(WireError):
    """Members of a group have no protocol in common. Kafka: ``InconsistentGroupProtocolException``."""

    java_type = "InconsistentGroupProtocolException"
