"""``assignor connect``: the commands for Kafka Connect alone."""

from __future__ import annotations

from importlib import import_module

import typer

__all__ = ["register"]

#: Modules of this package that carry a command each, in the order of the help text.
COMMANDS = ("connect_replay",)


def register(app: typer.Typer) -> None:
    """Adds the commands to ``app``."""
    connect = typer.Typer(name="connect", help="Look into groups of Kafka Connect workers.", no_args_is_help=True)
    # A group of one command would become that command.
    connect.callback()(_root)
    for name in COMMANDS:
        import_module(f"assignor_lab.cli.{name}").register(connect)
    app.add_typer(connect)


def _root() -> None:
    """Look into groups of Kafka Connect workers."""
