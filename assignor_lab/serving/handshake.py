"""The handshake: both ends prove that they know the token, and the token itself never travels.

A port file may outlive its process, and another process may have its port by then. It learns nothing of the token.
The server names its assignor only after the client's proof, in a frame ``welcome`` that the client's hello requests.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import Any

from assignor_lab.serving.errors import PeerError
from assignor_lab.serving.link import Link

__all__ = ["HANDSHAKE_BYTES", "HANDSHAKE_SECONDS", "VERSION", "greet", "greeted", "proof"]

#: Version of the protocol; another one is refused by either end.
VERSION = 1
#: What a stranger may send, and how long he may take.
HANDSHAKE_BYTES = 1_024
HANDSHAKE_SECONDS = 2.0
_NONCE = re.compile(r"[0-9a-f]{32}\Z")


def proof(token: str, role: str, client_nonce: str, server_nonce: str) -> str:
    """What only who knows the token can say: HMAC-SHA256, in hex.

    Args:
        token: The token.
        role: Who says it: ``client`` or ``server``.
        client_nonce: What the client drew.
        server_nonce: What the server drew.
    """
    said = f"assignor-lab {role} {client_nonce} {server_nonce}"
    return hmac.new(token.encode(), said.encode(), "sha256").hexdigest()


def greet(link: Link, token: str, assignor: str) -> None:
    """The server's part.

    Raises:
        PeerError: if the other end is no client of this version, or does not know the token.
    """
    nonce = secrets.token_hex(16)
    asked = link.receive(HANDSHAKE_BYTES, HANDSHAKE_SECONDS)
    theirs = _nonce_in(asked)
    mine = proof(token, "server", theirs, nonce)
    link.send({"hello": {"version": VERSION, "nonce": nonce, "proof": mine}}, HANDSHAKE_SECONDS)
    answer = link.receive(HANDSHAKE_BYTES, HANDSHAKE_SECONDS)
    given = answer.get("proof") if isinstance(answer, dict) else None
    if not isinstance(given, str) or not hmac.compare_digest(
        given.encode(), proof(token, "client", theirs, nonce).encode()
    ):
        raise PeerError("a client does not know the token")
    # Shims of earlier versions do not expect the frame.
    if asked["hello"].get("welcome") is True:
        link.send({"welcome": {"assignor": assignor}}, HANDSHAKE_SECONDS)


def greeted(link: Link, token: str) -> str:
    """The client's part, for tests and for who asks whether a port file's process is there.

    Returns:
        The assignor that is served.

    Raises:
        PeerError: if the other end is no server of this version, or does not know the token.
    """
    nonce = secrets.token_hex(16)
    link.send({"hello": {"version": VERSION, "nonce": nonce, "welcome": True}}, HANDSHAKE_SECONDS)
    answer = link.receive(HANDSHAKE_BYTES, HANDSHAKE_SECONDS)
    theirs = _nonce_in(answer)
    hello: dict[str, Any] = answer["hello"]
    expected = proof(token, "server", nonce, theirs)
    if not hmac.compare_digest(str(hello.get("proof")).encode(), expected.encode()):
        raise PeerError("what answers at this port does not know the token")
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
