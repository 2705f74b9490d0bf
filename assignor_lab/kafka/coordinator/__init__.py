"""The broker's side of Connect and Streams groups: joins, syncs, heartbeats (Kafka: ``GroupMetadataManager``)."""

from assignor_lab.kafka.coordinator.group import Coordinator, GroupState
from assignor_lab.kafka.coordinator.requests import Joined, JoinRequest, Refused, Reply, Synced, SyncRequest
from assignor_lab.kafka.coordinator.rounds import Round

__all__ = ["Coordinator", "GroupState", "JoinRequest", "Joined", "Refused", "Reply", "Round", "SyncRequest", "Synced"]
