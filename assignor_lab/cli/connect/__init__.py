"""The commands under ``assignor connect``, one file each."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from assignor_lab.cli.app import add_commands, begins_with_command, grouped

__all__ = ["GROUPS", "register"]

#: Group of the help text to the modules of its commands, with their summaries. Those of live workers are found by name:
#: the lab does not import their package.
GROUPS = {
    "Look after a cluster": {
        "status": "Show workers, connectors and tasks, and irregularities.",
        "restart": "Restart a connector and wait until it is back.",
        "import_": "Turn a cluster or its recordings into histories.",
    },
    "Understand and compare": {
        "replay": "Decide the rebalances in workers' logs again.",
        "simulate": "Play an episode of a Connect group on a virtual clock.",
        "benchmark": "Play the published comparison of eager and incremental.",
        "plan_static": "Choose static jobs for each worker (KIP-987).",
        "fuzz": "Play random episodes against the rules of safety.",
    },
    "Run workers": {
        "connect_workers.commands.serve": "Run Connect workers of this project.",
        "connect_workers.commands.workers": "Add, stop, kill and roll workers of `connect serve`.",
    },
}

#: Module of each command to its summary, in the order of the help text.
COMMANDS = {module: summary for commands in GROUPS.values() for module, summary in commands.items()}


def register(app: typer.Typer, words: Sequence[str] | None) -> None:
    """Adds the commands to ``app``; ``words`` as for :func:`assignor_lab.cli.app.build_app`, after ``connect``."""
    connect = typer.Typer(
        name="connect",
        cls=grouped(GROUPS),
        help="Look after Connect clusters, simulate and run them.",
        no_args_is_help=True,
        add_help_option=not begins_with_command(words, COMMANDS),
    )
    add_commands(connect, __name__, COMMANDS, words)
    app.add_typer(connect)
