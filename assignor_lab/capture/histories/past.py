"""A group's past as recorded decisions, whatever it lies in: recordings, files of decisions, logs.

This is the one way from files to scenarios; commands that take a group's past, and scoring, both go it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from os import fspath
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.histories.flight_recordings import BESIDE, recorded_decisions
from assignor_lab.capture.histories.logged_decisions import logged_decisions
from assignor_lab.capture.histories.past_files import LOG, RECORDING, NamedFile, files_of, grouped, kind_of
from assignor_lab.capture.topology import reuses_sources
from assignor_lab.scenarios import Place, Scenario, read_scenarios, scenario_from_document
from assignor_lab.scenarios.told_topology import noting_conflicts
from assignor_lab.scenarios.with_racks import RackFiller

__all__ = ["Surroundings", "scenarios_of", "scenarios_of_past"]


@attrs.frozen
class Surroundings:
    """What a past does not tell of itself.

    Args:
        config: The application's configuration, the lowest layer first.
        topology: File with the text of Java's ``Topology#describe``, or ``None``.
        zone: Time zone of logs that do not name theirs; ``None``: UTC.
        on_problem: Told of what could not be read.
        optimization: ``topology.optimization`` of the application; ``None``: as the source tells.
        racks: Fills in the racks of ``--racks``, or ``None``.
        brokers_show_targets: Whether brokers give their assignor the old targets, as before 4.4, in place of what
            members have; ``None``: as the recording tells.
    """

    config: Sequence[ConfigLayer] = ()
    topology: Path | None = None
    zone: tzinfo | None = None
    on_problem: Callable[[str], None] = lambda _: None
    optimization: str | None = None
    racks: RackFiller | None = None

    def with_racks(self, scenario: Scenario) -> Scenario:
        """The scenario with the racks of ``--racks``.

        Raises:
            RackContradictionError: if the scenario has another rack for one client or partition.
        """
        return scenario if self.racks is None else self.racks.filled_scenario(scenario)

    brokers_show_targets: bool | None = None


_NOTHING = Surroundings()


def scenarios_of_past(sources: Sequence[str], around: Surroundings = _NOTHING) -> Iterator[Scenario]:
    """The scenarios that sources hold: recordings and files each in their order, logs together at the end.

    Logs that are about recorded groups tell what is around the decisions there, and no decisions of their own.

    Args:
        sources: Folders of ``assignor record``, files of decisions or episodes, logs, and folders of such files; ``-``
            is a file of decisions.
        around: What they do not tell.

    Raises:
        EmptySourceError: if a folder is empty.
        DocumentFormatError: if a file cannot be read or is not in the format.
        HistoryError: if a recording is half there, or holds no decision.
        LogImportError: if a log cannot be read, or no log holds a decision.
    """
    files = sorted((file for source in sources for file in files_of(source)), key=lambda file: kind_of(file) == LOG)
    for _, kind, together in grouped(files):
        yield from scenarios_of(kind, together, around)
    for sentence in () if around.racks is None else around.racks.unused():
        around.on_problem(sentence)


def scenarios_of(kind: str, files: Sequence[NamedFile], around: Surroundings) -> Iterator[Scenario]:
    """The scenarios of files that are read together, as :func:`~.past_files.grouped` has them.

    Args:
        kind: ``scenarios``, ``log`` or ``recording``.
        files: The files; what is read from them has their names.
        around: What they do not tell.

    Raises:
        DocumentFormatError, HistoryError, LogImportError: as :func:`scenarios_of_past`.
        RackContradictionError: if ``--racks`` gives a client or a partition another rack than the source.
    """
    return map(around.with_racks, _read(kind, files, around))


def _read(kind: str, files: Sequence[NamedFile], around: Surroundings) -> Iterator[Scenario]:
    if kind == RECORDING:
        yield from _recorded(files, around)
    elif kind == LOG:
        yield from _logged(files, around)
    else:
        for file in files:
            yield from read_scenarios(fspath(file.path), name=file.name)


def _recorded(files: Sequence[NamedFile], around: Surroundings) -> Iterator[Scenario]:
    records, *others = files
    beside = {Path(each.name).name: Path(each.path) for each in others if Path(each.name).name in BESIDE}
    logs = [Path(each.path) for each in others if Path(each.name).name not in BESIDE]
    documents = recorded_decisions(
        Path(records.path),
        around.config,
        around.topology,
        around.on_problem,
        beside,
        logs,
        around.zone,
        None if around.racks is None else around.racks.racks,
        brokers_show_targets=around.brokers_show_targets,
        optimized=reuses_sources(around.optimization),
    )
    yield from _named(noting_conflicts(documents, around.on_problem), {str(records.path): records.name}, records.name)


def _logged(logs: Sequence[NamedFile], around: Surroundings) -> Iterator[Scenario]:
    documents = logged_decisions(
        [fspath(log.path) for log in logs],
        config_layers=around.config,
        topology=around.topology,
        zone=around.zone,
        optimization=around.optimization,
        on_problem=lambda problem: around.on_problem(str(problem)),
    )
    yield from _named(noting_conflicts(documents, around.on_problem), {fspath(log.path): log.name for log in logs}, "-")


def _named(documents: Iterator[dict[str, Any]], names: Mapping[str, str], otherwise: str) -> Iterator[Scenario]:
    for document in documents:
        source = document.get("source") or {}
        if "file" in source:
            source["file"] = names.get(source["file"], source["file"])
        yield scenario_from_document(document, Place(source.get("file", otherwise), source.get("line")))
