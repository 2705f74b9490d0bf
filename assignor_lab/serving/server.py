"""The server: connections on the loopback address, each in a thread, until it is stopped."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Callable
from time import monotonic

from assignor_lab.serving.conversation import Conversation
from assignor_lab.serving.deciding import Decider
from assignor_lab.serving.decision_log import DecisionLog
from assignor_lab.serving.errors import PeerError
from assignor_lab.serving.handshake import VERSION, greet
from assignor_lab.serving.link import DescriptorLink
from assignor_lab.serving.port_file import HOST

__all__ = ["Server", "serve_pipes"]

#: Most connections with a proof of the token; further ones are closed at once.
MAX_CONNECTIONS = 64
#: Most connections before that proof; a further one closes the oldest.
MAX_STRANGERS = 64
#: Seconds of allowed silence: a shim opens a connection for each decision.
IDLE_SECONDS = 10.0
#: Seconds for answers in progress after a stop.
STOP_SECONDS = 30.0
_MAX_COMPLAINTS = 20


class Server:
    """Serves one assignor."""

    def __init__(
        self,
        decider: Decider,
        log: DecisionLog | None,
        assignor: str,
        token: str,
        on_problem: Callable[[str], None],
    ) -> None:
        self._decider, self._log = decider, log
        self._assignor, self._token = assignor, token
        self._on_problem = on_problem
        self._complaints: set[str] = set()
        self._listener = socket.create_server((HOST, 0))
        self._stopped, self._stop = os.pipe()
        self._threads: set[threading.Thread] = set()
        #: Connections without proof, oldest first, and the number of the others.
        self._strangers: dict[socket.socket, None] = {}
        self._known = 0
        self._guard = threading.Lock()
        self.port: int = self._listener.getsockname()[1]

    def run(self) -> None:
        """Serves until :meth:`stop`; answers in progress are finished."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._stopped, select.POLLIN)
        with self._listener:
            while all(descriptor != self._stopped for descriptor, _ in poll.poll()):
                try:
                    connection, _ = self._listener.accept()
                except OSError as error:
                    # The client has closed, or there are too many open files now.
                    self._complain(f"a connection was not accepted: {error.strerror}")
                    continue
                self._threads = {thread for thread in self._threads if thread.is_alive()}
                self._make_room_for(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.add(thread)
                thread.start()
        end = monotonic() + STOP_SECONDS
        for thread in self._threads:
            thread.join(max(end - monotonic(), 0))

    def stop(self) -> None:
        """Ends :meth:`run` in order; signal handlers may call it."""
        os.write(self._stop, b"\0")

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link = DescriptorLink(connection.fileno(), connection.fileno())
            try:
                greet(link, self._token, self._assignor)
            except PeerError as error:
                self._complain(f"a connection was closed: {error}")
                self._forget(connection)
                return
            if not self._proved(connection):
                return
            try:
                Conversation(link, self._decider, self._log, IDLE_SECONDS, self._stopped).hold()
            except PeerError as error:
                self._complain(f"a connection was closed: {error}")
            finally:
                with self._guard:
                    self._known -= 1

    def _make_room_for(self, connection: socket.socket) -> None:
        """Closes the oldest connection without proof if there are too many; a proof takes milliseconds."""
        with self._guard:
            self._strangers[connection] = None
            if len(self._strangers) <= MAX_STRANGERS:
                return
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            with contextlib.suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        self._complain(f"more than {MAX_STRANGERS} connections without a proof at a time: the oldest was closed")

    def _forget(self, connection: socket.socket) -> None:
        with self._guard:
            self._strangers.pop(connection, None)

    def _proved(self, connection: socket.socket) -> bool:
        """Counts a connection among the proved ones; False if there are too many, or it was closed meanwhile."""
        with self._guard:
            was_open = connection in self._strangers
            self._strangers.pop(connection, None)
            if was_open and self._known < MAX_CONNECTIONS:
                self._known += 1
                return True
        if was_open:
            self._complain(f"more than {MAX_CONNECTIONS} connections at a time: the last one was closed")
        return False

    def _complain(self, sentence: str) -> None:
        if sentence not in self._complaints and len(self._complaints) < _MAX_COMPLAINTS:
            self._complaints.add(sentence)
            self._on_problem(sentence)


def serve_pipes(
    source: int, target: int, decider: Decider, log: DecisionLog | None, assignor: str, stopped: int | None
) -> None:
    """Serves one assignor to this process's parent until the parent closes its end.

    Raises:
        PeerError: if the other end breaks the protocol.
    """
    link = DescriptorLink(source, target)
    link.send({"hello": {"version": VERSION, "assignor": assignor}})
    Conversation(link, decider, log, None, stopped).hold()
