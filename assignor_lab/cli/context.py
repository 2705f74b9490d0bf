"""``assignor context``: names for clusters, with their addresses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, print_json, print_line, table

if TYPE_CHECKING:
    from assignor_lab.documents.contexts import Contexts

__all__ = ["register"]

Action = Annotated[
    Literal["list", "add", "use", "remove"],
    typer.Argument(metavar="[ACTION]", help="list, add NAME, use NAME (- uses none), or remove NAME."),
]
Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name of the cluster, such as prod.")]
Brokers = Annotated[
    str | None,
    typer.Option("--bootstrap-server", metavar="HOST:PORT", help="add: brokers to begin with, several with commas."),
]
ClientSettings = Annotated[
    Path | None,
    typer.Option("--command-config", metavar="FILE", help="add: settings of a Java client for TLS and SASL."),
]
ConnectUrls = Annotated[
    list[str] | None,
    typer.Option("--url", metavar="URL", help="add: REST interface of a Connect worker; repeatable."),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("context")(_context)


def _context(
    action: Action = "list",
    name: Name = None,
    bootstrap_server: Brokers = None,
    command_config: ClientSettings = None,
    url: ConnectUrls = None,
    json: Json = False,
) -> None:
    """Keep names for clusters: --context prod then stands for the addresses of prod.

    The names are in contexts.json in the user's configuration. No password is kept: FILE of --command-config has it.
    """
    import attrs

    from assignor_lab.documents.contexts import Contexts, place

    known = Contexts.read()
    has_addresses = bool(bootstrap_server or command_config or url)
    if has_addresses and action != "add":
        raise typer.BadParameter("addresses are for add", param_hint="ACTION")
    if (name is None) != (action == "list"):
        raise typer.BadParameter(f"{action} takes {'no' if action == 'list' else 'a'} name", param_hint="NAME")
    if name is not None:
        known = _changed(known, action, name, bootstrap_server, command_config, url or [])
        known.write()
    if json:
        shown = [{**attrs.asdict(each), "used": each.name == known.used} for each in known.known.values()]
        print_json({"file": str(place()), "contexts": shown})
    elif known.known:
        rows = [
            (
                "*" if each.name == known.used else "",
                each.name,
                each.bootstrap_server,
                each.command_config or "",
                " ".join(each.urls),
            )
            for each in known.known.values()
        ]
        console().print(table(("", "NAME", "BROKERS", "CLIENT SETTINGS", "CONNECT"), rows))
    else:
        print_line("no context yet: assignor context add NAME --bootstrap-server HOST:PORT")


def _changed(
    known: Contexts, action: str, name: str, servers: str | None, settings: Path | None, urls: list[str]
) -> Contexts:
    """The contexts after an action.

    Raises:
        ContextError: if the name is impossible or unknown, or a new context has no address.
        AssignorLabError: another subclass, if an address or the client's settings cannot be used.
    """
    import attrs

    from assignor_lab.documents.contexts import Context, ContextError, Contexts, check_name

    if action == "use":
        found = None if name == "-" else known.chosen(name)
        return attrs.evolve(known, used=None if found is None else found.name)
    if action == "remove":
        known.chosen(name)
        rest = {key: each for key, each in known.known.items() if key != name}
        return Contexts(rest, None if known.used == name else known.used)
    check_name(name)
    if not (servers or urls):
        raise ContextError("a context needs an address: --bootstrap-server HOST:PORT, --url URL, or both")
    if servers:
        from assignor_lab.capture.live.access import read_access

        read_access(servers, settings)
    if urls:
        from assignor_lab.connect.remote import parse_url

        for each in urls:
            parse_url(each)
    made = Context(name, servers or "", None if settings is None else str(settings.absolute()), tuple(urls))
    return attrs.evolve(known, known={**known.known, name: made}, used=known.used or name)
