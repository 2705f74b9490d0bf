"""The application: all commands, of which only the called one is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from assignor_lab.cli.own_version import own_version
from assignor_lab.cli.renamed import FORMER_COMMANDS, present_words

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter

__all__ = ["GROUPS", "add_commands", "begins_with_command", "build_app", "grouped"]

GROUPS = {
    "Look at a group": {
        "context": "Keep names for clusters, with their addresses.",
        "groups": "List the groups of a Kafka cluster.",
        "capture": "Save the present state of groups as scenarios.",
        "record": "Record a group's past from its coordinator's topic.",
        "import_": "Turn logs or recordings of a group into scenarios.",
        "history": "Show the decisions of a group's past, with reasons.",
        "sample": "Copy logs and states of a real group, to try commands.",
        "ui": "Open states, episodes and reports in a browser.",
    },
    "Understand and compare": {
        "explain": "Explain why an assignor placed a task where it is.",
        "compare": "Compare two answers to a state or a whole history.",
        "clients": "Compare strategies of client libraries with Java's.",
        "replay": "Play a group's past again with other assignors.",
        "simulate": "Play an episode of a group on a virtual clock.",
        "plan": "Predict the cost of a restart or another change.",
        "advise": "Choose the settings of a group by a race of many.",
        "check": "Report rebalances that are out of the ordinary.",
        "score": "Score assignors on states of real or generated groups.",
    },
    "Write an assignor": {
        "new": "Create a distribution for an assignor.",
        "update": "Update a distribution to the newest template.",
        "conformance": "Test an assignor at seven levels by random histories.",
        "assign": "Call an assignor for every scenario of a file.",
        "plugins": "List assignors, metrics and scenario families.",
        "config": "Show every effective value of the configuration.",
    },
    "Run in production": {
        "serve_assignor": "Serve a task assignor to local Java applications.",
        "java_shim": "Copy the jar that calls an assignor from Java.",
    },
    "Kafka Connect": {
        "connect": "Look after Connect clusters, simulate and run them.",
    },
    "Formats and tools": {
        "convert": "Turn Streams scenarios into streams-protocol ones.",
        "wire": "Read and write the bytes that a group exchanges.",
        "bench": "Time the assign call for each scenario of a file.",
        "derive_constants": "Derive durations from the logs of a Streams group.",
        "import_episode": "Turn a recorded experiment into an episode.",
    },
}

#: Module of each command to its summary, in the order of the help text.
COMMANDS = {module: summary for commands in GROUPS.values() for module, summary in commands.items()}


def grouped(
    groups: Mapping[str, Mapping[str, str]], present: Callable[[list[str]], list[str]] = list
) -> type[TyperGroup]:
    """The class of a command group with a heading in the help text for each of ``groups``."""
    width = max(len(_command_name(module)) for commands in groups.values() for module in commands)

    class GroupedCommands(TyperGroup):
        def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
            return super().parse_args(ctx, present(args))

        def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
            del ctx
            for heading, commands in groups.items():
                with formatter.section(heading):
                    formatter.write_dl([(_command_name(name).ljust(width), text) for name, text in commands.items()])

    return GroupedCommands


def build_app(words: Sequence[str] | None = None) -> typer.Typer:
    """The application.

    Args:
        words: Words of the command line. Only the command that they name is imported; the others have only their line
            of the help text. ``None``: all are imported.
    """
    has_options = not begins_with_command(words, COMMANDS)
    app = typer.Typer(
        name="assignor",
        cls=grouped(GROUPS, present_words),
        help="Try, compare and score Kafka Streams and Kafka Connect assignors.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=has_options,
        add_help_option=has_options,
        rich_markup_mode=None,
    )
    app.callback()(_root if has_options else _not_called)
    add_commands(app, "assignor_lab.cli", COMMANDS, words)
    return app


def begins_with_command(words: Sequence[str] | None, commands: Mapping[str, str]) -> bool:
    """True if no option is before the command: a group without options does not import pydantic by typer."""
    return bool(words and FORMER_COMMANDS.get(words[0], words[0]) in map(_command_name, commands))


def add_commands(app: typer.Typer, package: str, commands: Mapping[str, str], words: Sequence[str] | None) -> None:
    """Adds the commands of a package to ``app``.

    Args:
        package: Package of the modules. Each has ``register(app)``; a package has ``register(app, words)``.
        commands: Module to the summary of its command, in the order of the help text. A name with dots is a module
            outside of ``package``.
        words: As for :func:`build_app`, from the name of the command on.
    """
    named = None if words is None else next((word for word in words if not word.startswith("-")), "")
    named = None if named is None else FORMER_COMMANDS.get(named, named)
    for module, sentence in commands.items():
        name = _command_name(module)
        if named is not None and named != name:
            app.command(name, help=sentence)(_not_called)
            continue
        found = import_module(module if "." in module else f"{package}.{module}")
        if hasattr(found, "__path__"):
            found.register(app, None if words is None else words[words.index(name) + 1 :])
        else:
            found.register(app)


def _command_name(module: str) -> str:
    return module.rpartition(".")[2].rstrip("_").replace("_", "-")


def _not_called() -> None:
    """Stands for a command that this command line does not call."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assignor-lab {own_version()}")
        raise typer.Exit


def _root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_print_version)] = False,
) -> None:
    """Try, compare and score Kafka Streams and Kafka Connect assignors."""
    del version
