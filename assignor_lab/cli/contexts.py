"""Options that name a cluster in place of its addresses, as in kcctl and kafkactl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["ContextName", "addressed", "context_names", "group_names", "urls_of"]

#: Seconds for the names of groups while a shell waits.
_COMPLETION_S = 2.0


def addressed(
    bootstrap_server: str | None, command_config: Path | None, context: str | None
) -> tuple[str, Path | None]:
    """Brokers and client settings: those of the options, else those of a context.

    Raises:
        ContextError: if neither has brokers.
    """
    if bootstrap_server is not None:
        return bootstrap_server, command_config

    from assignor_lab.documents.contexts import ContextError, Contexts

    found = Contexts.read().chosen(context)
    if found is None or not found.bootstrap_server:
        where = "no context is in use" if found is None else f"context {found.name} has no brokers"
        raise ContextError(f"give --bootstrap-server HOST:PORT, or --context NAME ({where})")
    own = None if found.command_config is None else Path(found.command_config)
    return found.bootstrap_server, command_config or own


def urls_of(urls: list[str] | None, context: str | None) -> list[str]:
    """REST interfaces: those of the options, else those of a context.

    Raises:
        ContextError: if neither has one.
    """
    if urls:
        return urls
    from assignor_lab.documents.contexts import ContextError, Contexts

    found = Contexts.read().chosen(context)
    if found is None or not found.urls:
        where = "no context is in use" if found is None else f"context {found.name} has no --url"
        raise ContextError(f"give --url URL, or --context NAME ({where})")
    return list(found.urls)


def context_names() -> list[str]:
    """Names of contexts for the shell; none if the file cannot be read."""
    try:
        from assignor_lab.documents.contexts import Contexts

        return list(Contexts.read().known)
    except Exception:  # noqa: BLE001 - a shell waits, and has no place for a message
        return []


def group_names(ctx: typer.Context) -> list[str]:
    """Names of groups for the shell; none if the brokers do not answer at once."""
    try:
        from assignor_lab.capture.live.access import read_access
        from assignor_lab.capture.live.cluster import connected
        from assignor_lab.capture.live.listing import list_groups

        given = ctx.params
        config = given.get("command_config")
        servers, settings = addressed(
            given.get("bootstrap_server"), None if config is None else Path(config), given.get("context")
        )
        with connected(read_access(servers, settings, _COMPLETION_S)) as cluster:
            return [each.id for each in list_groups(cluster)]
    except Exception:  # noqa: BLE001 - as above
        return []


ContextName = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="NAME",
        help="A cluster of `assignor context` in place of addresses; by default the one in use.",
        autocompletion=context_names,
    ),
]
