"""``assignor derive-constants``: durations, from recorded experiments or from a group's own logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.options import Json
from assignor_lab.cli.past_options import Zone, zone_of
from assignor_lab.cli.text import console, note, print_json, table

if TYPE_CHECKING:
    from assignor_lab.capture.timelines.constants import Derived
    from assignor_lab.capture.timelines.logged_timeline import TimedStore
    from assignor_lab.capture.timelines.timeline import RecordedTimeline

__all__ = ["register"]

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCES",
        help="Logs of a group's instances and of its coordinator, folders of them, or timelines of recorded "
        "experiments; plain or gzip.",
    ),
]
RecordBytes = Annotated[
    float | None,
    typer.Option(
        "--bytes-per-record",
        metavar="N",
        min=1,
        help="Average size of a record in the changelogs, which logs do not have: gives a rate in bytes.",
    ),
]
_MOST_SHOWN = 20


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("derive-constants")(_derive)


def _derive(source: Sources, bytes_per_record: RecordBytes = None, timezone: Zone = None, json: Json = False) -> None:
    """Derive durations from the logs of a Streams group, or from recorded experiments.

    The output of --json is the file for --timings of simulate, replay and score. It also has each restored store.
    """
    from assignor_lab.capture.timelines.constants import derive_constants
    from assignor_lab.capture.timelines.logged_timeline import logged_timelines
    from assignor_lab.capture.timelines.missing_constants import missing_constants

    logs, timelines = _sorted_out(source)
    stores: Sequence[TimedStore] = ()
    is_classic = True
    if logs:
        logged, stores = logged_timelines(
            logs,
            zone=zone_of(timezone),
            record_bytes=bytes_per_record,
            on_problem=lambda problem: note(f"warning: {problem}"),
        )
        is_classic = any(each.kind == "streams-classic" for each in logged)
        timelines += logged
    elif bytes_per_record is not None:
        raise typer.BadParameter("recorded experiments have their own value", param_hint="--bytes-per-record")
    derived = derive_constants(timelines)
    missing = missing_constants({each.name for each in derived}, stores, is_classic=is_classic) if logs else []
    if json:
        document: dict[str, Any] = {"timings": {each.name: each.value for each in derived}}
        if logs:
            document |= {"restorations": [each.document() for each in stores], "not_derived": missing}
        print_json(document)
        return
    _print(derived)
    _print_stores(stores)
    for sentence in missing:
        note(sentence)


def _sorted_out(sources: Iterable[str]) -> tuple[list[str], list[RecordedTimeline]]:
    from assignor_lab.capture.edges.timelines import read_timeline
    from assignor_lab.capture.histories.past_files import LOG, RECORDING, files_of, kind_of
    from assignor_lab.documents.errors import DocumentFormatError

    logs, timelines = [], []
    for source in sources:
        for file in files_of(source):
            kind = kind_of(file)
            if kind == RECORDING:
                raise DocumentFormatError(
                    source, None, "", "a recording of 'assignor record' has decisions, but no durations: give the logs"
                )
            if kind == LOG:
                logs.append(str(file.path))
            else:
                timelines.append(read_timeline(Path(file.path)))
    return logs, timelines


def _print(derived: Sequence[Derived]) -> None:
    rows = [
        (
            each.name,
            each.value,
            each.count,
            "-" if each.quartiles is None else f"{each.quartiles[0]:g} to {each.quartiles[1]:g}",
        )
        for each in derived
    ]
    console().print(table(("timing", "value", "measurements", "half of them"), rows))


def _print_stores(stores: Sequence[TimedStore]) -> None:
    if not stores:
        return
    longest = sorted(stores, key=lambda each: -(each.milliseconds or 0))
    rows = [
        (
            each.task or "?", each.store, each.client, f"{each.records:,}",
            "-" if each.milliseconds is None else f"{each.milliseconds:,}",
            "-" if each.records_per_s is None else f"{each.records_per_s:,.0f}",
            "-" if each.bytes_per_s is None else f"{each.bytes_per_s:,.0f}",
        )
        for each in longest[:_MOST_SHOWN]
    ]  # fmt: skip
    console().print(table(("task", "store", "by", "records", "ms", "records/s", "bytes/s"), rows))
    if len(stores) > _MOST_SHOWN:
        note(f"{len(stores) - _MOST_SHOWN} shorter restorations are not shown: --json has all")
