"""``assignor clients``: assignment strategies of Kafka's client libraries beside Java's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.options import Drivers, Json, Seed, sources
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignment_api.consumer import ConsumerPartitionAssignor
    from assignment_api.plugins import Registry
    from assignor_lab.clients.leader import ClientLibrary
    from assignor_lab.clients.survey import StrategySurvey

__all__ = ["register"]

Clients = Annotated[
    list[str] | None, typer.Option("--client", metavar="NAME", help="A library, such as kafka-python (default: all).")
]
Strategies = Annotated[
    list[str] | None, typer.Option("--strategy", metavar="NAME", help="A strategy, such as range (default: all).")
]
Count = Annotated[int, typer.Option("--count", metavar="N", min=1, help="Number of drawn groups.")]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="Write the smallest group of each finding into this folder.")
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("clients")(_survey_clients)


def _survey_clients(
    client: Clients = None,
    strategy: Strategies = None,
    driver: Drivers = None,
    count: Count = 2_000,
    seed: Seed = 0,
    out: Out = None,
    json: Json = False,
) -> None:
    """Lead many small groups by the strategies of client libraries, and by Java's of the same name.

    A difference is no fault. A finding is a promise that the library breaks and Java keeps, with its smallest group.
    """
    from assignment_api.plugins import ConfigKeyError
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.clients.sketches import drawn_sketch
    from assignor_lab.clients.survey import surveyed
    from assignor_lab.clients.words import survey_document

    registry = found_plugins(sources(None, None).effective()).registry
    sketches = [drawn_sketch(seed, number) for number in range(count)]
    with ExitStack() as stack:
        libraries = list(_libraries(client, driver or (), stack))
        surveys = [
            surveyed(library, name, _java(registry, name), sketches)
            for library in libraries
            for name in library.strategies
            if strategy is None or name in strategy
        ]
    if not surveys:
        raise ConfigKeyError(
            f"no library here has these strategies; at hand: {', '.join(each.name for each in libraries) or 'none'}"
        )
    files = [] if out is None else list(_written(out, surveys))
    if json:
        print_json([survey_document(survey) for survey in surveys])
        return
    _show(surveys)
    for file in files:
        print_line(file)


def _libraries(wanted: list[str] | None, drivers: Iterable[str], stack: ExitStack) -> Iterator[ClientLibrary]:
    from assignor_lab.clients.driver import LibraryDriver
    from assignor_lab.clients.python_libraries import PYTHON_LIBRARIES

    for name, load in PYTHON_LIBRARIES.items():
        if wanted is None or name in wanted:
            try:
                yield load()
            except ModuleNotFoundError:
                note(f"{name} is not installed: pip install 'assignor-lab[clients]'")
    for command in drivers:
        for library in stack.enter_context(LibraryDriver(command)).libraries:
            if wanted is None or library.name in wanted:
                yield library


def _java(registry: Registry, strategy: str) -> ConsumerPartitionAssignor:
    from assignment_api.consumer import ConsumerPartitionAssignor

    name = f"consumer_{strategy}".replace("-", "_")
    assignor = registry.partition_assignor("consumer-assignor", name).plugin.factory()
    assert isinstance(assignor, ConsumerPartitionAssignor)
    return assignor


def _written(folder: Path, surveys: list[StrategySurvey]) -> Iterator[str]:
    from assignor_lab.clients.words import finding_name
    from assignor_lab.scenarios import write_lines

    folder.mkdir(parents=True, exist_ok=True)
    for survey in surveys:
        for finding in survey.findings:
            name = finding_name(survey, finding)
            path = folder / f"{name}.jsonl"
            write_lines(path, [finding.smallest.document(survey.strategy, finding.reporting, name)])
            yield str(path)


def _show(surveys: list[StrategySurvey]) -> None:
    from assignor_lab.clients.promises import PROMISES
    from assignor_lab.clients.words import answer_sentences, group_sentences

    rows = []
    for survey in surveys:
        found = ", ".join(f"{finding.promise} ({finding.groups})" for finding in survey.findings)
        named = f"{survey.library} {survey.version}"
        rows.append((named, survey.strategy, survey.groups, survey.differing, survey.unstable, found))
    console().print(table(["library", "strategy", "groups", "other answers", "unstable", "broken promises"], rows))
    for survey in surveys:
        for finding in survey.findings:
            print_line()
            print_sentence(f"{survey.library}, {survey.strategy}, {finding.promise}: {PROMISES[finding.promise]}")
            for sentence in group_sentences(finding.smallest):
                print_sentence(sentence, indent=2)
            for sentence in answer_sentences(survey.library, finding):
                print_sentence(sentence, indent=2)
