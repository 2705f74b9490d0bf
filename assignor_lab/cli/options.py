"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from assignment_api.plugins import ConfigSources, config_sources
from assignment_api.plugins.selection import HIDDEN, hides
from assignor_lab.cli.text import note, print_json

__all__ = [
    "ConfigFile",
    "Json",
    "JsonWritten",
    "Overrides",
    "RackFiles",
    "ScenariosOut",
    "check_json",
    "keep_inputs",
    "override_words",
    "print_written",
    "sources",
]

#: ``--config FILE``
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration to use, .toml or .properties: keys of assignment and settings of time.",
    ),
]

#: ``-c key=value``, any number of times
Overrides = Annotated[
    list[str] | None,
    typer.Option("-c", metavar="KEY=VALUE", help="One key of the configuration; replaces every other source."),
]

#: ``--racks FILE``, any number of times
RackFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--racks",
        metavar="FILE",
        help="Racks of clients and partitions, as TOML, or the .properties of an instance (docs, 'Racks in a file').",
    ),
]

#: ``--out FILE`` of commands that make scenarios
ScenariosOut = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Where the scenarios go, compressed if the name ends in .gz; - is the standard output.",
    ),
]

#: ``--json``
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

#: ``--json`` of commands whose result is a file of lines
JsonWritten = Annotated[bool, typer.Option("--json", help="Tell as JSON what was written to --out.")]


def check_json(out: str, *, as_json: bool) -> None:
    """Refuses ``--json`` where the lines themselves go to the standard output.

    Raises:
        typer.BadParameter: if both would be written there.
    """
    if as_json and out == "-":
        raise typer.BadParameter(
            "the lines, which are JSON, go to the standard output already: name a file with --out", param_hint="--json"
        )


def print_written(out: str, lines: int, *, as_json: bool, **details: Any) -> None:
    """With ``--json``, tells of the file that was written.

    Args:
        out: Its name.
        lines: Number of lines in it.
        as_json: Whether ``--json`` was given; nothing is printed otherwise.
        details: What else there is to tell.
    """
    if as_json:
        print_json({"out": out, "lines": lines, **details})


def keep_inputs(out: str, inputs: Iterable[str]) -> None:
    """Refuses to write results over a file that they are made from.

    Raises:
        typer.BadParameter: if ``out`` is one of ``inputs``, under whatever name.
    """
    target = Path(out)
    if out != "-" and target.is_file():
        for name in inputs:
            if name != "-" and Path(name).exists() and target.samefile(name):
                raise typer.BadParameter(
                    f"{name!r} is what is read, and would be replaced: choose another file", param_hint="--out"
                )


def sources(config_file: Path | None, overrides: list[str] | None) -> ConfigSources:
    """Reads the sources of configuration, and prints what the user should know of them on standard error.

    Raises:
        ConfigFileError, ConfigKeyError, ConfigValueError: as :func:`assignment_api.plugins.config_sources`.
    """
    read = config_sources(config_file, overrides or ())
    for sentence in read.effective().notes:
        note(sentence)
    return read


def override_words(given: ConfigSources, overrides: Iterable[str]) -> list[str]:
    """Items of ``-c`` as words of a command line that results may keep, without the values that they hide."""
    words = []
    effective = given.effective()
    for override in overrides:
        key = override.partition("=")[0].strip()
        is_hidden = key in effective and hides(effective, key, effective[key].value)
        words += ["-c", f"{key}={HIDDEN}" if is_hidden else override]
    return words
