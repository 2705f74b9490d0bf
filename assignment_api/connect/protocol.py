"""Protocols of Connect groups."""

from __future__ import annotations

import enum

from assignment_api.connect.errors import ConnectConfigError

__all__ = ["CONNECT_PROTOCOL", "ConnectProtocol"]

#: Kafka's key.
CONNECT_PROTOCOL = "connect.protocol"


class ConnectProtocol(enum.Enum):
    """A value of ``connect.protocol``, the oldest first. Kafka: ``ConnectProtocolCompatibility``.

    ``STATIC`` comes from KIP-987 and is in no release.
    """

    EAGER = "eager"
    COMPATIBLE = "compatible"
    SESSIONED = "sessioned"
    STATIC = "static"

    @property
    def wire_name(self) -> str:
        """Name offered to the coordinator."""
        return "default" if self is ConnectProtocol.EAGER else self.value

    @property
    def version(self) -> int:
        """Number at the head of subscriptions and assignments: 0 to 3."""
        return list(ConnectProtocol).index(self)

    @property
    def is_incremental(self) -> bool:
        """True if members keep their jobs through a rebalance."""
        return self is not ConnectProtocol.EAGER

    def offered(self) -> tuple[ConnectProtocol, ...]:
        """Protocols that a worker with this setting offers, preferred first."""
        return tuple(reversed(list(ConnectProtocol)[: self.version + 1]))

    @classmethod
    def from_config(cls, value: object) -> ConnectProtocol:
        """Read ``connect.protocol`` in any case.

        Raises:
            ConnectConfigError: if it is unknown.
        """
        for protocol in cls:
            if isinstance(value, str) and value.lower() == protocol.value:
                return protocol
        raise ConnectConfigError(
            f"Invalid value {value!s:.80} for configuration {CONNECT_PROTOCOL}: Invalid Connect protocol "
            "compatibility: use one of " + ", ".join(protocol.value for protocol in cls)
        )
