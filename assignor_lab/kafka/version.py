"""Kafka release that the Connect code emulates."""

from __future__ import annotations

__all__ = ["KAFKA_COMMIT", "KAFKA_VERSION"]

#: Version in the response to ``GET /``, so that clients see that release.
KAFKA_VERSION, KAFKA_COMMIT = "4.3.1", "26b251a451ce941d"
