"""A file of racks for recorded groups: records have the racks of clients, but not of brokers and partitions."""

from __future__ import annotations

import json

from assignor_lab.capture.recorded.broker_answers import ClusterAnswer

__all__ = ["racks_toml"]


def racks_toml(cluster: ClusterAnswer) -> str | None:
    """Racks of brokers, and the brokers of topics' partitions, in the format of ``--racks``.

    ``None`` if there is no topic, or a broker has no rack: Kafka's assignors use no racks then.
    """
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
