"""The server: connections on the loopback address, each in a thread, until it is told to stop."""

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
from assignor_lab.serving.link import Link
from assignor_lab.serving.port_file import HOST

__all__ = ["Server", "serve_pipes"]

#: Connections at a time whose clients have proved the token; further ones are closed at once.
MAX_CONNECTIONS = 64
#: Connections at a time before that proof; for a further one the oldest is closed.
MAX_STRANGERS = 64
#: Seconds that somebody who is connected may say nothing: a shim connects for each decision anew.
IDLE_SECONDS = 10.0
#: Seconds in which what is being answered has to end once the server is stopped.
STOP_SECONDS = 30.0
_MAX_COMPLAINTS = 20


class Server:
    """Serves one assignor.

    Args:
        decider: Who is asked.
        log: Where decisions are kept; ``None``: nowhere.
        assignor: Name of what is served.
        token: What clients have to know.
        on_problem: Takes what somebody did wrong, in a sentence, each once.
    """

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
        #: Connections whose clients have not proved the token, oldest first, and the number of the others.
        self._strangers: dict[socket.socket, None] = {}
        self._known = 0
        self._guard = threading.Lock()
        #: Port on the loopback address.
        self.port: int = self._listener.getsockname()[1]

    def run(self) -> None:
        """Serves until :meth:`stop`; what is being answered then is answered."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        poll.register(self._stopped, select.POLLIN)
        with self._listener:
            while all(descriptor != self._stopped for descriptor, _ in poll.poll()):
                try:
                    connection, _ = self._listener.accept()
                except OSError as error:
                    # It was gone again, or there are too many open files at the moment.
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
            link = Link(connection.fileno(), connection.fileno())
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
        """Closes the oldest connection without a proof where there are too many: a proof takes milliseconds."""
        with self._guard:
            self._strangers[connection] = None
            if len(self._strangers) <= MAX_STRANGERS:
                return
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            # Its thread ends and closes it.
            with contextlib.suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        self._complain(f"more than {MAX_STRANGERS} connections without a proof at a time: the oldest was closed")

    def _forget(self, connection: socket.socket) -> None:
        with self._guard:
            self._strangers.pop(connection, None)

    def _proved(self, connection: socket.socket) -> bool:
        """Counts a connection among the known ones; False if there are too many, or it was closed meanwhile."""
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
    """Serves one assignor to the process that started this one, until that closes its end.

    Args:
        source: Descriptor to read from.
        target: Descriptor to write to.
        decider: Who is asked.
        log: Where decisions are kept; ``None``: nowhere.
        assignor: Name of what is served.
        stopped: Descriptor that becomes readable when no further question is wanted.

    Raises:
        PeerError: if the other end breaks a rule.
    """
    link = Link(source, target)
    link.send({"hello": {"version": VERSION, "assignor": assignor}})
    Conversation(link, decider, log, None, stopped).hold()
