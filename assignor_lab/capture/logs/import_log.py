"""Log files as scenario documents: merged by time, with unique ids."""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.logs.decisions import DecisionAssembler
from assignor_lab.capture.logs.log_parts import log_of_part, oldest_first
from assignor_lab.capture.logs.log_texts import open_log
from assignor_lab.capture.logs.messages import MessageKind
from assignor_lab.capture.logs.no_decision import no_decision
from assignor_lab.capture.logs.open_dates import LogClock, LogDates
from assignor_lab.capture.logs.rebalance import LoggedDecision, LogProblem
from assignor_lab.capture.logs.records import RecordReader
from assignor_lab.capture.logs.scenario_documents import DocumentMaker
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.capture.logs.surroundings_filler import SurroundingsFiller
from assignor_lab.capture.logs.topology_file import described_topology
from assignor_lab.scenarios import DocumentFormatError, Place, scenario_from_document

__all__ = ["import_log", "read_decisions"]

_NOTHING = (
    "no line in it is about a group's rebalances: is it the log of an instance of the application, or of the "
    "group's coordinator?"
)
_OF_CONNECT = "it is the log of a Connect worker: compare its decisions with `assignor connect replay`"


def import_log(
    files: Sequence[str | Path],
    *,
    config_layers: Sequence[ConfigLayer] = (),
    topology: Path | None = None,
    zone: tzinfo | None = None,
    optimization: str | None = None,
    on_problem: Callable[[LogProblem], None] | None = None,
    standard_input: BinaryIO | None = None,
    surroundings: LoggedSurroundings | None = None,
    dates: LogDates | None = None,
) -> Iterator[dict[str, Any]]:
    """Reads logs and yields a scenario document of format 1 for each decision of a leader.

    All files are read before the first document; finished documents are kept compressed. If every decision has a time,
    documents are sorted by time, otherwise in the order of reading.

    Args:
        zone: Time zone of logs without one; ``None``: UTC, with an assumption in the documents.
        optimization: ``topology.optimization``; ``None``: as logged.
        dates: Facts about dates that the logs leave open.
    """
    described = None if topology is None else described_topology(topology)
    maker = DocumentMaker(
        tuple(config_layers), described, zone or UTC, zone_given=zone is not None, optimization=optimization
    )
    problems: list[LogProblem] = []

    def note(problem: LogProblem) -> None:
        problems.append(problem)
        if on_problem is not None:
            on_problem(problem)

    held: list[_Held] = []
    surroundings = LoggedSurroundings() if surroundings is None else surroundings
    for decision in read_decisions(files, note, standard_input, surroundings, dates):
        document = maker.document(decision, _identity(decision))
        if (fault := _fault(document, decision)) is not None:
            note(fault)
            continue
        time_ms = document["source"].get("time_ms")
        logged = None if decision.config is None else decision.config.optimization
        held.append(_Held(time_ms, decision.leader, zlib.compress(json.dumps(document).encode(), 1), logged))
    if not held:
        garbled = [problem for problem in problems if problem.line is not None]
        raise no_decision(files, garbled, surroundings)
    filler = SurroundingsFiller(surroundings, zone or UTC)
    yield from filler.filled(_unique(_described(_in_order(held), maker, surroundings)))
    for sentence in filler.unused():
        note(LogProblem("logs", None, None, sentence))


def read_decisions(
    files: Sequence[str | Path],
    on_problem: Callable[[LogProblem], None],
    standard_input: BinaryIO | None = None,
    surroundings: LoggedSurroundings | None = None,
    dates: LogDates | None = None,
) -> Iterator[LoggedDecision]:
    """Each decision as soon as it is complete. Parts of a rotated log may come in any order."""
    assembler = DecisionAssembler(on_problem, LoggedSurroundings() if surroundings is None else surroundings)
    reader = RecordReader()
    clocks: dict[str, LogClock] = {}
    has_decisions, of_connect, silent = False, list[str](), dict[str, None]()
    for path in oldest_first(files, dates):
        source, file = open_log(path, standard_input, dates)
        if (before := clocks.get(log_of_part(path))) is not None:
            source.clock.go_on_after(before)
        clocks[log_of_part(path)] = source.clock
        kinds: set[MessageKind] = set()
        with contextlib.nullcontext() if file is standard_input else contextlib.closing(file):
            for record in reader.read(source):
                kinds.add(record.kind)
                for decision in assembler.feed(record):
                    has_decisions = True
                    yield decision
        for sentence in source.doubts():
            on_problem(LogProblem(source.name, None, None, sentence))
        # For a single file the error names the missing lines.
        if len(files) > 1 and kinds == {MessageKind.CONNECT_WORKER}:
            of_connect.append(source.name)
        elif len(files) > 1 and not kinds:
            silent[source.name] = None
    for record in reader.finish():
        silent.pop(record.file, None)
        yield from assembler.feed(record)
    for name in silent:
        on_problem(LogProblem(name, None, None, _NOTHING))
    yield from assembler.finish()
    if has_decisions:
        # Without a decision of Streams the workers' own histories are read.
        for name in of_connect:
            on_problem(LogProblem(name, None, None, _OF_CONNECT))


def _fault(document: dict[str, Any], decision: LoggedDecision) -> LogProblem | None:
    """A garbled line can be readable and invalid: a task twice, a consumer of two clients."""
    place = Place(decision.record.file, decision.record.line)
    try:
        scenario_from_document(document, place)
    except DocumentFormatError as error:
        reason = f"decision left out: {error.key}: {error.reason}"
        return LogProblem(place.file, decision.record.line, None, reason, loses_decision=True)
    return None


# --- order ----------------------------------------------------------------------------------------


@attrs.define
class _Held:
    time_ms: int | None
    leader: str | None
    document: bytes
    optimization: str | None


def _described(
    held: Iterable[tuple[dict[str, Any], _Held]], maker: DocumentMaker, surroundings: LoggedSurroundings
) -> Iterator[tuple[dict[str, Any], str | None]]:
    shown = {}
    for document, each in held:
        group = document["source"].get("group")
        if group not in shown:
            shown[group] = surroundings.topics.sources(group), surroundings.changelogs(group)
        yield maker.with_topology(document, each.optimization, *shown[group], surroundings.printed), each.leader


def _in_order(held: list[_Held]) -> Iterator[tuple[dict[str, Any], _Held]]:
    times = [each.time_ms for each in held if each.time_ms is not None]
    order: Iterable[int] = range(len(held))
    if len(times) == len(held):
        order = sorted(order, key=times.__getitem__)
    for index in order:
        document: dict[str, Any] = json.loads(zlib.decompress(held[index].document))
        held[index].document = b""
        yield document, held[index]


# --- names ----------------------------------------------------------------------------------------


def _identity(decision: LoggedDecision) -> str:
    name = decision.group or Path(decision.record.file).name.partition(".")[0]
    if decision.generation is None:
        return f"{name}-line-{decision.record.line}"
    return f"{name}-generation-{decision.generation}"


def _unique(
    documents: Iterable[tuple[dict[str, Any], str | None]],
) -> Iterator[tuple[dict[str, Any], str | None]]:
    """A deleted group starts with generation 1 again."""
    seen: dict[str, int] = {}
    for document, leader in documents:
        identity = document["id"]
        seen[identity] = seen.get(identity, 0) + 1
        if seen[identity] > 1:
            document["id"] = f"{identity}-{seen[identity]}"
        yield document, leader
