"""Puts the commands together."""

from __future__ import annotations

from importlib import import_module, metadata
from typing import Annotated

import typer

__all__ = ["build_app"]

#: Modules of this package that carry a command each, in the order of the help text.
COMMANDS = (
    "assign",
    "score",
    "bench",
    "import_log",
    "import_recording",
    "convert",
    "wire",
    "connect",
    "plugins",
    "config",
)


def build_app() -> typer.Typer:
    """The application with all its commands."""
    app = typer.Typer(
        name="assignor",
        help="Try, compare and score Kafka Streams and Kafka Connect assignors.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=True,
        rich_markup_mode=None,
    )

    app.callback()(_root)
    for name in COMMANDS:
        import_module(f"assignor_lab.cli.{name}").register(app)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assignor-lab {metadata.version('assignor-lab')}")
        raise typer.Exit


def _root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_print_version)] = False,
) -> None:
    """Try, compare and score Kafka Streams and Kafka Connect assignors."""
    del version
