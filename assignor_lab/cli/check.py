"""``assignor check``: rebalances out of the ordinary in a group's past."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.output_files import junit_file
from assignor_lab.cli.past_options import Dates, Day, Topology, Zone, dates_of, surroundings
from assignor_lab.cli.text import console, note, print_json, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.watching.limits import WatchLimits
    from assignor_lab.watching.planned import PlannedRestarts
    from assignor_lab.watching.rebalances import WatchedGroup
    from assignor_lab.watching.since import Since
    from assignor_lab.watching.words import CheckedGroup

__all__ = ["register"]

_OUT_OF_THE_ORDINARY = 1

Past = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE", help="A folder of record, a file of import, or the logs of all instances."),
]
SinceText = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="LAST",
        help="Report later rebalances only: a duration (24h), a time (2026-11-24T06:00), or a file that remembers the "
        "last check.",
    ),
]
LimitsFile = Annotated[
    Path | None, typer.Option("--limits", metavar="FILE", help="Limits as TOML (docs, 'A nightly check').")
]
Planned = Annotated[
    Path | None,
    typer.Option(
        "--planned",
        metavar="FILE",
        help="Restarts that a script has noted: they are no sign of a flapping instance. A missing file has none.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write the results as JUnit.", callback=junit_file),
]
Summary = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="Append a summary in Markdown, as for the page of a CI job."),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("check")(_check)


def _check(
    past: Past,
    since: SinceText = None,
    limits: LimitsFile = None,
    planned: Planned = None,
    junit: Junit = None,
    summary: Summary = None,
    config: ConfigFile = None,
    c: Overrides = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    json: Json = False,
) -> None:
    """Report rebalances out of the ordinary; the exit code is 1 if there are any.

    A finding is a rebalance without a known cause, endless follow-ups, a task that moves back and forth, an instance
    that flaps, an outage, a task or a wanted standby without an owner, or a fault that a log names. Known loops of
    Kafka have their names.
    """
    from assignor_lab.capture.errors import HistoryError
    from assignor_lab.capture.histories.group_histories import group_histories
    from assignor_lab.capture.histories.past import read_past
    from assignor_lab.documents.durable import append_durably
    from assignor_lab.documents.wording import plural
    from assignor_lab.watching.limits import read_limits
    from assignor_lab.watching.planned import read_planned
    from assignor_lab.watching.rebalances import watched_groups
    from assignor_lab.watching.since import read_since
    from assignor_lab.watching.words import document_of, gates_of, markdown_of

    allowed, expected = read_limits(limits), read_planned(planned)
    begin = read_since(since, time.time_ns() // 1_000_000)
    around = surroundings(sources(config, c), topology, timezone, dates=dates_of(dates, day))
    read = read_past(past, around)
    scenarios = read.scenarios
    known = [each for each in scenarios if each.observed is not None]
    if not (known or read.events):
        raise HistoryError.of_no_decision(past[0])
    groups = watched_groups(group_histories(known, read.events))
    checked = [_checked(each, allowed, expected, begin) for each in groups]
    if json:
        print_json(document_of(checked, allowed))
    else:
        _print(checked)
    if len(known) < len(scenarios):
        note(f"{plural(len(scenarios) - len(known), 'generation')} left out: the decision is unknown")
    if junit is not None:
        from assignor_lab.scoring.gates.junit import write_junit

        write_junit(gates_of(checked), junit, "assignor check")
    if summary is not None:
        append_durably(summary, markdown_of(checked).encode())
    begin.keep(groups)
    if not all(each.is_ordinary for each in checked):
        raise typer.Exit(_OUT_OF_THE_ORDINARY)


def _checked(group: WatchedGroup, limits: WatchLimits, planned: PlannedRestarts, begin: Since) -> CheckedGroup:
    from assignor_lab.watching.findings import unusual_rebalances
    from assignor_lab.watching.words import CheckedGroup

    count = sum(begin.is_new(group.group, each.entry.time_ms) for each in group.rebalances)
    found = [each for each in unusual_rebalances(group, limits, planned) if begin.is_new(group.group, each.time_ms)]
    return CheckedGroup(group, count, found, limits.accepted)


def _print(checked: Iterable[CheckedGroup]) -> None:
    from assignor_lab.watching.words import finding_columns, rows_of, sentence_of

    for group in checked:
        print_sentence(sentence_of(group))
        if group.findings:
            console().print(table(finding_columns(group), rows_of(group)))
