"""Lets the assignment strategies of librdkafka (confluent-kafka) answer requests, as the leader of a group.

librdkafka has no call for its strategies. So a consumer of each strategy joins a group of a small broker in this
process, which has no other members. The broker's JoinGroup response names the consumer as the leader of the requested
members, and SyncGroup has its answer. One JSON document per line on the standard input, one answer per line on the
standard output. The first line out names the library with its version.
"""

from __future__ import annotations

import base64
import json
import queue
import socketserver
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import confluent_kafka

STRATEGIES = ("range", "roundrobin", "cooperative-sticky")
_OWN_TOPIC = "of-the-driver"
_METADATA, _COMMIT, _OFFSETS, _COORDINATOR, _JOIN = 3, 8, 9, 10, 11
_HEARTBEAT, _LEAVE, _SYNC, _VERSIONS = 12, 13, 14, 18
#: Newest version of each request.
VERSIONS = {
    _METADATA: 4, _COMMIT: 2, _OFFSETS: 1, _COORDINATOR: 1, _JOIN: 5, _HEARTBEAT: 3, _LEAVE: 1, _SYNC: 3, _VERSIONS: 0,
}  # fmt: skip
_UNKNOWN_TOPIC, _REBALANCES, _UNSUPPORTED = 3, 27, 35
_PATIENCE_S = 10.0
_NO_PARTITIONS = struct.pack(">hii", 0, 0, -1)


class Reader:
    """Fields of a message."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def number(self, form: str) -> int:
        found: int = struct.unpack_from(f">{form}", self._data, self._place)[0]
        self._place += struct.calcsize(f">{form}")
        return found

    def taken(self, length: int) -> bytes:
        found = self._data[self._place : self._place + max(length, 0)]
        self._place += max(length, 0)
        return found

    def text(self) -> str:
        return self.taken(self.number("h")).decode()

    def bytes(self) -> bytes:
        return self.taken(self.number("i"))


def text(value: str | None) -> bytes:
    data = b"" if value is None else value.encode()
    return struct.pack(">h", -1 if value is None else len(data)) + data


def blob(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def listed(items: list[bytes]) -> bytes:
    return struct.pack(">i", len(items)) + b"".join(items)


class Group:
    """A group that one consumer leads."""

    def __init__(self, strategy: str) -> None:
        self.strategy = strategy
        self.requests: queue.Queue[Mapping[str, Any]] = queue.Queue()
        self.answers: queue.Queue[tuple[Mapping[str, Any] | None, Mapping[str, Any]]] = queue.Queue()
        self.present: Mapping[str, Any] | None = None
        self.generation = 0

    def joined(self) -> bytes:
        """The members of the next request; blocks until it is there."""
        if self.present is not None:
            self.answers.put((self.present, {"error": "no assignment"}))
            self.present = None
        self.present = self.requests.get()
        self.generation += 1
        members = self.present["members"]
        leader = members[0]["id"]
        rows = [
            text(each["id"]) + text(each["instance_id"]) + blob(base64.b64decode(each["metadata"])) for each in members
        ]
        head = struct.pack(">ihi", 0, 0, self.generation)
        return head + text(self.strategy) + text(leader) + text(leader) + listed(rows)

    def heard(self) -> bytes:
        """A rebalance begins after each answer: its request may come later."""
        return struct.pack(">ih", 0, _REBALANCES if self.present is None else 0)

    def synced(self, body: Reader) -> bytes:
        """Takes the leader's assignments. Its own share in the response is empty."""
        body.number("i"), body.text(), body.text()
        held = {body.text(): assignment(Reader(body.bytes())) for _ in range(body.number("i"))}
        request, self.present = self.present, None
        self.answers.put((request, {"members": held}))
        return struct.pack(">ih", 0, 0) + blob(_NO_PARTITIONS)


def assignment(body: Reader) -> dict[str, list[int]]:
    body.number("h")
    return {body.text(): [body.number("i") for _ in range(body.number("i"))] for _ in range(body.number("i"))}


