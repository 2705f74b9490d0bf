"""Messages of Kafka Streams' group protocol as bytes, byte for byte as Kafka 4.3.1 writes them."""

from assignor_lab.kafka.wire.assignment_info import (
    NO_REBALANCE,
    AssignmentInfo,
    Partition,
    decode_assignment,
    encode_assignment,
)
from assignor_lab.kafka.wire.documents import (
    assignment_document,
    assignment_of_document,
    subscription_document,
    subscription_of_document,
)
from assignor_lab.kafka.wire.errors import (
    CorruptMessageError,
    DuplicateTagError,
    InvalidFieldError,
    InvalidVersionError,
    MessageTooShortError,
    RefusedAssignmentError,
    UnencodableVersionError,
    WireError,
)
from assignor_lab.kafka.wire.lines import KINDS, WireKind, decode_lines, encode_lines
from assignor_lab.kafka.wire.subscription_info import (
    LATEST_SUPPORTED_VERSION,
    RUNNING_ACTIVE,
    STREAMS_ASSIGNOR,
    UNKNOWN_OFFSET_SUM,
    UNKNOWN_VERSION,
    SubscriptionInfo,
    decode_subscription,
    encode_subscription,
)

__all__ = [
    "SubscriptionInfo",
    "decode_subscription",
    "encode_subscription",
    "AssignmentInfo",
    "Partition",
    "decode_assignment",
    "encode_assignment",
    "LATEST_SUPPORTED_VERSION",
    "NO_REBALANCE",
    "RUNNING_ACTIVE",
    "STREAMS_ASSIGNOR",
    "UNKNOWN_OFFSET_SUM",
    "UNKNOWN_VERSION",
    "subscription_document",
    "subscription_of_document",
    "assignment_document",
    "assignment_of_document",
    "KINDS",
    "WireKind",
    "decode_lines",
    "encode_lines",
    "WireError",
    "MessageTooShortError",
    "InvalidFieldError",
    "InvalidVersionError",
    "UnencodableVersionError",
    "DuplicateTagError",
    "RefusedAssignmentError",
    "CorruptMessageError",
]
