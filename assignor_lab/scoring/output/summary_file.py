"""``summary.json`` (docs, "The summary file"): the one reader and the one writer of :class:`RunSummary`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignor_lab.documents.errors import Place
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Check, any_value, faults_at, format_number, map_of, open_record, text
from assignor_lab.documents.values import plain_document, value_of
from assignor_lab.groups.columns import OTHER_FORMAT
from assignor_lab.model.comparisons import FigureCompared, ValueCompared
from assignor_lab.model.pictures import ClientTasks, ConnectSnapshot, Gantt, Picture, SnapshotPlacement, StateSource
from assignor_lab.model.run_summary import Assignor, PastTimeline, RunSummary, SummaryHeadline, VerifiedReplay

__all__ = ["FORMAT", "picture_document", "picture_of", "read_summary", "summary_document", "summary_of"]

FORMAT = 2
#: Size limit of the file, in bytes: a summary holds a bounded number of pictures and figures.
MAX_BYTES = 512 * 1024 * 1024

_REMEDY = "use the release that wrote this summary"
_FORMAT = open_record({"format": format_number(FORMAT, OTHER_FORMAT)}, hint=_REMEDY)


def read_summary(path: Path) -> RunSummary:
    """Reads a ``summary.json``.

    Raises:
        DocumentFormatError: The file cannot be read or is not a summary of format 2; with file and key.
    """
    return read_document(path, parse_json, _summary, max_bytes=MAX_BYTES, subject="a summary")


def summary_of(document: object) -> RunSummary:
    """The values of a parsed summary. Keys that format 2 does not define are ignored.

    Raises:
        DocumentFormatError: A key is missing or has the wrong type, or the format is unknown.
    """
    with faults_at(Place("summary")):
        return _summary(document)


def summary_document(summary: RunSummary) -> dict[str, Any]:
    """A summary as JSON, with keys in the order of the file."""
    document: dict[str, Any] = plain_document(summary, _WRITTEN)
    return {"verified": document.pop("verified"), "format": FORMAT, **document}


def picture_of(document: dict[str, object]) -> Picture:
    """The picture in a document of :func:`picture_document`."""
    check: Check[Picture] = _group if "answers" in document else value_of(SnapshotPlacement, _REMEDY, _READ)
    with faults_at(Place("picture")):
        return check(document)


def picture_document(picture: Picture) -> dict[str, Any]:
    document: dict[str, Any] = plain_document(picture, _WRITTEN)
    return document


# --- reading --------------------------------------------------------------------------------------


def _summary(document: object) -> RunSummary:
    # Check the format first: another format lacks other keys, too.
    _FORMAT(document)
    check: Check[RunSummary] = value_of(RunSummary, _REMEDY, _READ)
    return check(document)


@attrs.frozen
class _KnownFacts:
    file: str | None = None
    line: int | None = None
    time_ms: int | None = None
    group: str | None = None
    generation: int | None = None
    prepared_ms: int | None = None
    reason: str | None = None


def _source(document: object) -> StateSource:
    value_of(_KnownFacts, _REMEDY)(document)
    return StateSource(map_of(text, any_value)(document))


def _group(document: object) -> ConnectSnapshot:
    found: ConnectSnapshot = value_of(ConnectSnapshot, _REMEDY, _IN_GROUP)(document)
    first = document["answers"][0] if isinstance(document, dict) and found.answers else {}
    return attrs.evolve(found, shows=tuple(name for name in ("gantt", "down") if name in first))


_IN_GROUP = ((StateSource, _source),)
_READ = (*_IN_GROUP, (ConnectSnapshot, _group))


# --- writing: objects whose keys are not all fields, in their order ---------------------------------


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in attrs.fields(type(value))}


def _known(*names: str) -> Callable[[Any], dict[str, Any]]:
    """The fields without those of ``names`` that are ``None``."""
    return lambda value: {name: each for name, each in _fields(value).items() if each is not None or name not in names}


def _placement(picture: SnapshotPlacement) -> dict[str, Any]:
    found = _fields(picture)
    # Members of processes have keys of their own, and answers to them are always comparable.
    absent = {"not_comparable"} if picture.lags is None else {"process", "instance_id"}
    if picture.lags is None:
        del found["lags"]
    for name in ("clients", "after"):
        found[name] = [_without(_fields(each), absent) for each in found[name]]
    return found


def _connect(picture: ConnectSnapshot) -> dict[str, Any]:
    absent = {"gantt", "down"} - {*picture.shows}
    answers = []
    for each in picture.answers:
        answer = _without(_fields(each), absent)
        if "down" in absent:
            answer["rebalances"] = [_without(_fields(one), {"running_ms"}) for one in each.rebalances]
        answers.append(answer)
    return _without(_fields(picture), {"shows"}) | {"answers": answers}


def _without(fields: dict[str, Any], absent: set[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in absent}


def _first(fields: Mapping[str, Any], names: tuple[str, ...], after: str) -> dict[str, Any]:
    """Fields in another order: ``names`` follow ``after``."""
    moved = {name: fields[name] for name in names}
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in moved:
            found[name] = value
        if name == after:
            found |= moved
    return found


def _headline(headline: SummaryHeadline) -> dict[str, Any]:
    return _fields(headline) | {"figures": [_figure(each, headline.baseline) for each in headline.figures]}


def _figure(figure: FigureCompared, baseline: str | None) -> dict[str, Any]:
    of = [_value(each, is_compared=baseline not in (None, each.assignor)) for each in figure.of]
    found = _first(_fields(figure) | {"of": of}, ("best",), "states")
    return _without(found, {name for name in ("error", "remedy") if found[name] is None})


def _value(value: ValueCompared, *, is_compared: bool) -> dict[str, Any]:
    counts = ("lower", "equal", "higher")
    found = _first(_fields(value), counts, "mean" if is_compared else "no_interval")
    return found if value.band is not None else _without(found, {"band"})


def _assignor(assignor: Assignor) -> dict[str, Any]:
    found = _fields(assignor)
    return _first(found, ("reason",), "version") if assignor.status == "not_loaded" else found


_WRITTEN: Mapping[type, Callable[[Any], dict[str, Any]]] = {
    Assignor: _assignor,
    ClientTasks: _known("warmup"),
    ConnectSnapshot: _connect,
    Gantt: _known("changes"),
    PastTimeline: _known("given", "events"),
    SnapshotPlacement: _placement,
    StateSource: lambda source: dict(source.facts),
    SummaryHeadline: _headline,
    VerifiedReplay: _known("measured_downtime_s", "band", "leaves_at"),
}
