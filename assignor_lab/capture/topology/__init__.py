"""One model of a group's topology, resolved from a description, the brokers' topics and the members' metadata."""

from __future__ import annotations

from assignor_lab.capture.topology.description import TopologyDescription, parse_topology
from assignor_lab.capture.topology.evidence import Brokers, Members, reuses_sources
from assignor_lab.capture.topology.group_topology import (
    GroupSubTopology,
    GroupTopology,
    Topic,
    TopicLookup,
    TopologyStore,
)
from assignor_lab.capture.topology.inference import inferred
from assignor_lab.capture.topology.reported_subtopologies import ReportedSubTopology, conflicts_with_reported
from assignor_lab.capture.topology.resolution import no_description_of, resolved, topology_of
from assignor_lab.capture.topology.task_documents import task_document, tasks_of_partitions

__all__ = [
    "Brokers",
    "TopologyDescription",
    "GroupTopology",
    "Members",
    "TopologyStore",
    "GroupSubTopology",
    "ReportedSubTopology",
    "Topic",
    "TopicLookup",
    "conflicts_with_reported",
    "inferred",
    "no_description_of",
    "parse_topology",
    "resolved",
    "reuses_sources",
    "task_document",
    "tasks_of_partitions",
    "topology_of",
]
