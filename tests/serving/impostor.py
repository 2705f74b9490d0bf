"""A foreign process where the shim expects the Python side: it knows the token, and sends scripted bytes."""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assignor_lab.documents.frames import framed
from assignor_lab.serving.errors import PeerError
from assignor_lab.serving.handshake import greet
from assignor_lab.serving.link import DescriptorLink
from assignor_lab.serving.port_file import HOST

#: Handling of a connection after the handshake: from the request to the response's bytes.
Says = Callable[[dict[str, Any]], bytes]


def answering(line: Callable[[dict[str, Any]], Any]) -> Says:
    """Answers with a result line computed from the state."""
    return lambda question: framed({"answer": line(question["ask"])})


def row(state: dict[str, Any], assignment: Any = None, **more: Any) -> dict[str, Any]:
    """A result line; by default the first client has all tasks."""
    if assignment is None:
        clients = [client["process_id"] for client in state["clients"]]
        tasks = [task["id"] for task in state["tasks"]]
        assignment = {client: {"active": [], "standby": []} for client in clients}
        assignment[clients[0]]["active"] = tasks
    head = {"format": 1, "kind": "streams", "id": state["id"], "assignor": "impostor"}
    return {**head, "assignment": assignment, "followup": False, "threads": None, "error": None, **more}


class Impostor:
    """One listener for one test.

    Args:
        says: Its response; ``None``: it completes the handshake and sends nothing more.
        first: Bytes that it sends instead of a handshake; ``None``: a handshake.
        is_deaf: It accepts connections and ignores them.
        is_silent: It does not end its side of a connection after its response.
    """

    def __init__(
        self, says: Says | None = None, first: bytes | None = None, *, is_deaf: bool = False, is_silent: bool = False
    ) -> None:
        self._says, self._first = says, first
        self._is_deaf, self._is_silent = is_deaf, is_silent
        self._token = secrets.token_hex(8)
        self._listener = socket.create_server((HOST, 0))
        self._held: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def write_port_file(self, path: Path, token: str | None = None) -> None:
        said = {"format": 1, "port": self.port, "token": token or self._token, "pid": 1, "assignor": "impostor"}
        path.write_text(json.dumps(said))

    def close(self) -> None:
        # Otherwise a waiting thread keeps the port open.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._held:
            connection.close()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._held.append(connection)
            if not self._is_deaf:
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        link = DescriptorLink(connection.fileno(), connection.fileno())
        with contextlib.suppress(PeerError, OSError):
            if self._first is not None:
                connection.sendall(self._first)
            else:
                greet(link, self._token, "impostor")
                question = link.receive()
                if self._says is None:
                    return
                connection.sendall(self._says(question))
                if not self._is_silent:
                    connection.shutdown(socket.SHUT_WR)
                # The result of the connection.
                while link.receive() is not None:
                    pass
            connection.close()
