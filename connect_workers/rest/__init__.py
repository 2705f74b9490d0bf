"""The REST interface of a Connect worker (Kafka: ``connect.runtime.rest``)."""

from __future__ import annotations

from connect_workers.rest.app import create_app
from connect_workers.rest.settings import RestSettings

__all__ = ["RestSettings", "create_app"]
