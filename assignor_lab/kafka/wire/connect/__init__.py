"""Messages of Kafka Connect's group protocol, byte for byte as Kafka 4.3.1 writes them; KIP-987's as proposed."""

from assignor_lab.kafka.wire.connect.assignment import (
    CONFIG_MISMATCH,
    LATEST_CONNECT_VERSION,
    NO_ERROR,
    AssignmentMessage,
    decode_connect_assignment,
    encode_connect_assignment,
)
from assignor_lab.kafka.wire.connect.documents import (
    check_connect_assignment,
    check_connect_subscription,
    connect_assignment_document,
    connect_assignment_of_document,
    connect_subscription_document,
    connect_subscription_of_document,
)
from assignor_lab.kafka.wire.connect.errors import (
    ConnectSchemaError,
    InconsistentProtocolsError,
    UnsupportedConnectVersionError,
)
from assignor_lab.kafka.wire.connect.negotiation import (
    PROTOCOL_TYPE,
    negotiated_protocol,
    offered_subscriptions,
    protocol_of_wire_name,
    selected_name,
)
from assignor_lab.kafka.wire.connect.subscription import (
    SubscriptionMessage,
    decode_connect_subscription,
    encode_connect_subscription,
)

__all__ = [
    "SubscriptionMessage",
    "decode_connect_subscription",
    "encode_connect_subscription",
    "AssignmentMessage",
    "decode_connect_assignment",
    "encode_connect_assignment",
    "CONFIG_MISMATCH",
    "LATEST_CONNECT_VERSION",
    "NO_ERROR",
    "check_connect_assignment",
    "check_connect_subscription",
    "connect_assignment_document",
    "connect_assignment_of_document",
    "connect_subscription_document",
    "connect_subscription_of_document",
    "PROTOCOL_TYPE",
    "negotiated_protocol",
    "offered_subscriptions",
    "protocol_of_wire_name",
    "selected_name",
    "ConnectSchemaError",
    "InconsistentProtocolsError",
    "UnsupportedConnectVersionError",
]
