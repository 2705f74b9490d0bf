"""One model of a group's topology: a description, the brokers' topics and the members' metadata, resolved together."""

from __future__ import annotations

from assignor_lab.capture.topology.description import Description, parse_topology
from assignor_lab.capture.topology.evidence import Brokers, Members, reuses_sources
from assignor_lab.capture.topology.group_topology import GroupTopology, Store, SubTopology, Topic, TopicLookup
from assignor_lab.capture.topology.inference import inferred
from assignor_lab.capture.topology.resolution import no_description_of, resolved, topology_of
from assignor_lab.capture.topology.task_documents import task_document, tasks_of_partitions

__all__ = [
    "Brokers",
    "Description",
    "GroupTopology",
    "Members",
    "Store",
    "SubTopology",
    "Topic",
    "TopicLookup",
    "inferred",
    "no_description_of",
    "parse_topology",
    "resolved",
    "reuses_sources",
    "task_document",
    "tasks_of_partitions",
    "topology_of",
]
