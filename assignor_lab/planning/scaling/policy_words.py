"""Days under policies as rows of a table, sentences and a document."""

from __future__ import annotations

from collections.abc import Sequence

from assignor_lab.documents.wording import plural
from assignor_lab.planning.scaling.days import TraceCost

__all__ = ["POLICY_COLUMNS", "day_document", "day_rows", "days_sentence"]

POLICY_COLUMNS = (
    "policy", "lag-seconds", "instance-hours", "scalings", "rebalances", "task-seconds away", "largest lag",
    "lag at the end",
)  # fmt: skip


def day_rows(costs: Sequence[TraceCost]) -> list[tuple[str, ...]]:
    return [
        (
            each.policy.name,
            f"{each.lag_seconds:,.0f}",
            f"{each.instance_hours:.1f}",
            str(each.scalings),
            str(each.rebalances),
            f"{each.away_seconds:,.1f}",
            f"{each.worst_lag:,.0f}",
            f"{each.last_lag:,.0f}",
        )
        for each in costs
    ]


def days_sentence(cost: TraceCost, keda: TraceCost, unit: str) -> str:
    """A policy beside KEDA's default."""
    hours = f"{cost.instance_hours:.1f} instead of {keda.instance_hours:.1f} {unit}-hours"
    lag = f"{cost.lag_seconds:,.0f} instead of {keda.lag_seconds:,.0f} lag-seconds"
    scalings = f"{plural(cost.scalings, 'scaling')} instead of {keda.scalings}"
    return f"Beside KEDA's default on this trace: {lag}, {hours}, {scalings}."


def day_document(cost: TraceCost) -> dict[str, object]:
    policy = cost.policy
    return {
        "policy": policy.name,
        "counts": list(policy.counts),
        "lag_per_replica": policy.lag_per_replica,
        "down_seconds": policy.down_s,
        "up_seconds": policy.up_s,
        "lag_seconds": round(cost.lag_seconds, 3),
        "instance_hours": round(cost.instance_hours, 3),
        "scalings": cost.scalings,
        "rebalances": cost.rebalances,
        "away_task_seconds": round(cost.away_seconds, 3),
        "worst_lag": round(cost.worst_lag, 3),
        "last_lag": round(cost.last_lag, 3),
        "hours_by_count": {str(count): round(lasted, 3) for count, lasted in cost.counts.items()},
    }
