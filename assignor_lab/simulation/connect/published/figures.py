"""Published figures, those of "Incremental Cooperative Rebalancing in Apache Kafka" (Confluent, 2019).

90 S3 sink connectors of 10 tasks on three workers, created and deleted one after the other; Apache Kafka 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["PUBLISHED_TIMES_S", "TABLE_1"]

#: Phase to (eager, incremental): seconds until the cluster was stable. "Around 14 and 12 minutes", "within a minute".
PUBLISHED_TIMES_S: Mapping[str, tuple[float, float]] = {"start": (840.0, 60.0), "stop": (720.0, 60.0)}

#: Row of Table 1 to (eager, incremental, improvement in percent as printed); MB/s.
TABLE_1: Mapping[str, tuple[float, float, int]] = {
    "aggregate": (252.68, 537.81, 113),
    "minimum": (0.23, 0.42, 83),
    "maximum": (0.41, 3.82, 833),
    "median": (0.27, 0.54, 101),
}
