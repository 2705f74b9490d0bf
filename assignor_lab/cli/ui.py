"""``assignor ui``: states, episodes and reports in a browser, to be changed and decided again."""

from __future__ import annotations

import asyncio
import secrets
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.isolation_options import Isolate, Trust, with_isolation
from assignor_lab.cli.options import ConfigFile, Overrides, RackFiles, override_words, sources
from assignor_lab.cli.past_options import Dates, Day, TimingsFile, Topology, WorkloadFile, Zone, given_racks, past_terms
from assignor_lab.cli.text import note, print_line

if TYPE_CHECKING:
    from assignor_lab.web.view_answers import ViewAnswers

__all__ = ["register"]

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATHS",
        help="Scenario files, logs, episodes, folders of 'record' or of 'score'.",
    ),
]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 takes a free one.")]
Browser = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser at once.")]

HOST = "127.0.0.1"


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("ui")(_serve_page)


def _serve_page(
    paths: Paths,
    port: Port = 0,
    open_: Browser = True,
    trust: Trust = None,
    isolate: Isolate = None,
    config: ConfigFile = None,
    c: Overrides = None,
    racks: RackFiles = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    workload: WorkloadFile = None,
    timings: TimingsFile = None,
) -> None:
    """Open states, episodes and reports in a browser: change them, and see the answers at once.

    On the loopback address alone. The printed address has a token that is valid once. Ctrl-C ends it.
    """
    import assignor_lab.report.html  # - report a missing extra before anything is read
    import assignor_lab.web.app  # noqa: F401
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.web.opened import opened
    from assignor_lab.web.view_answers import ViewAnswers

    given = sources(config, with_isolation(c, trust, isolate))
    plugins = found_plugins(given.effective())
    files = {"--topology": topology, "--timezone": timezone, "--workload": workload, "--timings": timings}
    files |= {"--dates": dates, "--day": day}
    around = [word for name, value in files.items() if value is not None for word in (name, str(value))]
    around += [word for file in racks or () for word in ("--racks", str(file))]
    words = [*([] if config is None else ["--config", str(config)]), *override_words(given, c or [])]
    terms = past_terms("independent", given, topology, timezone, workload, timings, dates, day)
    found = opened(paths, plugins.registry, given, note, terms, given_racks(racks))
    asking = ViewAnswers(found, plugins, given, words=words, terms=terms, around=around)
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve(asking, port, open_page=open_))
    finally:
        asking.close()


async def _serve(asking: ViewAnswers, port: int, *, open_page: bool) -> None:
    from assignor_lab.http.server import listening_socket, serve
    from assignor_lab.web.app import create_app

    token = secrets.token_urlsafe(24)
    listener = listening_socket(HOST, port)

    def show(new: str) -> None:
        note(f"the address was used already; a new one: http://{HOST}:{listener.getsockname()[1]}/?token={new}")

    async with serve(create_app(asking, token, show), listener) as server:
        address = f"{server.url}/?token={token}"
        print_line(address)
        if open_page:
            webbrowser.open(address)
        await server.stopped()
