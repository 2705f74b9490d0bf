"""The release of Kafka whose Connect this behaves like."""

from __future__ import annotations

__all__ = ["KAFKA_COMMIT", "KAFKA_VERSION"]

#: What ``GET /`` says, so that clients take it for that release.
KAFKA_VERSION, KAFKA_COMMIT = "4.3.1", "26b251a451ce941d"
