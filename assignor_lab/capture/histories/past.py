"""A group's past as recorded decisions. Every command, and scoring, reads it through this module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from os import fspath
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.histories.past_files import BESIDE, LOG, RECORDING, NamedFile, files_of, grouped, kind_of
from assignor_lab.capture.logs.open_dates import LogDates
from assignor_lab.capture.topology.evidence import reuses_sources
from assignor_lab.model.events import GroupEvent
from assignor_lab.scenarios import Place, Scenario, read_scenarios, scenario_from_document
from assignor_lab.scenarios.topology_provenance import noting_conflicts
from assignor_lab.scenarios.with_racks import RackFiller

__all__ = ["PastSurroundings", "ReadPast", "read_past", "scenarios_of", "scenarios_of_past"]


@attrs.frozen
class PastSurroundings:
    """Facts that a past lacks.

    Args:
        config: The lowest layer first.
        zone: Of logs without one; ``None``: UTC.
        optimization: ``topology.optimization``; ``None``: as the source has it.
        racks: Fills in the racks of ``--racks``.
        brokers_show_targets: True if brokers give their assignor the old targets, as before 4.4, in place of the
        members' tasks; ``None``: as recorded.
        dates: Facts about dates of logs that the logs leave open.
        latest_protocol: True if only the decisions under its latest protocol count for a group that has changed it.
        on_earlier: Receives the decisions that ``latest_protocol`` leaves out.
        on_event: Receives each event that a reader makes, with its group; ``None``: the source does not name the group.
    """

    config: Sequence[ConfigLayer] = ()
    topology: Path | None = None
    zone: tzinfo | None = None
    on_problem: Callable[[str], None] = lambda _: None
    optimization: str | None = None
    racks: RackFiller | None = None
    brokers_show_targets: bool | None = None
    dates: LogDates | None = None
    latest_protocol: bool = False
    on_event: Callable[[str | None, GroupEvent], None] = lambda _, __: None
    on_earlier: Callable[[Scenario], None] = lambda _: None

    def with_racks(self, scenario: Scenario) -> Scenario:
        return scenario if self.racks is None else self.racks.filled_scenario(scenario)


_NOTHING = PastSurroundings()


@attrs.frozen(eq=False)
class ReadPast:
    """The content of sources: scenarios, and the readers' events, each with its group or ``None``."""

    scenarios: tuple[Scenario, ...]
    events: tuple[tuple[str | None, GroupEvent], ...]


def read_past(sources: Sequence[str], around: PastSurroundings = _NOTHING) -> ReadPast:
    """Reads all scenarios of :func:`scenarios_of_past`, and their events."""
    events: list[tuple[str | None, GroupEvent]] = []
    collecting = attrs.evolve(around, on_event=lambda group, event: events.append((group, event)))
    return ReadPast(tuple(scenarios_of_past(sources, collecting)), tuple(events))


def scenarios_of_past(sources: Sequence[str], around: PastSurroundings = _NOTHING) -> Iterator[Scenario]:
    """The scenarios of sources: recordings and files in their order, logs together at the end.

    Logs of recorded groups complete the recorded decisions and add none of their own.

    Args:
        sources: Folders of ``assignor record``, files of decisions or episodes, logs, and folders of such files; ``-``
        is a file of decisions.
    """
    files = sorted((file for source in sources for file in files_of(source)), key=lambda file: kind_of(file) == LOG)
    for _, kind, together in grouped(files):
        yield from scenarios_of(kind, together, around)
    for sentence in () if around.racks is None else around.racks.unused():
        around.on_problem(sentence)


def scenarios_of(kind: str, files: Sequence[NamedFile], around: PastSurroundings) -> Iterator[Scenario]:
    """The scenarios of a unit of :func:`~.past_files.grouped`."""
    return map(around.with_racks, _read(kind, files, around))


def _read(kind: str, files: Sequence[NamedFile], around: PastSurroundings) -> Iterator[Scenario]:
    if kind == RECORDING:
        yield from _recorded(files, around)
    elif kind == LOG:
        yield from _logged(files, around)
    else:
        for file in files:
            yield from read_scenarios(fspath(file.path), name=file.name)


def _recorded(files: Sequence[NamedFile], around: PastSurroundings) -> Iterator[Scenario]:
    from assignor_lab.capture.histories.flight_recordings import recorded_decisions

    records, *others = files
    beside = {Path(each.name).name: Path(each.path) for each in others if Path(each.name).name in BESIDE}
    logs = [Path(each.path) for each in others if Path(each.name).name not in BESIDE]
    names = {str(records.path): records.name}

    def earlier(document: dict[str, Any]) -> None:
        for scenario in _named(iter((document,)), names, records.name):
            around.on_earlier(scenario)

    documents = recorded_decisions(
        Path(records.path),
        around.config,
        around.topology,
        around.on_problem,
        beside,
        logs,
        around.zone,
        None if around.racks is None else around.racks.racks,
        around.on_event,
        brokers_show_targets=around.brokers_show_targets,
        optimized=reuses_sources(around.optimization),
        latest_protocol=around.latest_protocol,
        on_earlier=earlier,
        dates=around.dates,
    )
    yield from _named(noting_conflicts(documents, around.on_problem), names, records.name)


def _logged(logs: Sequence[NamedFile], around: PastSurroundings) -> Iterator[Scenario]:
    from assignor_lab.capture.histories.connect_logs import with_connect
    from assignor_lab.capture.histories.logged_decisions import logged_decisions

    files = [fspath(log.path) for log in logs]
    documents = logged_decisions(
        files,
        config_layers=around.config,
        topology=around.topology,
        zone=around.zone,
        optimization=around.optimization,
        on_problem=lambda problem: around.on_problem(str(problem)),
        dates=around.dates,
        on_event=around.on_event,
    )
    documents = with_connect(
        documents,
        files,
        zone=around.zone,
        dates=around.dates,
        config=around.config,
        on_problem=around.on_problem,
        on_event=around.on_event,
    )
    yield from _named(noting_conflicts(documents, around.on_problem), {fspath(log.path): log.name for log in logs}, "-")


def _named(documents: Iterator[dict[str, Any]], names: Mapping[str, str], otherwise: str) -> Iterator[Scenario]:
    for document in documents:
        source = document.get("source") or {}
        if "file" in source:
            source["file"] = names.get(source["file"], source["file"])
        yield scenario_from_document(document, Place(source.get("file", otherwise), source.get("line")))
