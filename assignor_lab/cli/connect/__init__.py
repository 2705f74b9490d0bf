"""The commands under ``assignor connect``, one file each."""

from __future__ import annotations

from importlib import import_module

import typer

__all__ = ["register"]

#: Modules of this package that carry a command each, in the order of the help text.
COMMANDS = (
    "simulate",
    "benchmark",
    "plan_static",
    "fuzz",
    "replay",
    "serve",
    "workers",
    "status",
    "restart",
    "import_",
)


def register(app: typer.Typer) -> None:
    """Adds the commands to ``app``."""
    connect = typer.Typer(
        name="connect",
        help="Kafka Connect: simulate a group, plan static workers, run a cluster, look after one.",
        no_args_is_help=True,
    )
    for name in COMMANDS:
        import_module(f"assignor_lab.cli.connect.{name}").register(connect)
    app.add_typer(connect)
