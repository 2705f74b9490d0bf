"""The protocols that a Connect group can speak."""

from __future__ import annotations

import enum

from assignment_api.connect.errors import ConnectConfigError

__all__ = ["CONNECT_PROTOCOL", "ConnectProtocol"]

#: Kafka's key.
CONNECT_PROTOCOL = "connect.protocol"


class ConnectProtocol(enum.Enum):
    """A value of ``connect.protocol``, and what members negotiate. Kafka: ``ConnectProtocolCompatibility``.

    The value is the configuration's word; the oldest comes first. ``STATIC`` is KIP-987's and not in any release.
    """

    EAGER = "eager"
    COMPATIBLE = "compatible"
    SESSIONED = "sessioned"
    STATIC = "static"

    @property
    def wire_name(self) -> str:
        """The name that members offer to the coordinator."""
        return "default" if self is ConnectProtocol.EAGER else self.value

    @property
    def version(self) -> int:
        """The number at the head of subscriptions and assignments: 0 to 3."""
        return list(ConnectProtocol).index(self)

    @property
    def is_incremental(self) -> bool:
        """Whether members report what they own and keep it through a rebalance."""
        return self is not ConnectProtocol.EAGER

    def offered(self) -> tuple[ConnectProtocol, ...]:
        """What a worker so configured offers, the preferred one first (Kafka: ``ConnectProtocolCompatibility``)."""
        return tuple(reversed(list(ConnectProtocol)[: self.version + 1]))

    @classmethod
    def from_config(cls, value: object) -> ConnectProtocol:
        """Reads a value of ``connect.protocol``, in any case.

        Raises:
            ConnectConfigError: if it is none.
        """
        for protocol in cls:
            if isinstance(value, str) and value.lower() == protocol.value:
                return protocol
        raise ConnectConfigError(
            f"Invalid value {value!s:.80} for configuration {CONNECT_PROTOCOL}: Invalid Connect protocol "
            "compatibility: use one of " + ", ".join(protocol.value for protocol in cls)
        )
