"""Options of the commands that call a Connect cluster, and their requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.connect.remote import ConnectRest

__all__ = ["CaFile", "MaybeUrls", "Urls", "ask"]

T = TypeVar("T")

Urls = Annotated[
    list[str] | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="A worker's REST interface, such as http://connect-1:8083; may be repeated: the next one is used if "
        "one takes no connection. A user's name and password come from ASSIGNOR_CONNECT_USERNAME and "
        "ASSIGNOR_CONNECT_PASSWORD.",
    ),
]
MaybeUrls = Annotated[
    list[str] | None,
    typer.Option("--url", metavar="URL", help="A worker of a running cluster, as for `connect status`; repeatable."),
]
CaFile = Annotated[
    Path | None,
    typer.Option(
        "--ca-file", metavar="FILE", help="Certificates (PEM) of the authorities to believe, in place of the system's."
    ),
]

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def ask(
    urls: list[str],
    ca_file: Path | None,
    question: Callable[[ConnectRest], Awaitable[T]],
    timeout_s: float | None = None,
) -> T:
    """Answer of a cluster to a question.

    Raises:
        RemoteClusterError: as the question, or if the options are wrong.
    """
    import attrs

    from assignor_lab.connect.remote import ConnectRest, access_from, parse_url

    parsed = list(dict.fromkeys(parse_url(url) for url in urls))
    access = access_from(ca_file)
    if timeout_s is not None:
        access = attrs.evolve(access, request_timeout_s=min(timeout_s, access.request_timeout_s))
    if access.credentials is not None:
        for url in parsed:
            if url.scheme == "http" and url.host not in _LOOPBACK:
                note(f"warning: {url} is used without TLS: the password crosses the network unencrypted")

    async def answer() -> T:
        async with ConnectRest(parsed, access) as rest:
            return await question(rest)

    return asyncio.run(answer())
