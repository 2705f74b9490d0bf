"""The application: the commands put together, each imported when it is the one that is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module, metadata
from typing import Annotated

import typer

__all__ = ["add_commands", "build_app"]

#: Modules of this package that carry a command each, in the order of the help text, with the command's first sentence.
COMMANDS = {
    "groups": "List the Streams and Connect groups of a running Kafka: kind, state, members, tasks.",
    "capture": "Capture groups of a running Kafka as scenarios: classic Streams, the streams protocol, Connect.",
    "record": "Record a group's past from its coordinator's topic: every generation or epoch that is still there.",
    "history": "Show a group's past: each decision with its time, who had come and gone, why, and what moved.",
    "assign": "Let an assignor place the tasks of every scenario in a file, in order.",
    "score": "Score assignors on states from files, logs and generated families, or on Connect groups.",
    "bench": "Time the assign call alone, one line for each scenario of a file.",
    "import_log": "Turn each decision in the logs of a Kafka Streams group into a scenario.",
    "import_recording": (
        "Turn recorded answers of brokers and the leaders' logs into scenarios with everything that Kafka saw."
    ),
    "import_episode": (
        "Turn a recorded experiment with a Streams group into an episode: what was done, and what its tasks weigh."
    ),
    "derive_constants": ("Derive how long things take from the logs of a Streams group, or from recorded experiments."),
    "simulate": "Play what happens to a Streams group on a virtual clock: rebalances, restoring, who waits how long.",
    "replay": "Play a recorded group's history again with other assignors, beside what really happened.",
    "compare": "Compare two answers to a state or a whole history: who moves what, gains, loses, and the cost.",
    "explain": (
        "Tell why a task is where an assignor leaves it, and the smallest changes that would have led elsewhere."
    ),
    "ui": "Open states, episodes and reports in a browser: change them, and see the answers at once.",
    "new": "Lay out a distribution for an assignor: code, entry point, types, tests, CI.",
    "update": "Bring a distribution of 'assignor new' up to the newest template; changes of yours stay.",
    "conformance": "Hold an assignor to seven levels, by random histories that shrink to the smallest one.",
    "serve_assignor": "Serve a task assignor to the Java applications beside it, which ask by the shim of 'java-shim'.",
    "java_shim": "Copy the shim by which a Java application asks a Python assignor: one small jar.",
    "convert": "Turn Streams scenarios into what the brokers' protocol (KIP-1071) knows of the same groups.",
    "plugins": "List assignors, metrics and scenario families, and say why something cannot be used.",
    "config": "Show every effective value of the configuration and where it came from.",
    "wire": "Read and write the bytes that members and leader of a group exchange.",
    "connect": "Kafka Connect: simulate a group, plan static workers, run a cluster, look after one.",
}


def build_app(words: Sequence[str] | None = None) -> typer.Typer:
    """The application.

    Args:
        words: Words of the command line. Only the command that they name is imported; of the others there is no more
            than what the help text shows. ``None``: all are.
    """
    app = typer.Typer(
        name="assignor",
        help="Try, compare and score Kafka Streams and Kafka Connect assignors.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=True,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    add_commands(app, "assignor_lab.cli", COMMANDS, words)
    return app


def add_commands(app: typer.Typer, package: str, commands: Mapping[str, str], words: Sequence[str] | None) -> None:
    """Adds the commands of a package to ``app``.

    Args:
        app: The application, or a part of it.
        package: Where the modules are. Each has ``register(app)``; a package has ``register(app, words)``.
        commands: Module to the first sentence of its command, in the order of the help text.
        words: As for :func:`build_app`, from the name of the command on.
    """
    named = None if words is None else next((word for word in words if not word.startswith("-")), "")
    for module, sentence in commands.items():
        name = module.rstrip("_").replace("_", "-")
        if named is not None and named != name:
            app.command(name, help=sentence)(_not_called)
            continue
        found = import_module(f"{package}.{module}")
        if hasattr(found, "__path__"):
            found.register(app, None if words is None else words[words.index(name) + 1 :])
        else:
            found.register(app)


def _not_called() -> None:
    """Stands for a command that this command line does not call."""


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
