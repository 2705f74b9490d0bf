"""Both ends prove that they know the token, without sending it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from assignor_lab.documents.frames import framed
from assignor_lab.serving.errors import PeerError
from assignor_lab.serving.handshake import greet, greeted, proof
from assignor_lab.serving.link import DescriptorLink

Ends = tuple[socket.socket, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    near, far = socket.socketpair()
    with near, far:
        yield near, far


def link_of(end: socket.socket) -> DescriptorLink:
    return DescriptorLink(end.fileno(), end.fileno())


def test_who_knows_the_token_learns_what_is_served(ends: Ends) -> None:
    server = threading.Thread(target=greet, args=(link_of(ends[1]), "secret", "toy"))
    server.start()
    assert greeted(link_of(ends[0]), "secret") == "toy"
    server.join()


def test_a_server_without_the_token_is_told_nothing_of_it(ends: Ends) -> None:
    """A stale port file: the port belongs to a foreign process now."""
    stranger = link_of(ends[1])
    stranger.send({"hello": {"version": 1, "assignor": "toy", "nonce": "0" * 32, "proof": "0" * 64}})
    with pytest.raises(PeerError, match="does not know the token"):
        greeted(link_of(ends[0]), "secret")
    ends[0].close()
    hello = stranger.receive()
    assert set(hello) == {"hello"}
    assert "secret" not in json.dumps(hello)
    assert stranger.receive() is None


def test_a_client_without_the_token_is_refused(ends: Ends) -> None:
    client = link_of(ends[0])
    client.send({"hello": {"version": 1, "nonce": "1" * 32}})
    client.send({"proof": proof("guessed", "client", "1" * 32, "0" * 32)})
    with pytest.raises(PeerError, match="a client does not know the token"):
        greet(link_of(ends[1]), "secret", "toy")


def test_what_the_server_says_is_no_proof_of_a_client(ends: Ends) -> None:
    assert proof("secret", "client", "a", "b") != proof("secret", "server", "a", "b")


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ({}, "no hello"),
        ([], "no hello"),
        ({"hello": 1}, "no hello"),
        ({"hello": {"version": 2, "nonce": "1" * 32}}, "version 2 of the protocol"),
        ({"hello": {"nonce": "1" * 32}}, "version None"),
        ({"hello": {"version": 1}}, "no nonce"),
        ({"hello": {"version": 1, "nonce": "xyz"}}, "no nonce"),
    ],
)
def test_who_says_something_else_is_refused(ends: Ends, sent: Any, why: str) -> None:
    ends[0].sendall(framed(sent))
    with pytest.raises(PeerError, match=why):
        greet(link_of(ends[1]), "secret", "toy")


def test_a_stranger_may_send_little(ends: Ends) -> None:
    ends[0].sendall(framed({"hello": "x" * 2_000}))
    with pytest.raises(PeerError, match="1 to 1,024 are read"):
        greet(link_of(ends[1]), "secret", "toy")
