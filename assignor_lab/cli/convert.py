"""``assignor convert``: the same group as the brokers would see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from assignor_lab.cli.options import JsonWritten, check_json, keep_inputs, print_written
from assignor_lab.cli.text import note
from assignor_lab.scenarios import (
    DocumentFormatError,
    group_document,
    read_scenarios,
    scenario_from_document,
    write_lines,
)

__all__ = ["register"]

Scenarios = Annotated[
    str,
    typer.Option("--scenarios", metavar="FILE", help="File of Streams scenarios, plain or gzip; - is standard input."),
]
Out = Annotated[
    str,
    typer.Option(
        "--out", metavar="FILE", help="Where to, compressed if the name ends in .gz; - is the standard output."
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command()
    def convert(scenarios: Scenarios, out: Out = "-", json: JsonWritten = False) -> None:
        """Turn Streams scenarios into what the brokers' protocol (KIP-1071) knows of the same groups.

        The result is a file of kind streams-group for group assignors. What had to be assumed is said on standard
        error, each sentence once.
        """
        check_json(out, as_json=json)
        keep_inputs(out, [scenarios])
        said: list[str] = []
        written = write_lines(out, _converted(scenarios, said))
        print_written(out, written, as_json=json, assumptions=said)


def _converted(scenarios: str, said: list[str]) -> Iterator[dict[str, Any]]:
    for scenario in read_scenarios(scenarios):
        converted = group_document(scenario)
        try:
            scenario_from_document(converted.document, scenario.place)
        except DocumentFormatError as error:
            raise DocumentFormatError(
                error.file, error.line, "", f"cannot be a group under the brokers' protocol: {error.reason}"
            ) from None
        for sentence in converted.assumptions:
            if sentence not in said:
                said.append(sentence)
                note(f"{scenario.place}: assumed: {sentence}")
        yield converted.document
