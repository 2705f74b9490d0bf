"""``assignor history``: a group's past as a timeline, and whether its decisions come out again as recorded."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.connect_timeline import connect_timelines, is_connect_past
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.moments import STREAMS, protocol_of
from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.capture.histories.timeline import JOBS, GroupTimeline, TimelineEntry
from assignor_lab.cli.found_plugins import found_plugins
from assignor_lab.cli.options import ConfigFile, Json, Overrides, RackFiles, sources
from assignor_lab.cli.past_options import Topology, Zone, surroundings
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table
from assignor_lab.documents.lines import STANDARD_INPUT
from assignor_lab.documents.wording import listed, moment, plural, without_uuids
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.verification.decisions import CheckedDecision
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes
from assignor_lab.verification.verified import MOST_TASKS, verify
from assignor_lab.verification.words import document_of, sentences

__all__ = ["register"]

_CHECK_FAILED = 1

Past = Annotated[
    list[str],
    typer.Argument(
        metavar="PAST...",
        help="The folder of record, what import-log or import-recording writes, or the logs of all instances.",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Decide every decision again, and name each that does not come out as recorded; such end the command "
        "with 1.",
    ),
]
Assignor = Annotated[
    str | None,
    typer.Option(
        "--assignor", metavar="NAME", help="With --check: who decides; by default whom the source names, or Kafka's."
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("history")
    def history(
        past: Past,
        check: Check = False,
        assignor: Assignor = None,
        config: ConfigFile = None,
        c: Overrides = None,
        topology: Topology = None,
        racks: RackFiles = None,
        timezone: Zone = None,
        json: Json = False,
    ) -> None:
        """Show a group's past: each decision with its time, who had come and gone, why, and what moved."""
        given = sources(config, c)
        around = surroundings(given, config, topology, timezone, racks)
        scenarios = list(scenarios_of_past(past, around))
        if not scenarios:
            raise HistoryError(
                f"{past[0]}: holds no recorded decision: import-log, import-recording and record make such"
            )
        told = [each for each in scenarios if each.observed is not None] or scenarios
        histories = [
            GroupTimeline.of(each)
            for each in read_histories(each for each in told if protocol_of(each.document) is not None)
        ]
        histories += connect_timelines(each.document for each in told if is_connect_past(each.document))
        plugins = found_plugins(given.effective())
        # Single keys of the command line are the group's here: the decisions were made under them.
        read = None if STANDARD_INPUT in past else partial(scenarios_of_past, past)
        terms = terms_of(
            plugins.registry, given, plugins.isolation, read=read, around=around, assignor=assignor
        )  # fmt: skip
        episodes = past_episodes(told, given_settings(around.config))
        verification = verify(told, terms, episodes, most_tasks=None if check else MOST_TASKS)
        checked = [each for group in verification.groups for each in group.decisions] if check else None
        if json:
            print_json({
                "verified": document_of(verification),
                "histories": [each.document() for each in histories],
                "checked": _checked_document(checked),
            })  # fmt: skip
        else:
            for sentence in sentences(verification):
                print_sentence(sentence)
            for each in histories:
                _print(each)
            if any(entry.inferred_reason for each in histories for entry in each.entries):
                note(
                    "reasons are inferred from members and tasks where the source has none: give the brokers' logs "
                    "beside it for the coordinator's own"
                )
            _print_check(checked)
        unknown = len(scenarios) - len(told)
        if unknown:
            note(f"of {plural(unknown, 'generation')} it is not known what was decided: left out")
        if checked is not None and any(each.difference for each in checked):
            raise typer.Exit(_CHECK_FAILED)


# --- showing ------------------------------------------------------------------------------------------


def _print(timeline: GroupTimeline) -> None:
    entries = timeline.entries
    jobs = timeline.moves == JOBS
    what = plural(len(entries), "rebalance" if jobs else "decision")
    print_line(f"{timeline.group or 'a group'}: {what}, {timeline.protocol} protocol")
    number = "EPOCH" if timeline.protocol == STREAMS else "GENERATION"
    columns: tuple[str, ...] = (
        "TIME",
        number,
        "INSTANCES",
        "MEMBERS",
        "CAME AND WENT",
        "MOVED",
        "TAKEN OVER",
        "COPIES MADE",
        "REASON",
        "NEXT",
    )
    if jobs:
        # Workers have neither threads nor copies, and what they say does not number the rounds.
        columns = ("TIME", "WORKERS", "CAME AND WENT", "JOBS MOVED", "REASON AND NOTES")
    rows = [_row(entry) for entry in entries]
    console().print(table(columns, [(*row[:1], *row[2:3], *row[4:6], row[8]) for row in rows] if jobs else rows))


def _row(entry: TimelineEntry) -> tuple[object, ...]:
    changes = [f"+{name}" for name in entry.joined] + [f"-{name}" for name in entry.gone]
    changes += [f"{name} anew" for name in entry.restarted]
    reason = "; ".join(each for each in (without_uuids(entry.reason), entry.inferred_reason) if each)
    if entry.missing is not None:
        first, last = entry.missing
        gap = f"{first} is not there" if first == last else f"{first} to {last} are not there"
        reason = f"{gap}; {reason}" if reason else gap
    return (
        moment(entry.time_ms),
        "" if entry.generation is None else entry.generation,
        entry.instances,
        entry.members,
        " ".join(changes),
        entry.active_moved or "",
        entry.active_taken_over or "",
        entry.copies_made or "",
        reason,
        entry.followup if entry.followup != "none" else "",
    )


def _checked_document(checked: list[CheckedDecision] | None) -> dict[str, Any] | None:
    if checked is None:
        return None
    return {
        "decisions": len(checked),
        "as_recorded": sum(each.difference is None for each in checked),
        "differences": [
            {
                "scenario": each.scenario.id,
                "round": each.round,
                "time_ms": (each.scenario.source or {}).get("time_ms"),
                "assignor": each.assignor,
                "difference": each.difference,
                "not_comparable": each.not_comparable,
            }
            for each in checked
            if each.difference is not None
        ],
    }


def _print_check(checked: list[CheckedDecision] | None) -> None:
    if checked is None:
        return
    for each in checked:
        if each.difference is not None:
            at = (each.scenario.source or {}).get("time_ms")
            when = "" if at is None else f", {moment(at)}"
            why = "" if each.not_comparable is None else f" ({each.not_comparable})"
            print_line(
                f"{each.scenario.id}{f', round {each.round}' if each.round else ''}{when}: {each.difference}{why}"
            )
    other = [each for each in checked if each.difference is not None]
    for sentence in dict.fromkeys(sentence for each in other for sentence in each.scenario.assumptions):
        note(f"assumed in what came out otherwise: {sentence}")
    same = len(checked) - len(other)
    names = listed(sorted({each.assignor for each in checked})) if checked else "nobody"
    print_line(f"{same} of {plural(len(checked), 'decision')} come out as recorded, decided again by {names}")
