"""Puts the commands together."""

from __future__ import annotations

from importlib import import_module, metadata

import typer

__all__ = ["build_app"]

#: Modules of this package that carry a command each, in the order of the help text.
COMMANDS = ("assign", "score", "import_log", "plugins", "config")


def build_app() -> typer.Typer:
    """The application with all its commands."""
    app = typer.Typer(
        name="assignor",
        help="Try, compare and score Kafka Streams and Kafka Connect assignors.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
    )

    @app.callback(invoke_without_command=False)
    def root(
        version: bool = typer.Option(False, "--version", help="Print the version and leave.", callback=_print_version),
    ) -> None:
        del version

    for name in COMMANDS:
        import_module(f"assignor_lab.cli.{name}").register(app)
    return app


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if wanted:
        typer.echo(f"assignor-lab {metadata.version('assignor-lab')}")
        raise typer.Exit
