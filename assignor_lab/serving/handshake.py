"""The handshake: both ends prove that they have the token, without sending it.

A port file may outlive its process, and another process may have its port by then; that process learns nothing of
the token. The server sends its assignor's name only after the client's proof, in a frame ``welcome`` that the
client's hello requests.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import Any

from assignor_lab.serving.errors import PeerError
from assignor_lab.serving.link import DescriptorLink

__all__ = ["HANDSHAKE_BYTES", "HANDSHAKE_SECONDS", "VERSION", "greet", "greeted", "proof"]

#: Version of the protocol; either end refuses another one.
VERSION = 1
#: Longest frame and longest time before the proof.
HANDSHAKE_BYTES = 1_024
HANDSHAKE_SECONDS = 2.0
_NONCE = re.compile(r"[0-9a-f]{32}\Z")


def proof(token: str, role: str, client_nonce: str, server_nonce: str) -> str:
    """The proof of having the token: HMAC-SHA256, in hex.

    Args:
        role: The sender: ``client`` or ``server``.
    """
    signed = f"assignor-lab {role} {client_nonce} {server_nonce}"
    return hmac.new(token.encode(), signed.encode(), "sha256").hexdigest()


def greet(link: DescriptorLink, token: str, assignor: str) -> None:
    """The server's part.

    Raises:
        PeerError: if the other end is no client of this version, or does not have the token.
    """
    nonce = secrets.token_hex(16)
    greeting = link.receive(HANDSHAKE_BYTES, HANDSHAKE_SECONDS)
    theirs = _nonce_in(greeting)
    mine = proof(token, "server", theirs, nonce)
    link.send({"hello": {"version": VERSION, "nonce": nonce, "proof": mine}}, HANDSHAKE_SECONDS)
    answer = link.receive(HANDSHAKE_BYTES, HANDSHAKE_SECONDS)
    given = answer.get("proof") if isinstance(answer, dict) else None
    if not isinstance(given, str) or not hmac.compare_digest(
        given.encode(), proof(token, "client", theirs, nonce).encode()
    ):
        raise PeerError("a client does not know the token")
    # Shims of earlier versions do not expect the frame.
    if greeting["hello"].get("welcome") is True:
        link.send({"welcome": {"assignor": assignor}}, HANDSHAKE_SECONDS)


def greeted(link: DescriptorLink, token: str) -> str:
    """The client's part, for tests and for a check of a port file's process.

    Raises:
        PeerError: if the other end is no server of this version, or does not have the token.
    """
    nonce = secrets.token_hex(16)
    link.send({"hello": {"version": VERSION, "nonce": nonce, "welcome": True}}, HANDSHAKE_SECONDS)
    answer = link.receive(HANDSHAKE_BYTES, HANDSHAKE_SECONDS)
    theirs = _nonce_in(answer)
    hello: dict[str, Any] = answer["hello"]
    expected = proof(token, "server", nonce, theirs)
    if not hmac.compare_digest(str(hello.get("proof")).encode(), expected.encode()):
        raise PeerError("the program at this port does not know the token")
    link.send({"proof": proof(token, "client", nonce, theirs)}, HANDSHAKE_SECONDS)
    answer = link.receive(HANDSHAKE_BYTES, HANDSHAKE_SECONDS)
    welcome = answer.get("welcome") if isinstance(answer, dict) else None
    if not isinstance(welcome, dict):
        raise PeerError("no welcome came")
    return str(welcome.get("assignor"))


def _nonce_in(document: Any) -> str:
    hello = document.get("hello") if isinstance(document, dict) else None
    if not isinstance(hello, dict):
        raise PeerError("no hello came")
    if hello.get("version") != VERSION:
        raise PeerError(f"version {str(hello.get('version'))[:20]} of the protocol is not spoken here, but {VERSION}")
    nonce = hello.get("nonce")
    if not isinstance(nonce, str) or _NONCE.match(nonce) is None:
        raise PeerError("no nonce came")
    return nonce
