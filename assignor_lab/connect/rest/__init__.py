"""The REST interface of a Connect worker (Kafka: ``connect.runtime.rest``)."""

from __future__ import annotations

from assignor_lab.connect.rest.app import create_app
from assignor_lab.connect.rest.server import BindError, RestServer, listening_socket, serve
from assignor_lab.connect.rest.settings import RestSettings

__all__ = ["BindError", "RestServer", "RestSettings", "create_app", "listening_socket", "serve"]
