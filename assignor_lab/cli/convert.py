"""``assignor convert``: the same group in the view of the brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from assignor_lab.cli.options import JsonWritten, LinesOut, ScenarioFile, check_json, keep_inputs, print_written
from assignor_lab.cli.text import note

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("convert")(_convert)


def _convert(scenarios: ScenarioFile, out: LinesOut = "-", json: JsonWritten = False) -> None:
    """Turn Streams scenarios into scenarios of the same groups under the brokers' protocol (KIP-1071).

    The result is a file of kind streams-group for group assignors. Standard error has each assumption once.
    """
    from assignor_lab.scenarios import write_lines

    check_json(out, as_json=json)
    keep_inputs(out, [scenarios])
    notes: list[str] = []
    written = write_lines(out, _converted(scenarios, notes))
    print_written(out, written, as_json=json, assumptions=notes)


def _converted(scenarios: str, notes: list[str]) -> Iterator[dict[str, Any]]:
    from assignor_lab.scenarios import DocumentFormatError, group_document, read_scenarios, scenario_from_document

    for scenario in read_scenarios(scenarios):
        converted = group_document(scenario)
        try:
            scenario_from_document(converted.document, scenario.place)
        except DocumentFormatError as error:
            raise DocumentFormatError(
                error.file, error.line, "", f"cannot be a group under the brokers' protocol: {error.reason}"
            ) from None
        for sentence in converted.assumptions:
            if sentence not in notes:
                notes.append(sentence)
                note(f"{scenario.place}: assumed: {sentence}")
        yield converted.document
