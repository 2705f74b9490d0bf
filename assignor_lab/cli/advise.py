"""``assignor advise``: the settings to run a group with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.advise_scaling import Counts, ScaledObjectFile, Scaling, advise_scaling
from assignor_lab.cli.one_state import StateId
from assignor_lab.cli.options import ConfigFile, Json, Overrides, Processes, RackFiles, Seed, sources, with_prices
from assignor_lab.cli.output_files import report_file
from assignor_lab.cli.past_options import Dates, Day, TimingsFile, Topology, WorkloadFile, Zone
from assignor_lab.cli.plan_scaling import CapacityOption, LagOption, LoadFile, input_terms
from assignor_lab.cli.play_progress import Master, Remote, plays_elsewhere, shown_plays
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.advising.advice import Advice
    from assignor_lab.opened.reading import ReadGroup
    from assignor_lab.verification.verified import Verification

__all__ = ["register"]

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="The group: a file of capture or import (- is the standard input), the log of a leader, or a folder "
        "of record.",
    ),
]
MixFile = Annotated[
    Path | None,
    typer.Option(
        "--mix", metavar="FILE", help="TOML: rolls_per_week, scalings_per_week, kills_per_month, stalls_per_day."
    ),
]
ObjectiveNames = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        metavar="NAME",
        help="Repeatable; the first one decides: task_seconds (default), worst_task_seconds, restored_bytes, dollars, "
        "rebalances, disk_bytes.",
    ),
]
AtMost = Annotated[
    list[str] | None,
    typer.Option(
        "--at-most", metavar="NAME=NUMBER", help="Constraint on a figure, such as disk_bytes=2e12; repeatable."
    ),
]
Fix = Annotated[
    list[str] | None,
    typer.Option("--fix", metavar="KEY[=VALUE]", help="A setting that stays, or that gets this value; repeatable."),
]
Within = Annotated[
    Path | None, typer.Option("--within", metavar="FILE", help="TOML: settings with the values that they may have.")
]
Release = Annotated[
    str | None,
    typer.Option("--release", metavar="VERSION", help="Release of Kafka of the instances, such as 4.2."),
]
Configurations = Annotated[
    int,
    typer.Option("--configurations", metavar="N", min=2, max=5_000, help="Configurations at the start."),
]
Days = Annotated[
    int, typer.Option("--days", metavar="N", min=2, max=1_000, help="Days of the last round, and of the judgement.")
]
Hours = Annotated[float, typer.Option("--hours", metavar="H", min=1, max=168, help="Length of a day in the race.")]
Down = Annotated[
    float, typer.Option("--down-seconds", metavar="S", min=0, help="From the end of a process to the next start.")
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start-seconds",
        metavar="S",
        help="From the start of a process to its first join, as 8, or 6..16 for the bounds of 90 % of starts.",
    ),
]
Leave = Annotated[bool, typer.Option("--leave", help="The instances close with LEAVE_GROUP already.")]
Batch = Annotated[int, typer.Option("--batch", metavar="N", min=1, help="Instances that restart together at present.")]
Assignor = Annotated[
    str | None, typer.Option("--assignor", metavar="NAME", help="The present assignor; by default the group's own.")
]

PriceFile = Annotated[
    Path | None, typer.Option("--prices", metavar="FILE", help="Prices of traffic between zones and of disks: TOML.")
]
Resume = Annotated[
    Path | None,
    typer.Option("--resume", metavar="FILE", help="Keep each played day in FILE, and play no day that is there."),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Write a page with the Pareto front, too: HTML.", callback=report_file
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("advise")(_advise)


def _advise(
    source: Source,
    scaling: Scaling = False,
    to: Counts = "",
    capacity: CapacityOption = None,
    lag: LagOption = None,
    load: LoadFile = None,
    scaled_object: ScaledObjectFile = None,
    mix: MixFile = None,
    objective: ObjectiveNames = None,
    at_most: AtMost = None,
    fix: Fix = None,
    within: Within = None,
    release: Release = None,
    configurations: Configurations = 60,
    days: Days = 8,
    hours: Hours = 24,
    down_seconds: Down = 0,
    start_seconds: Start = None,
    leave: Leave = False,
    batch: Batch = 1,
    assignor: Assignor = None,
    seed: Seed = 0,
    processes: Processes = 0,
    master: Master = None,
    remote: Remote = None,
    resume: Resume = None,
    prices: PriceFile = None,
    report: ReportFile = None,
    state_id: StateId = None,
    config: ConfigFile = None,
    c: Overrides = None,
    racks: RackFiles = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    workload: WorkloadFile = None,
    timings: TimingsFile = None,
    json: Json = False,
) -> None:
    """Choose the settings of a group: configurations race on days with deployments, crashes and stalls.

    The winner is judged on days that the race did not see; keeping the present settings is an answer.
    """
    from assignor_lab.advising.advice import Effort
    from assignor_lab.advising.choice import aims_of
    from assignor_lab.advising.figures import cost_from, document_of_cost
    from assignor_lab.advising.mix import read_mix
    from assignor_lab.advising.space import fixed_settings, read_within, release_of
    from assignor_lab.advising.words import advice_document
    from assignor_lab.cli.present_group import read_group
    from assignor_lab.opened.advice import AdviceCase, AdviceQuestion
    from assignor_lab.opened.plan_words import PlanWords, plan_options
    from assignor_lab.verification.words import document_of as document_of_verification
    from assignor_lab.verification.words import sentences

    if not scaling and (to or capacity or lag is not None or load or scaled_object):
        raise typer.BadParameter("--to, --capacity, --lag, --load and --scaled-object need --scaling")
    restarts = PlanWords(batch=batch, down_seconds=down_seconds, start_seconds=start_seconds, leave=leave)
    question = AdviceQuestion(
        aims_of(objective or (), at_most or ()),
        Effort(configurations, days, hours, seed),
        plan_options("roll", restarts),
        None if mix is None else read_mix(mix),
        fixed_settings(fix or ()),
        {} if within is None else read_within(within),
        None if release is None else release_of(release),
    )
    given = sources(config, with_prices(c or [], prices))
    group = read_group(source, state_id, given, racks, topology, timezone, workload, timings, assignor, dates, day)
    name = group.name
    if scaling:
        terms = input_terms(capacity, lag, load)
        checked = document_of_verification(_verified(group, source, name, as_json=json))
        advise_scaling(source, name, group, question.options, to, terms, seed, checked, scaled_object, as_json=json)
        return
    case = AdviceCase.of(group, question)
    verification = _verified(group, source, name, as_json=json)
    verified = document_of_verification(verification)
    with shown_plays(None) as on_play, plays_elsewhere(master, remote) as there:
        runs = None if there is None else partial(there, written=document_of_cost, read=cost_from)
        advice = case.advice(processes, on_play, runs, resume)
    if advice.is_interrupted:
        note("interrupted: the results so far follow")
    if json:
        print_json(advice_document(advice, source, name, verified, case.assumptions))
    else:
        _print(advice, name, case.assumptions)
    if report is not None:
        from assignor_lab.report.advice_page import write_advice_page

        write_advice_page(advice, source, name, sentences(verification), case.assumptions, report)


def _verified(group: ReadGroup, source: str, name: str, *, as_json: bool) -> Verification:
    """The check against the group's own decisions, printed; the command ends if none can be reproduced."""
    from assignor_lab.advising.words import refused_document
    from assignor_lab.verification.words import banner, sentences
    from assignor_lab.verification.words import document_of as document_of_verification

    verification = group.sample.verified(group.verified_under)
    if not as_json:
        for sentence in sentences(verification):
            print_sentence(sentence)
    if refused := banner(verification):
        if as_json:
            print_json(refused_document(source, name, document_of_verification(verification), refused))
        note("no advice: the recorded decisions of this group cannot be reproduced")
        raise typer.Exit(1)
    return verification


def _print(advice: Advice, group: str, assumptions: Sequence[str]) -> None:
    from assignor_lab.advising.words import (
        EVENT_COLUMNS,
        change_lines,
        event_rows,
        figure_columns,
        figure_rows,
        remarks,
        the_answer,
        tried_columns,
        tried_rows,
        warnings,
    )

    for sentence in assumptions:
        note(f"assumed: {sentence}")
    for sentence in warnings(advice):
        note(f"warning: {sentence}")
    print_sentence(the_answer(advice))
    for sentence in remarks(advice):
        print_sentence(sentence)
    if lines := change_lines(advice, group):
        print_line()
        for line in lines:
            print_line(line)
    console().print(table(figure_columns(advice), figure_rows(advice)))
    console().print(table(EVENT_COLUMNS, event_rows(advice)))
    title = "Pareto front" if len(advice.aims.objectives) > 1 else "Best configurations"
    print_line(f"{title}, and the present settings, of {len(advice.race.contenders)} configurations:")
    console().print(table(tried_columns(advice), tried_rows(advice, advice.shown)))
