"""A file of racks for recorded groups: records lack the racks of brokers and partitions."""

from __future__ import annotations

import json

from assignor_lab.capture.recorded.broker_answers import ClusterAnswer

__all__ = ["racks_toml"]


def racks_toml(cluster: ClusterAnswer) -> str | None:
    """In the format of ``--racks``; ``None`` without topics or with an unknown rack: Kafka uses none then."""
    if not cluster.topics or not cluster.racks or not all(cluster.racks.values()):
        return None
    lines = ["format = 1", "", "[brokers]"]
    lines += [f"{broker} = {json.dumps(rack)}" for broker, rack in sorted(cluster.racks.items())]
    lines += ["", "[topics]"]
    for topic in sorted(cluster.topics):
        partitions = cluster.topics[topic]
        if sorted(partitions) == list(range(len(partitions))) and all(partitions.values()):
            lines.append(f"{json.dumps(topic)} = {json.dumps([list(partitions[at]) for at in sorted(partitions)])}")
    return "\n".join(lines) + "\n"
