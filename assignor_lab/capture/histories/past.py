"""A group's past as recorded decisions, whatever it lies in: recordings, files of decisions, logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo
from pathlib import Path

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.flight_recordings import flight_recordings, recorded_decisions
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.capture.logs.log_files import is_log
from assignor_lab.documents.lines import STANDARD_INPUT
from assignor_lab.scenarios import Place, Scenario, read_scenarios, scenario_from_document

__all__ = ["Surroundings", "scenarios_of_past"]


@attrs.frozen
class Surroundings:
    """What a past does not tell of itself.

    Args:
        config: The application's configuration, the lowest layer first.
        topology: File with the text of Java's ``Topology#describe``, or ``None``.
        zone: Time zone of logs that do not name theirs; ``None``: UTC.
        on_problem: Told of what could not be read.
    """

    config: Sequence[ConfigLayer] = ()
    topology: Path | None = None
    zone: tzinfo | None = None
    on_problem: Callable[[str], None] = lambda _: None


_NOTHING = Surroundings()


def scenarios_of_past(sources: Sequence[str], around: Surroundings = _NOTHING) -> Iterator[Scenario]:
    """The scenarios that sources hold: recordings and files each in their order, logs together at the end.

    Args:
        sources: Folders of ``assignor record``, files of decisions or episodes, and logs; ``-`` is a file of decisions.
        around: What they do not tell.

    Raises:
        DocumentFormatError: if a file cannot be read or is not in the format.
        HistoryError: if a recording is half there, or holds no decision.
        LogImportError: if a log cannot be read, or no log holds a decision.
    """
    logs: list[str] = []
    for source in sources:
        recordings = [] if source == STANDARD_INPUT else flight_recordings(Path(source))
        if recordings:
            for file in recordings:
                yield from _recorded(file, around)
        elif source != STANDARD_INPUT and Path(source).is_dir():
            raise HistoryError(
                f"{source}: is a folder, and none that record has written: name the files in it, or the folder that "
                "has records.jsonl"
            )
        elif source != STANDARD_INPUT and is_log(source, source):
            logs.append(source)
        else:
            yield from read_scenarios(source)
    if logs:
        yield from _logged(logs, around)


def _recorded(file: Path, around: Surroundings) -> Iterator[Scenario]:
    for document in recorded_decisions(file, around.config, around.topology, around.on_problem):
        yield scenario_from_document(document, Place(str(file), document.get("source", {}).get("line")))


def _logged(logs: Sequence[str], around: Surroundings) -> Iterator[Scenario]:
    documents = import_log(
        logs,
        config_layers=around.config,
        topology=around.topology,
        zone=around.zone,
        on_problem=lambda problem: around.on_problem(str(problem)),
    )
    for document in documents:
        source = document["source"]
        yield scenario_from_document(document, Place(source["file"], source["line"]))
