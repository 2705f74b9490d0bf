"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assignor_lab.cli.text import note, print_json

if TYPE_CHECKING:
    from assignment_api.plugins import ConfigSources

__all__ = [
    "AssignorName",
    "Client",
    "ConfigFile",
    "Drivers",
    "EpisodeDocument",
    "EpisodeNames",
    "Json",
    "JsonWritten",
    "LinesOut",
    "Overrides",
    "Processes",
    "RackFiles",
    "Reads",
    "Release",
    "Releases",
    "ScenarioFile",
    "ScenariosOut",
    "Seed",
    "Variants",
    "check_json",
    "keep_inputs",
    "override_words",
    "print_written",
    "sources",
    "with_prices",
]

Client = Annotated[
    str | None,
    typer.Option(
        "--client",
        metavar="LIBRARY",
        help="Decide as the leader of a group with this client library does: kafka-python, aiokafka, librdkafka, "
        "franz-go, sarama or kafkajs.",
    ),
]

Drivers = Annotated[
    list[str] | None,
    typer.Option("--driver", metavar="COMMAND", help="A program with the strategies of libraries in other languages."),
]

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration to use, .toml or .properties: keys of assignment and settings of time.",
    ),
]

Overrides = Annotated[
    list[str] | None,
    typer.Option("-c", metavar="KEY=VALUE", help="One key of the configuration; replaces every other source."),
]

RackFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--racks",
        metavar="FILE",
        help="Racks of clients and partitions, as TOML, or the .properties of an instance (docs, 'Give the racks in a "
        "file').",
    ),
]

ScenarioFile = Annotated[
    str, typer.Argument(metavar="FILE", help="File of scenarios, plain or gzip; - is the standard input.")
]

AssignorName = Annotated[
    str | None,
    typer.Option(
        "--assignor",
        metavar="NAME",
        help="Name of an assignor (see 'assignor plugins'), distribution:name, module:attribute, java:CLASS@JARS or a "
        "Kafka class; also utils.default_standby, utils.identity, utils.validate, threads. Default: the assignor of "
        "the configuration.",
    ),
]

Release = Annotated[
    str | None,
    typer.Option(
        "--release",
        metavar="RELEASE",
        help="Release of Kafka, such as 4.4; by default that of the source.",
    ),
]

Releases = Annotated[
    str | None,
    typer.Option(
        "--release",
        metavar="RELEASES",
        help="Release of Kafka, such as 4.4, or several: 4.3,4.4.",
    ),
]

Variants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="NAME=ASSIGNOR,KEY=VALUE",
        help="An assignor with its own settings, separated by commas: two=high_availability,num.standby.replicas=2.",
    ),
]

Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of every draw.")]

Reads = Annotated[
    Literal["leader", "nearest"],
    typer.Option(
        "--reads-from",
        metavar="REPLICA",
        help="The replica that clients read: leader, or nearest. For bytes across zones.",
    ),
]

Processes = Annotated[
    int, typer.Option("--processes", metavar="P", min=0, help="Number of processes; 0: one for each processor.")
]

EpisodeNames = Annotated[bool, typer.Option("--list", help="List the episodes that come with the command.")]

EpisodeDocument = Annotated[
    bool, typer.Option("--document", help="Print the episode as a file would hold it, and play nothing.")
]

LinesOut = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="FILE",
        help="File for the lines, compressed if the name ends in .gz; - is the standard output.",
    ),
]

ScenariosOut = Annotated[
    str,
    typer.Option(
        "--out",
        metavar="FILE",
        help="File for the scenarios, compressed if the name ends in .gz; - is the standard output.",
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

JsonWritten = Annotated[bool, typer.Option("--json", help="Print a JSON summary of the written file.")]


def check_json(out: str, *, as_json: bool) -> None:
    """Refuses ``--json`` if the lines themselves go to the standard output.

    Raises:
        typer.BadParameter: if both would be written there.
    """
    if as_json and out == "-":
        raise typer.BadParameter(
            "the lines, which are JSON, go to the standard output already: name a file with --out", param_hint="--json"
        )


def print_written(out: str, lines: int, *, as_json: bool, **details: Any) -> None:
    """With ``--json``, reports the written file."""
    if as_json:
        print_json({"out": out, "lines": lines, **details})


def keep_inputs(out: str, inputs: Iterable[str]) -> None:
    """Refuses to write results over one of their inputs.

    Raises:
        typer.BadParameter: if ``out`` is one of ``inputs``, under any name.
    """
    target = Path(out)
    if out != "-" and target.is_file():
        for name in inputs:
            if name != "-" and Path(name).exists() and target.samefile(name):
                raise typer.BadParameter(
                    f"{name!r} is an input and would be replaced: choose another file", param_hint="--out"
                )


def sources(config_file: Path | None, overrides: list[str] | None, release: str | None = None) -> ConfigSources:
    """Reads the sources of configuration, and prints notes for the user on standard error.

    Args:
        release: The value of ``--release``: short for ``-c kafka.release=...``.

    Raises:
        ConfigFileError, ConfigKeyError, ConfigValueError: as :func:`assignment_api.plugins.config_sources`.
        UnknownReleaseError: if there is no such release.
    """
    from assignment_api.plugins import config_sources
    from assignment_api.releases import RELEASE_KEY, release_named

    given = () if release is None else (f"{RELEASE_KEY}={release_named(release)}",)
    read = config_sources(config_file, (*given, *(overrides or ())))
    for sentence in read.effective().notes:
        note(sentence)
    return read


def with_prices(overrides: list[str], prices: Path | None) -> list[str]:
    """Items of ``-c`` with the prices in a file; a price in ``-c`` itself takes precedence.

    Raises:
        PriceError: if the file has another format.
    """
    if prices is None:
        return overrides
    from assignor_lab.groups.prices import price_overrides, read_prices

    return [*price_overrides(read_prices(prices)), *overrides]


def override_words(given: ConfigSources, overrides: Iterable[str]) -> list[str]:
    """Items of ``-c`` as words of a command line that results may keep, without the values that they hide."""
    from assignment_api.plugins.selection import HIDDEN, hides

    words = []
    effective = given.effective()
    for override in overrides:
        key = override.partition("=")[0].strip()
        is_hidden = key in effective and hides(effective, key, effective[key].value)
        words += ["-c", f"{key}={HIDDEN}" if is_hidden else override]
    return words
