"""The server: one request at a time for each group, a clean end, and no answer to invalid clients."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.documents.frames import framed
from assignor_lab.scenarios import Scenario
from assignor_lab.serving import handshake, server
from assignor_lab.serving.decision_log import DecisionLog
from assignor_lab.serving.link import DescriptorLink
from tests.connect.real_kafka import until
from tests.serving.conftest import TOKEN, Toy, line_of, question
from tests.serving.log_files import decisions, states

Toys = Callable[..., Toy]


class Slow:
    """Answers on permission."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.may_answer = threading.Event()

    def __call__(self, scenario: Scenario) -> dict[str, Any]:
        self.asked.release()
        assert self.may_answer.wait(20)
        return line_of(scenario)


def test_a_question_is_answered(toys: Toys) -> None:
    with toys().client() as link:
        link.send(question())
        assert link.receive()["answer"]["assignment"] == {
            "00000000-0000-0000-0000-000000000001": {"active": ["0_0"], "standby": []}
        }


def test_several_groups_are_answered_side_by_side(toys: Toys) -> None:
    slow = Slow()
    toy = toys(slow)
    with toy.client() as first, toy.client() as second:
        first.send(question("shop"))
        second.send(question("bank"))
        assert slow.asked.acquire(timeout=20)
        assert slow.asked.acquire(timeout=20)
        slow.may_answer.set()
        assert first.receive()["answer"]["id"] == second.receive()["answer"]["id"] == "shop-1"


def test_a_group_has_one_question_at_a_time(toys: Toys) -> None:
    slow = Slow()
    toy = toys(slow)
    with toy.client() as first, toy.client() as second:
        first.send(question("shop"))
        assert slow.asked.acquire(timeout=20)
        second.send(question("shop", deadline_ms=50))
        refused = second.receive()["refused"]
        assert refused == {"why": "busy", "message": "an earlier question of this group is still being answered"}
        slow.may_answer.set()
        assert "answer" in first.receive()


def test_more_groups_than_may_be_are_told_so(toys: Toys) -> None:
    slow = Slow()
    toy = toys(slow, parallel=1)
    with toy.client() as first, toy.client() as second:
        first.send(question("shop"))
        assert slow.asked.acquire(timeout=20)
        second.send(question("bank", deadline_ms=50))
        assert "--parallel" in second.receive()["refused"]["message"]
        slow.may_answer.set()
        assert "answer" in first.receive()


def test_who_was_busy_is_asked_again_afterwards(toys: Toys) -> None:
    toy = toys(parallel=1)
    for number in range(3):
        with toy.client() as link:
            link.send(question(identity=f"shop-{number}"))
            assert link.receive()["answer"]["id"] == f"shop-{number}"


def test_a_running_question_is_answered_before_the_end(toys: Toys, log: DecisionLog, tmp_path: Path) -> None:
    slow = Slow()
    toy = toys(slow)
    with toy.client() as link:
        link.send(question())
        assert slow.asked.acquire(timeout=20)
        toy.server.stop()
        slow.may_answer.set()
        assert "answer" in link.receive()
        link.send({"decided": {"id": "shop-1", "by": "assignor"}})
        toy.thread.join(20)
        assert not toy.thread.is_alive()
    with pytest.raises(OSError, match="refused"):
        toy.connection()
    assert [each["by"] for each in decisions(tmp_path / "log")] == ["assignor"]


def test_an_end_does_not_wait_for_who_says_nothing(toys: Toys) -> None:
    toy = toys()
    with toy.client():
        toy.stop()


@pytest.mark.parametrize("token", ["", "guessed"])
def test_a_wrong_token_is_refused_and_told_once(toys: Toys, token: str) -> None:
    toy = toys()
    for _ in range(2):
        with toy.connection() as connection:
            connection.sendall(framed({"hello": {"version": 1, "nonce": "1" * 32}}))
            connection.sendall(framed({"proof": handshake.proof(token, "client", "1" * 32, "0" * 32)}))
            while connection.recv(1_000):
                pass
    assert toy.said == ["a connection was closed: a client does not know the token"]


@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, framed("hello"), framed([])])
def test_garbage_is_answered_by_the_end_of_the_connection(toys: Toys, sent: bytes) -> None:
    toy = toys()
    with toy.connection() as connection:
        connection.sendall(sent)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1_000) == b""
    with toy.client() as link:
        link.send(question())
        assert "answer" in link.receive()


def test_a_connection_that_says_nothing_is_closed(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "HANDSHAKE_SECONDS", 0.05)
    with toys().connection() as connection:
        assert connection.recv(1_000) == b""