class Broker(socketserver.ThreadingTCPServer):
    """A broker with these groups, and the topics of their present requests."""

    daemon_threads = True

    def __init__(self, groups: Mapping[str, Group]) -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.groups = groups
        self.partitions: dict[str, int] = {}


class Connection(socketserver.StreamRequestHandler):
    """Answers the requests of one connection in their order."""

    server: Broker

    def handle(self) -> None:
        while len(size := self.rfile.read(4)) == 4:
            body = Reader(self.rfile.read(struct.unpack(">i", size)[0]))
            key, version, correlation = body.number("h"), body.number("h"), body.number("i")
            body.text()
            self.wfile.write(blob(struct.pack(">i", correlation) + self.answer(key, version, body)))

    def answer(self, key: int, version: int, body: Reader) -> bytes:
        if key == _VERSIONS:
            known = [struct.pack(">hhh", each, 0, newest) for each, newest in VERSIONS.items()]
            return struct.pack(">h", _UNSUPPORTED if version else 0) + listed(known)
        answers: Mapping[int, Callable[[Reader], bytes]] = {
            _METADATA: self.metadata,
            _COORDINATOR: lambda _: struct.pack(">ih", 0, 0) + text(None) + self.address(),
            _JOIN: lambda each: self.server.groups[each.text()].joined(),
            _SYNC: lambda each: self.server.groups[each.text()].synced(each),
            _HEARTBEAT: lambda each: self.server.groups[each.text()].heard(),
            _LEAVE: lambda _: struct.pack(">ih", 0, 0),
        }
        return answers[key](body)

    def address(self) -> bytes:
        return struct.pack(">i", 1) + text("127.0.0.1") + struct.pack(">i", self.server.server_address[1])

    def metadata(self, body: Reader) -> bytes:
        count = body.number("i")
        names = [body.text() for _ in range(count)] if count >= 0 else [*self.server.partitions]
        topics = []
        for name in names:
            number = 1 if name == _OWN_TOPIC else self.server.partitions.get(name, 0)
            rows = [struct.pack(">hiiiiii", 0, each, 1, 1, 1, 1, 1) for each in range(number)]
            topics.append(struct.pack(">h", 0 if number else _UNKNOWN_TOPIC) + text(name) + b"\0" + listed(rows))
        brokers = [self.address() + text(None)]
        return struct.pack(">i", 0) + listed(brokers) + text("driver") + struct.pack(">i", 1) + listed(topics)


def lead(strategy: str, port: int) -> None:
    """A consumer that polls until the process ends."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{port}",
            "group.id": strategy,
            "partition.assignment.strategy": strategy,
            "heartbeat.interval.ms": 1,
            "enable.auto.commit": False,
            "max.poll.interval.ms": 86_400_000,
            "session.timeout.ms": 3_600_000,
            "log_level": 0,
            "logger": None,
        }
    )
    consumer.subscribe([_OWN_TOPIC])
    while True:
        consumer.poll(0.05)


def answer_to(request: Mapping[str, Any], group: Group) -> Mapping[str, Any]:
    """The answer to a request; late ones to earlier requests are left out."""
    answered = None
    while answered is not request:
        try:
            answered, answer = group.answers.get(timeout=_PATIENCE_S)
        except queue.Empty:
            return {"error": f"no answer in {_PATIENCE_S:.0f} s"}
    return answer


def main() -> None:
    groups = {strategy: Group(strategy) for strategy in STRATEGIES}
    broker = Broker(groups)
    threading.Thread(target=broker.serve_forever, daemon=True).start()
    for strategy in STRATEGIES:
        threading.Thread(target=lead, args=(strategy, broker.server_address[1]), daemon=True).start()
    version = confluent_kafka.libversion()[0]
    print(json.dumps({"libraries": {"librdkafka": {"version": version, "strategies": STRATEGIES}}}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        group = groups[request["strategy"]]
        broker.partitions = request["partitions"]
        group.requests.put(request)
        print(json.dumps(answer_to(request, group)), flush=True)


if __name__ == "__main__":
    main()
