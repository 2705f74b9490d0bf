"""Options of commands that read a group's past: what it does not tell of itself."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from assignment_api.plugins import ConfigSources
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.capture.histories.past import Surroundings
    from assignor_lab.capture.histories.past_terms import PastTerms

__all__ = ["TimingsFile", "Topology", "WorkloadFile", "Zone", "given_timings", "past_terms", "surroundings", "zone_of"]

#: ``--topology FILE``
Topology = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Text of Java's Topology#describe: gives stores and partitions of the tasks."),
]
#: ``--timezone ZONE``
Zone = Annotated[
    str | None,
    typer.Option(metavar="ZONE", help="Time zone of logs whose times name none, such as Europe/Paris; default UTC."),
]
#: ``--workload FILE``
WorkloadFile = Annotated[
    Path | None,
    typer.Option(
        "--workload",
        metavar="FILE",
        help="What the tasks weigh, as JSON: a scenario's workload, and changelogs as in an episode.",
    ),
]
#: ``--timings FILE``
TimingsFile = Annotated[
    Path | None,
    typer.Option(
        "--timings",
        metavar="FILE",
        help="How long things take where the group runs: what derive-constants --json prints.",
    ),
]


def given_timings(file: Path | None) -> dict[str, int]:
    """The timings of the file of ``--timings``; none if there is no file.

    Raises:
        DocumentFormatError: if it cannot be read.
    """
    if file is None:
        return {}
    from assignor_lab.simulation.streams.timings_format import read_timings

    return read_timings(file)


def surroundings(
    given: ConfigSources, config: Path | None, topology: Path | None = None, timezone: str | None = None
) -> Surroundings:
    """What a command's options tell of a past; what is odd in it goes to the standard error.

    Args:
        given: Sources of configuration; what ``-c`` says is the group's, too.
        config: The file of ``--config``, for what is no key of assignment.
        topology: The file of ``--topology``.
        timezone: The name that ``--timezone`` gives.

    Raises:
        DocumentFormatError: if the file of ``--config`` cannot be read.
        typer.BadParameter: if there is no such time zone.
    """
    from assignor_lab.capture.histories.past import Surroundings
    from assignor_lab.capture.histories.settings import optimization_in

    return Surroundings(given.above, topology, zone_of(timezone), note, optimization_in(config))


def past_terms(
    way: str | None,
    config: Path | None,
    topology: Path | None,
    timezone: str | None,
    workload: Path | None,
    timings: Path | None = None,
) -> PastTerms:
    """The terms under which a run of ``assignor score`` reads pasts.

    Args:
        way: What ``--histories`` says; ``None``: as the sources suggest.
        config: The file of ``--config``, for the group's timeouts.
        topology: The file of ``--topology``.
        timezone: The name that ``--timezone`` gives.
        workload: The file of ``--workload``.
        timings: The file of ``--timings``.

    Raises:
        DocumentFormatError: if the file of ``--config`` or of ``--timings`` cannot be read.
        typer.BadParameter: if there is no such time zone.
    """
    from assignor_lab.capture.histories.past_terms import AUTO, PastTerms
    from assignor_lab.capture.histories.settings import optimization_in, timings_in

    zone_of(timezone)
    return PastTerms(
        way=way or AUTO,
        timings={**timings_in(config), **given_timings(timings)},
        optimization=optimization_in(config),
        topology=None if topology is None else str(topology),
        timezone=timezone,
        workload=None if workload is None else str(workload),
        timings_file=None if timings is None else str(timings),
    )


def zone_of(name: str | None) -> tzinfo | None:
    """The time zone of ``--timezone``; a name that is none is wrong use of the command."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise typer.BadParameter(
            f"{name!r} is no time zone: give a name such as Europe/Paris or UTC", param_hint="--timezone"
        ) from error
