"""The commands under ``assignor connect``, one file each."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from assignor_lab.cli.app import add_commands

__all__ = ["register"]

#: Modules of this package that carry a command each, in the order of the help text, with the command's first sentence.
COMMANDS = {
    "simulate": "Play what happens to a Connect group on a virtual clock, with a log to follow and a timeline.",
    "benchmark": "Replay the published benchmark, 14 minutes against one, with every figure beside ours.",
    "plan_static": "Choose static.connectors and static.tasks for each worker (KIP-987), from weights and sizes.",
    "fuzz": "Play random episodes, and check that none breaks a rule of safety.",
    "replay": (
        "Give every rebalance that a worker led to our assignor, and compare the answer with what the worker sent."
    ),
    "serve": "Run Connect workers of this project, with Connect's REST interface.",
    "status": "Show who runs what on a Connect cluster, and point out what is not as it should be.",
    "restart": "Restart a connector, and wait for what comes back; with --dry-run, only say what would restart.",
    "import_": "Turn a running Connect cluster, or recordings of one, into histories that `assign` and `score` take.",
    "workers": "Workers of a running `connect serve`.",
}


def register(app: typer.Typer, words: Sequence[str] | None) -> None:
    """Adds the commands to ``app``; ``words`` as for :func:`assignor_lab.cli.app.build_app`, after ``connect``."""
    connect = typer.Typer(
        name="connect",
        help="Kafka Connect: simulate a group, plan static workers, run a cluster, look after one.",
        no_args_is_help=True,
    )
    add_commands(connect, __name__, COMMANDS, words)
    app.add_typer(connect)
