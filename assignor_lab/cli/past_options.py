"""Options of commands that read a group's past: facts that the past lacks."""

from __future__ import annotations

from datetime import date, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from assignment_api.plugins import ConfigSources
    from assignor_lab.capture.histories.past import PastSurroundings
    from assignor_lab.capture.histories.past_terms import PastTerms
    from assignor_lab.capture.logs.open_dates import LogDates
    from assignor_lab.scenarios.racks import Racks
    from assignor_lab.scenarios.with_racks import RackFiller

__all__ = [
    "Dates",
    "Day",
    "MostPlays",
    "TimingsFile",
    "Topology",
    "WorkloadFile",
    "Zone",
    "dates_of",
    "given_racks",
    "given_timings",
    "past_terms",
    "rack_filler",
    "surroundings",
    "with_racks",
    "zone_of",
]

Topology = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Text of Java's Topology#describe: gives stores and partitions of the tasks."),
]
Zone = Annotated[
    str | None,
    typer.Option(metavar="ZONE", help="Time zone of logs whose times name none, such as Europe/Paris; default UTC."),
]
Dates = Annotated[
    str | None,
    typer.Option(
        metavar="ORDER",
        help="Order of day and month in logs that leave it open: dd/MM or MM/dd; yy/MM/dd for short years.",
    ),
]
Day = Annotated[
    str | None,
    typer.Option(metavar="DATE", help="Day of the first line of logs with times of day only, such as 2026-11-27."),
]
WorkloadFile = Annotated[
    Path | None,
    typer.Option(
        "--workload",
        metavar="FILE",
        help="Weights of the tasks, as JSON: a scenario's workload, and changelogs as in an episode.",
    ),
]
StateWorkload = Annotated[
    Path | None,
    typer.Option(
        "--workload",
        metavar="FILE",
        help="Weights of the tasks, as JSON: a scenario's workload (docs, 'Scenario files').",
    ),
]
TimingsFile = Annotated[
    Path | None,
    typer.Option(
        "--timings",
        metavar="FILE",
        help="Durations on the group's machines: the output of derive-constants --json.",
    ),
]

MostPlays = Annotated[
    int,
    typer.Option(
        "--plays",
        metavar="N",
        min=1,
        help="Plays of a past: each draws the inferred times and the machine's speed. Fewer of a large past.",
    ),
]


def given_timings(file: Path | None) -> dict[str, int]:
    """The timings of the file of ``--timings``; none if there is no file.

    Raises:
        DocumentFormatError: if it cannot be read.
    """
    if file is None:
        return {}
    from assignor_lab.simulation.streams.formats.timings import read_timings

    return read_timings(file)


def given_racks(racks: Sequence[Path] | None) -> Racks | None:
    """The racks in the files of ``--racks``; ``None`` if the option was not given.

    Raises:
        DocumentFormatError: if a file of racks cannot be read or is not in the format.
    """
    if not racks:
        return None
    from assignor_lab.scenarios.racks import read_racks

    return read_racks(racks)


def rack_filler(racks: Sequence[Path] | None) -> RackFiller | None:
    """Fills the racks of ``--racks`` into states; ``None`` if the option was not given.

    Raises:
        DocumentFormatError: if a file of racks cannot be read or is not in the format.
    """
    known = given_racks(racks)
    if known is None:
        return None
    from assignor_lab.scenarios.with_racks import RackFiller

    return RackFiller(known)


def with_racks(documents: Iterable[Mapping[str, Any]], filler: RackFiller | None) -> Iterator[Mapping[str, Any]]:
    """The documents with the racks of ``--racks``; names that no document has are reported after the last one."""
    if filler is None:
        yield from documents
        return
    yield from map(filler.filled, documents)
    for sentence in filler.unused():
        note(f"warning: {sentence}")


def surroundings(
    given: ConfigSources,
    topology: Path | None = None,
    timezone: str | None = None,
    racks: Sequence[Path] | None = None,
    dates: LogDates | None = None,
) -> PastSurroundings:
    """Facts about a past from a command's options; oddities are reported on standard error.

    Args:
        given: Sources of configuration; values of ``-c`` are the group's, too.

    Raises:
        DocumentFormatError: if a file of ``--racks`` cannot be read.
        typer.BadParameter: if there is no such time zone.
    """
    from assignor_lab.capture.histories.past import PastSurroundings
    from assignor_lab.capture.histories.settings import optimization_in

    return PastSurroundings(
        given.above,
        topology,
        zone_of(timezone),
        note,
        optimization_in(given.above),
        rack_filler(racks),
        dates=dates,
    )


def past_terms(
    mode: str | None,
    given: ConfigSources,
    topology: Path | None,
    timezone: str | None,
    workload: Path | None,
    timings: Path | None = None,
    dates: str | None = None,
    day: str | None = None,
    plays: int = 20,
    seed: int = 0,
) -> PastTerms:
    """The terms under which a run of ``assignor score`` reads pasts.

    Args:
        mode: Value of ``--mode``; ``None``: a past is played.
        plays: Most plays of a past.
        seed: Seed of their draws.

    Raises:
        DocumentFormatError: if the file of ``--timings`` cannot be read.
        typer.BadParameter: if there is no such time zone, order or day.
    """
    from assignor_lab.capture.histories.past_terms import AUTO, DECISIONS, PastTerms
    from assignor_lab.capture.histories.settings import optimization_in
    from assignor_lab.scenarios.settings import given_settings

    zone_of(timezone)
    dates_of(dates, day)
    return PastTerms(
        way=DECISIONS if mode == "independent" else mode or AUTO,
        timings=given_timings(timings),
        optimization=optimization_in(given.above),
        topology=None if topology is None else str(topology),
        timezone=timezone,
        workload=None if workload is None else str(workload),
        timings_file=None if timings is None else str(timings),
        settings={key: str(value) for key, value in given_settings(given.above).items()},
        dates=dates,
        day=day,
        plays=plays,
        seed=seed,
    )


def zone_of(name: str | None) -> tzinfo | None:
    """The time zone of ``--timezone``; an unknown name is wrong use of the command."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise typer.BadParameter(
            f"{name!r} is no time zone: give a name such as Europe/Paris or UTC", param_hint="--timezone"
        ) from error


def dates_of(order: str | None, day: str | None) -> LogDates:
    """The facts of ``--dates`` and ``--day``; another value is wrong use of the command."""
    from assignor_lab.capture.logs.open_dates import DateOrder, LogDates

    orders = {each.value: each for each in DateOrder}
    if order is not None and order not in orders:
        raise typer.BadParameter(f"{order!r} is no order: give {', '.join(orders)}", param_hint="--dates")
    try:
        return LogDates(None if order is None else orders[order], None if day is None else date.fromisoformat(day))
    except ValueError as error:
        raise typer.BadParameter(f"{day!r} is no date: give one such as 2026-11-27", param_hint="--day") from error
