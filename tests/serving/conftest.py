"""A server within the test's own process, with any responder."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.scenarios import Scenario
from assignor_lab.serving.deciding import Decider, warm_up_state
from assignor_lab.serving.decision_log import DecisionLog
from assignor_lab.serving.handshake import greeted
from assignor_lab.serving.link import DescriptorLink
from assignor_lab.serving.port_file import HOST
from assignor_lab.serving.server import Server

TOKEN = "known"
Answer = Callable[[Scenario], dict[str, Any]]


def line_of(scenario: Scenario) -> dict[str, Any]:
    held = {str(process): {"active": ["0_0"], "standby": []} for process in scenario.process_ids}
    head = {"format": 1, "kind": "streams", "id": scenario.id, "assignor": "toy"}
    return {**head, "assignment": held, "followup": False, "threads": None, "error": None, "followups": {}}


class Toy:
    """A server of a toy assignor, and its clients."""

    def __init__(self, answer: Answer, log: DecisionLog | None, parallel: int) -> None:
        self.said: list[str] = []
        self.server = Server(Decider(lambda: answer, parallel), log, "toy", TOKEN, self.said.append)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()

    def connection(self) -> socket.socket:
        return socket.create_connection((HOST, self.server.port), timeout=20)

    @contextmanager
    def client(self, token: str = TOKEN) -> Iterator[DescriptorLink]:
        with self.connection() as connection:
            link = DescriptorLink(connection.fileno(), connection.fileno())
            assert greeted(link, token) == "toy"
            yield link

    def stop(self) -> None:
        self.server.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


def question(group: str = "shop", identity: str = "shop-1", deadline_ms: int = 2_000) -> dict[str, Any]:
    state = {**warm_up_state().document, "id": identity, "source": {"time_ms": 7, "group": group}}
    return {"ask": state, "group": group, "deadline_ms": deadline_ms}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[DecisionLog]:
    made = DecisionLog(tmp_path / "log", 2**20, pytest.fail)
    yield made
    made.leave()


@pytest.fixture
def toys(log: DecisionLog) -> Iterator[Callable[..., Toy]]:
    made: list[Toy] = []

    def make(answer: Answer = line_of, parallel: int = 2) -> Toy:
        made.append(Toy(answer, log, parallel))
        return made[-1]

    yield make
    for toy in made:
        toy.stop()
