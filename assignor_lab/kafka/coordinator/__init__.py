"""The broker's side of Connect and Streams groups: joins, syncs, heartbeats (Kafka: ``GroupMetadataManager``)."""

from assignor_lab.kafka.coordinator.group import Coordinator, CoordinatorState
from assignor_lab.kafka.coordinator.requests import AddressedReply, JoinReply, JoinRequest, Refused, Synced, SyncRequest
from assignor_lab.kafka.coordinator.rounds import Round

__all__ = [
    "Coordinator",
    "CoordinatorState",
    "JoinRequest",
    "JoinReply",
    "Refused",
    "AddressedReply",
    "Round",
    "SyncRequest",
    "Synced",
]