def test_an_idle_client_is_put_out(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.05)
    with toys().client() as link:
        assert link.receive() is None


def test_too_many_connections_are_closed_at_once(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 1)
    toy = toys()
    with toy.client() as first:
        # An answer shows that the server counts the first client.
        first.send(question())
        assert "answer" in first.receive()
        with toy.client() as second:
            assert second.receive() is None
        first.send(question())
        assert "answer" in first.receive()


def test_silent_connections_leave_room_for_clients_with_the_token(toys: Toys) -> None:
    toy = toys()
    with contextlib.ExitStack() as silent:
        for _ in range(2 * server.MAX_STRANGERS):
            silent.enter_context(toy.connection())
        begun = time.monotonic()
        with toy.client() as link:
            link.send(question())
            assert "answer" in link.receive()
        # After this time the server drops silent clients.
        assert time.monotonic() - begun < handshake.HANDSHAKE_SECONDS


def test_the_assignor_is_named_only_after_the_clients_proof(toys: Toys) -> None:
    with toys().connection() as connection:
        link = DescriptorLink(connection.fileno(), connection.fileno())
        link.send({"hello": {"version": 1, "nonce": "1" * 32, "welcome": True}})
        hello = link.receive()["hello"]
        assert set(hello) == {"version", "nonce", "proof"}
        link.send({"proof": handshake.proof(TOKEN, "client", "1" * 32, hello["nonce"])})
        assert link.receive() == {"welcome": {"assignor": "toy"}}


def test_a_shim_of_an_earlier_version_gets_no_welcome(toys: Toys) -> None:
    with toys().connection() as connection:
        link = DescriptorLink(connection.fileno(), connection.fileno())
        link.send({"hello": {"version": 1, "nonce": "1" * 32}})
        nonce = link.receive()["hello"]["nonce"]
        link.send({"proof": handshake.proof(TOKEN, "client", "1" * 32, nonce)})
        link.send(question())
        assert "answer" in link.receive()


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({}, "none of ask, decided and missed"),
        ([], "no JSON object"),
        ({"ask": {}, "group": 1, "deadline_ms": 1}, "no group"),
        ({"ask": {}, "group": "shop"}, "no deadline_ms"),
        ({"ask": {}, "group": "shop", "deadline_ms": True}, "no deadline_ms"),
        ({"ask": {}, "group": "shop", "deadline_ms": 10**9}, "no deadline_ms"),
        ({"decided": []}, "a decision is no JSON object"),
        ({"missed": []}, "a missed decision has no group"),
        ({"missed": {"group": "shop", "decided": {}, "ask": {}}}, "a missed decision has no state"),
    ],
)
def test_who_breaks_the_rules_is_put_out(toys: Toys, sent: Any, why: str) -> None:
    toy = toys()
    with toy.client() as link:
        link.send(sent)
        assert link.receive() is None
    assert why in toy.said[0]


def test_a_state_that_is_none_is_refused_with_its_place(toys: Toys) -> None:
    asked = question()
    asked["ask"]["tasks"][0]["id"] = "zero"
    with toys().client() as link:
        link.send(asked)
        refused = link.receive()["refused"]
        assert refused["why"] == "state"
        assert "tasks[0].id" in refused["message"]
        # The connection is still usable.
        link.send(question())
        assert "answer" in link.receive()


def test_a_client_that_goes_before_the_answer_harms_nobody(toys: Toys, log: DecisionLog, tmp_path: Path) -> None:
    slow = Slow()
    toy = toys(slow)
    with toy.client() as link:
        link.send(question())
        assert slow.asked.acquire(timeout=20)
    slow.may_answer.set()
    with toy.client() as link:
        link.send(question(identity="shop-2"))
        assert link.receive()["answer"]["id"] == "shop-2"
    toy.stop()
    log.close()
    assert [each["id"] for each in states(tmp_path / "log")] == ["shop-1", "shop-2"]


def test_what_was_missed_is_told_with_the_next_answer(toys: Toys, tmp_path: Path) -> None:
    missed = {**question(identity="shop-0"), "decided": {"by": "sticky", "cause": "CONNECT"}}
    with toys().client() as link:
        link.send(question())
        assert "answer" in link.receive()
        link.send({"missed": missed})
        link.send({"decided": {"by": "assignor"}})
    until(lambda: len(decisions(tmp_path / "log")) == 2, "two decisions")
    assert [each["cause"] for each in decisions(tmp_path / "log")] == ["CONNECT", None]
