"""A server with scripted responses, on a loopback port."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import Any

import attrs


@attrs.define
class Reply:
    """A response: ``body`` is JSON, or raw bytes."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = attrs.field(factory=dict)
    slow: float = 0.0

    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return b"" if self.body is None else json.dumps(self.body).encode()


@attrs.define
class Seen:
    method: str
    path: str
    headers: dict[str, str]


Answer = Callable[[str, str], Reply]


@attrs.define
class Scripted:
    url: str
    seen: list[Seen] = attrs.field(factory=list)


@contextmanager
def scripted(answer: Answer, tls: SSLContext | None = None) -> Iterator[Scripted]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            server.seen.append(Seen(self.command, self.path, dict(self.headers)))
            reply = answer(self.command, self.path)
            data = reply.data()
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(data)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                if not reply.slow:
                    self.wfile.write(data)
                    return
                for byte in data:
                    self.wfile.write(bytes((byte,)))
                    time.sleep(reply.slow)
            except OSError:
                self.close_connection = True

        do_POST = do_GET  # noqa: N815 - the server looks for this name

        def log_message(self, *arguments: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Some tests need a client that leaves early."""

    listener = Quiet(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    listener.block_on_close = False
    if tls is not None:
        listener.socket = tls.wrap_socket(listener.socket, server_side=True)
    server = Scripted(f"{'http' if tls is None else 'https'}://127.0.0.1:{listener.server_port}")
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()


def cluster(
    connectors: dict[str, Any], extra: Callable[[str, str], Reply | None] = lambda method, path: None
) -> Answer:
    def answer(method: str, path: str) -> Reply:
        special = extra(method, path)
        if special is not None:
            return special
        if path == "/":
            return Reply(body={"version": "4.3.1", "commit": "c", "kafka_cluster_id": "k"})
        if path == "/connectors":
            return Reply(body=list(connectors))
        if path.startswith("/connectors?expand=status"):
            return Reply(body={name: each for name, each in connectors.items() if "status" in each})
        for name, each in connectors.items():
            if path == f"/connectors/{name}" and "info" in each:
                return Reply(body=each["info"])
            if path == f"/connectors/{name}/status" and "status" in each:
                return Reply(body=each["status"])
        return Reply(404, {"error_code": 404, "message": "No status found for connector x"})

    return answer


def connector(name: str, states: dict[int | None, tuple[str, str]], tasks: int | None = None, trace: str = "") -> Any:
    """Connect's status of a connector: ``states`` are those of the instance (``None``) and the tasks, with workers."""

    def instance(state: str, worker: str) -> dict[str, str]:
        return {"state": state, "worker_id": worker, **({"trace": trace} if state == "FAILED" else {})}

    count = len(states) - 1 if tasks is None else tasks
    return {
        "status": {
            "name": name,
            "connector": instance(*states[None]),
            "tasks": [{"id": number, **instance(*told)} for number, told in states.items() if number is not None],
            "type": "sink",
        },
        "info": {
            "name": name,
            "config": {"password": "in-the-config"},
            "tasks": [{"connector": name, "task": number} for number in range(count)],
            "type": "sink",
        },
    }
