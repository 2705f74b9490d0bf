"""``assignor history``: a group's past as a timeline, and the reproduced share of its decisions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, RackFiles, sources
from assignor_lab.cli.past_options import Dates, Day, Topology, Zone, dates_of, surroundings
from assignor_lab.cli.text import console, fits, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.capture.histories.timeline import GroupTimeline
    from assignor_lab.model.history import GroupHistory
    from assignor_lab.verification.decisions import CheckedDecision

__all__ = ["register"]

_CHECK_FAILED = 1

Past = Annotated[
    list[str],
    typer.Argument(
        metavar="PAST",
        help="The folder of record, a file of import, or the logs of all instances.",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Decide each state again, and name each decision that differs from the recorded one. Exit code 1 if one "
        "differs.",
    ),
]
Assignor = Annotated[
    str | None,
    typer.Option(
        "--assignor", metavar="NAME", help="With --check: the assignor; by default that of the source, or Kafka's."
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("history")(_history)


def _history(
    past: Past,
    check: Check = False,
    assignor: Assignor = None,
    config: ConfigFile = None,
    c: Overrides = None,
    topology: Topology = None,
    racks: RackFiles = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    json: Json = False,
) -> None:
    """Show each decision of a group's past: its time, the changed instances, the reason, and the moves."""
    from assignor_lab.capture.errors import HistoryError
    from assignor_lab.capture.histories.connect_rounds import jobs_document
    from assignor_lab.capture.histories.group_histories import group_histories
    from assignor_lab.capture.histories.past import read_past, scenarios_of_past
    from assignor_lab.capture.histories.timeline import JOBS, GroupTimeline, event_document
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.documents.lines import STANDARD_INPUT
    from assignor_lab.documents.wording import plural
    from assignor_lab.scenarios.settings import given_settings
    from assignor_lab.verification.readings import terms_of
    from assignor_lab.verification.replays import past_episodes, verify_past
    from assignor_lab.verification.verified import MOST_TASKS
    from assignor_lab.verification.words import document_of, sentences

    given = sources(config, c)
    around = surroundings(given, topology, timezone, racks, dates_of(dates, day))
    found = read_past(past, around)
    scenarios = found.scenarios
    decided = [each for each in scenarios if each.observed is not None] or scenarios
    groups = group_histories(decided, found.events)
    if not groups:
        raise HistoryError.of_no_decision(past[0])
    histories = [GroupTimeline.of(each) for each in groups]
    plugins = found_plugins(given.effective())
    # Single keys of the command line describe the group here: the decisions were made under them.
    read = None if STANDARD_INPUT in past else partial(scenarios_of_past, past)
    terms = terms_of(
        plugins.registry, given, plugins.isolation, read=read, around=around, assignor=assignor
    )  # fmt: skip
    episodes = past_episodes(decided, given_settings(around.config))
    verification = verify_past(decided, terms, episodes, most_tasks=None if check else MOST_TASKS)
    checked = [each for group in verification.groups for each in group.decisions] if check else None
    if json:
        print_json({
            "verified": document_of(verification),
            "histories": [
                {
                    **each.document(),
                    "events": [event_document(event) for event in each.events],
                    **(jobs_document(group) if group.moves == JOBS else {}),
                }
                for group, each in zip(groups, histories, strict=True)
            ],
            "checked": _checked_document(checked),
        })  # fmt: skip
    else:
        for sentence in sentences(verification):
            print_sentence(sentence)
        for group, each in zip(groups, histories, strict=True):
            _print(each)
            if group.moves == JOBS and group.decisions:
                _print_jobs(group)
        if any(entry.inferred_reason for each in histories for entry in each.entries):
            note(
                "reasons are inferred from members and tasks where the source has none: give the brokers' logs "
                "beside it for the coordinator's own"
            )
        _print_check(checked)
    unknown = len(scenarios) - len(decided)
    if unknown:
        note(f"{plural(unknown, 'generation')} left out: the decision is unknown")
    if checked is not None and any(each.difference for each in checked):
        raise typer.Exit(_CHECK_FAILED)


# --- output -------------------------------------------------------------------------------------------


def _print(timeline: GroupTimeline) -> None:
    from assignor_lab.opened.history_words import head_of, past_sentence, table_of

    print_line(head_of(timeline))
    if sentence := past_sentence(timeline):
        print_sentence(sentence)
    columns, rows = table_of(timeline)
    if fits(columns, rows):
        console().print(table(columns, rows))
        return
    print_line()
    for row in rows:
        _print_narrow(dict(zip(columns, row, strict=True)))


#: Jobs of the table of times without an owner.
_MOST_UNOWNED = 20


def _print_jobs(history: GroupHistory) -> None:
    """The last owners, and the times without an owner."""
    from assignor_lab.capture.histories.connect_rounds import unowned_times
    from assignor_lab.documents.wording import moment, natural_order, plural

    last = history.decisions[-1]
    rows = [(name, ", ".join(share.active)) for name, share in last.shares.items()]
    if waiting := sorted((last.tasks or frozenset()) - last.owners.keys(), key=natural_order):
        rows.append(("no worker", ", ".join(waiting)))
    number = "" if last.number is None else f" {last.number}"
    print_line(f"Jobs after generation{number}, {moment(last.at.latest_ms)}")
    console().print(table(("WORKER", "JOBS"), rows))
    unowned = unowned_times(history.decisions)
    if not unowned:
        print_line("Each job had an owner from its first one on.")
        return
    print_line("Time without an owner, from the decision that took the job away to the next owner's")
    shown = [
        (each.job, len(each.waits_ms), f"{each.longest_ms / 1_000:.3f}", f"{each.total_ms / 1_000:.3f}",
         "" if each.open_ms is None else f"{each.open_ms / 1_000:.3f}, lasts")
        for each in unowned[:_MOST_UNOWNED]
    ]  # fmt: skip
    console().print(table(("JOB", "TIMES", "LONGEST (S)", "TOTAL (S)", "NOW"), shown))
    if len(unowned) > _MOST_UNOWNED:
        print_line(f"{plural(len(unowned) - _MOST_UNOWNED, 'more job')} with shorter times; --json has all")


#: Columns of the first line of a decision on a narrow terminal, and columns without a label on the second one.
_FIRST, _UNLABELLED = ("GENERATION", "EPOCH", "INSTANCES", "WORKERS", "MEMBERS"), ("CAME AND WENT", "REASON")


def _print_narrow(row: dict[str, object]) -> None:
    """A decision in two paragraphs, for a terminal that is too narrow for the table."""
    numbers = [f"{name.lower()} {row[name]}" for name in _FIRST if row.get(name, "") != ""]
    print_sentence(f"{row['TIME']}  {', '.join(numbers)}")
    rest = {name: cell for name, cell in row.items() if name not in ("TIME", *_FIRST) and cell != ""}
    words = [str(cell) if name.startswith(_UNLABELLED) else f"{name.lower()} {cell}" for name, cell in rest.items()]
    if words:
        print_sentence("; ".join(words), indent=4)


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
    from assignor_lab.documents.wording import listed, moment, plural
    from assignor_lab.scenarios.topology_provenance import TOPOLOGY_CONFLICT

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
        if sentence.startswith(TOPOLOGY_CONFLICT):
            continue  # noted when it was read
        note(f"assumed in decisions with another result: {sentence}")
    same = len(checked) - len(other)
    names = listed(sorted({each.assignor for each in checked})) if checked else "no assignor"
    print_line(f"{same} of {plural(len(checked), 'decision')} equal the recording when {names} decides again")
