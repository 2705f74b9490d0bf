"""Messages of plain consumer groups, byte for byte as Kafka 4.3.1 writes them (``ConsumerProtocol``)."""

from assignor_lab.kafka.wire.consumer.messages import (
    LATEST_CONSUMER_VERSION,
    ConsumerAssignmentMessage,
    ConsumerSubscriptionMessage,
    decode_consumer_assignment,
    decode_consumer_subscription,
    encode_consumer_assignment,
    encode_consumer_subscription,
)
from assignor_lab.kafka.wire.consumer.user_data import (
    StickyUserData,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    encode_cooperative_user_data,
    encode_sticky_user_data,
)

__all__ = [
    "LATEST_CONSUMER_VERSION",
    "ConsumerAssignmentMessage",
    "ConsumerSubscriptionMessage",
    "StickyUserData",
    "decode_consumer_assignment",
    "decode_consumer_subscription",
    "decode_cooperative_user_data",
    "decode_sticky_user_data",
    "encode_consumer_assignment",
    "encode_consumer_subscription",
    "encode_cooperative_user_data",
    "encode_sticky_user_data",
]
