"""Ids of topics as texts."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from uuid import UUID

__all__ = ["topic_id_text"]


def topic_id_text(value: UUID) -> str:
    """A topic id as Kafka prints it: URL-safe base64 without padding."""
    return urlsafe_b64encode(value.bytes).rstrip(b"=").decode("ascii")
