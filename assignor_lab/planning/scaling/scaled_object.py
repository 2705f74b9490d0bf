"""A policy as a KEDA ``ScaledObject``, and as a table for a Horizontal Pod Autoscaler."""

from __future__ import annotations

import json
from collections.abc import Sequence

from assignor_lab.planning.scaling.policies import ScalingPolicy

__all__ = ["HPA_COLUMNS", "hpa_rows", "scaled_object"]

HPA_COLUMNS = ("lag of the group", "replicas")


def scaled_object(policy: ScalingPolicy, group: str, unit: str) -> str:
    """The manifest; ``REPLACE-ME`` stands for what the lab does not know.

    The formula returns the count, which the target 1 of the type ``AverageValue`` hands to the autoscaler as it is.
    ``lagThreshold`` bounds the reported lag: partitions times threshold.
    """
    name = json.dumps(group)
    least, most = policy.counts[0], policy.counts[-1]
    lines = [
        "apiVersion: keda.sh/v1alpha1",
        "kind: ScaledObject",
        "metadata:",
        f"  name: {_kubernetes_name(group)}",
        "spec:",
        "  scaleTargetRef:",
        f"    name: REPLACE-ME  # the Deployment or StatefulSet of the {unit}s",
        "  pollingInterval: 30",
        f"  minReplicaCount: {least}",
        f"  maxReplicaCount: {most}",
    ]
    if not policy.is_constant:
        lines += [
            "  advanced:",
            "    scalingModifiers:",
            f"      formula: {json.dumps(_formula(policy))}",
            '      target: "1"',
            "      metricType: AverageValue",
            "    horizontalPodAutoscalerConfig:",
            "      behavior:",
            "        scaleUp:",
            f"          stabilizationWindowSeconds: {policy.up_s}",
            "          policies:",
            "            - type: Pods",
            f"              value: {most - least}",
            "              periodSeconds: 15",
            "        scaleDown:",
            f"          stabilizationWindowSeconds: {policy.down_s}",
        ]
    lines += [
        "  triggers:",
        "    - type: kafka",
        "      name: lag",
        "      metadata:",
        "        bootstrapServers: REPLACE-ME:9092",
        f"        consumerGroup: {name}",
        f'        lagThreshold: "{max(1, round(policy.lag_per_replica))}"',
    ]
    return "\n".join(lines) + "\n"


def _formula(policy: ScalingPolicy) -> str:
    """From the largest count down: ``lag > 900 ? 6 : lag > 600 ? 4 : 2``."""
    parts = [
        f"lag > {policy.lag_per_replica * before:g} ? {count} : "
        for before, count in zip(policy.counts, policy.counts[1:], strict=False)
    ]
    return f"{''.join(reversed(parts))}{policy.counts[0]}"


def _kubernetes_name(group: str) -> str:
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in group.lower())
    return plain.strip("-")[:63].strip("-") or "group"


def hpa_rows(policy: ScalingPolicy) -> Sequence[tuple[str, str]]:
    """The lag of the group from which each count is wanted."""
    if policy.is_constant:
        return [("any", str(policy.counts[0]))]
    bounds = [0.0, *(policy.lag_per_replica * count for count in policy.counts[:-1])]
    rows = []
    for place, count in enumerate(policy.counts):
        above = f"more than {bounds[place]:,.0f}" if place else "0"
        until = f" to {bounds[place + 1]:,.0f}" if place + 1 < len(bounds) else ""
        rows.append((above + until, str(count)))
    return rows
