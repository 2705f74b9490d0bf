"""``assignor advise``: the settings to run a group with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    from assignor_lab.advising.advice import Advice, Effort
    from assignor_lab.advising.group import AdvisedGroup
    from assignor_lab.advising.mix import Mix
    from assignor_lab.advising.space import Space
    from assignor_lab.opened.reading import ReadGroup
    from assignor_lab.planning.making import Options
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
    from assignor_lab.advising.advice import Effort, advise, player
    from assignor_lab.advising.choice import Aims, parse_limit
    from assignor_lab.advising.figures import cost_from, document_of_cost
    from assignor_lab.advising.mix import mix_sentence, read_mix
    from assignor_lab.advising.played_days import kept
    from assignor_lab.advising.space import narrowed, read_within, release_of, with_own_settings
    from assignor_lab.advising.words import advice_document
    from assignor_lab.cli.present_group import read_group
    from assignor_lab.planning.making import Options
    from assignor_lab.planning.starts import parse_starts
    from assignor_lab.verification.words import document_of as document_of_verification
    from assignor_lab.verification.words import sentences

    if not scaling and (to or capacity or lag is not None or load or scaled_object):
        raise typer.BadParameter("--to, --capacity, --lag, --load and --scaled-object need --scaling")
    aims = Aims(_objectives(objective), tuple(parse_limit(text) for text in at_most or ()))
    given_mix = None if mix is None else read_mix(mix)
    effort = Effort(configurations, days, hours, seed)
    ran = None if release is None else release_of(release)
    limits = {} if within is None else read_within(within)
    given = sources(config, with_prices(c or [], prices))
    group = read_group(source, state_id, given, racks, topology, timezone, workload, timings, assignor, dates, day)
    start_ms, starts = (None, None) if start_seconds is None else parse_starts(start_seconds)
    options = Options(
        batch=batch,
        down_ms=round(down_seconds * 1000),
        start_ms=start_ms,
        starts=starts,
        leave=leave,
    )
    name = str((group.scenario.source or {}).get("group", group.scenario.id))
    if scaling:
        terms = input_terms(capacity, lag, load)
        checked = document_of_verification(_verified(group, source, name, as_json=json))
        advise_scaling(source, name, group, options, to, terms, seed, checked, scaled_object, as_json=json)
        return
    advised, used_mix, whole, known = _advised(group, options, given_mix, ran)
    fixed = _fixed(fix)
    wanted = {**{key: [value] for key, value in fixed.items()}, **limits}
    whole = with_own_settings(whole, wanted, group.terms.registry, given.effective(group.scenario.config))
    space = narrowed(whole, fixed, limits)
    verification = _verified(group, source, name, as_json=json)
    verified = document_of_verification(verification)
    with shown_plays(None) as on_play, plays_elsewhere(master, remote) as there:
        runs = None if there is None else partial(there, written=document_of_cost, read=cost_from)
        play = player(advised, used_mix, space, effort, processes or os.cpu_count() or 1, on_play, runs)
        if resume is not None:
            play = kept(play, resume, _race_terms(group, options, used_mix, space, effort))
        advice = advise(advised, used_mix, space, aims, effort, play)
    if advice.is_interrupted:
        note("interrupted: the results so far follow")
    assumptions = list(dict.fromkeys([mix_sentence(used_mix), *known]))
    if json:
        print_json(advice_document(advice, source, name, verified, assumptions))
    else:
        _print(advice, name, assumptions)
    if report is not None:
        from assignor_lab.report.advice_page import write_advice_page

        write_advice_page(advice, source, name, sentences(verification), assumptions, report)


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


def _race_terms(group: ReadGroup, options: Options, mix: Mix, space: Space, effort: Effort) -> dict[str, Any]:
    """Everything that decides the cost of a day under a configuration, for the file of ``--resume``."""
    import attrs

    terms = group.terms
    return {
        "version": version("assignor-lab"),
        "state": _document(group),
        "workload": None if terms.workload is None else terms.workload.read_text(encoding="utf-8"),
        "config": terms.sources.effective().values_for(""),
        "settings": dict(terms.settings),
        "timings": terms.timings,
        "assignor": terms.assignor,
        "options": attrs.asdict(options),
        "mix": attrs.asdict(mix),
        "present": dict(space.present),
        "hours": effort.hours,
        "seed": effort.seed,
    }


def _document(group: ReadGroup) -> object:
    from assignor_lab.planning.connect_state import is_connect_state
    from assignor_lab.planning.consumer_state import is_consumer_state

    has_plays = is_connect_state(group.scenario) or is_consumer_state(group.scenario)
    return group.scenario.document if has_plays else group.present().scenario.document


def _advised(
    group: ReadGroup, options: Options, given_mix: Mix | None, release: tuple[int, int] | None
) -> tuple[AdvisedGroup, Mix, Space, Sequence[str]]:
    """The group, the mix of its events, the settings that may change, and assumptions."""
    import attrs

    from assignor_lab.advising.configurations import AdvisedState
    from assignor_lab.advising.connect_group import connect_group, connect_space
    from assignor_lab.advising.connect_past import connect_past
    from assignor_lab.advising.consumer_group import advised_consumers, consumer_space
    from assignor_lab.advising.mix import DEFAULT_MIX
    from assignor_lab.advising.past import past_of
    from assignor_lab.advising.space import space_of
    from assignor_lab.advising.streams_group import AdvisedStreamsGroup
    from assignor_lab.planning.connect_state import is_connect_state
    from assignor_lab.planning.consumer_state import is_consumer_state
    from assignor_lab.planning.starts import options_with_starts

    if is_connect_state(group.scenario):
        workers = connect_group(group.scenario, group.terms, options)
        worked = connect_past(group.scenarios)
        mix = given_mix or (None if worked is None else worked.mix) or DEFAULT_MIX
        if worked is not None:
            workers = attrs.evolve(workers, second=worked.second)
        seen = () if worked is None else worked.sentences
        return workers, mix, connect_space(workers, mix), [*seen, *workers.assumptions]
    if is_consumer_state(group.scenario):
        consumers = advised_consumers(group.scenario, group.terms, options)
        mix = given_mix or DEFAULT_MIX
        return consumers, mix, consumer_space(consumers, mix), consumers.state.assumptions
    state, are_known = group.present().state, bool(group.terms.timings)
    options = options_with_starts(options, lambda: group.past, state.episode.timings, are_known=are_known)
    subject = AdvisedState(state, group.terms, options)
    past = past_of(group.scenarios, group.terms.settings, group.terms.timings)
    mix = given_mix or (None if past is None else past.mix) or DEFAULT_MIX
    past_sentences = () if past is None else past.sentences
    starts = [] if options.starts is None else [f"a process joins {options.starts.words}"]
    assumptions = [*past_sentences, *starts, *subject.state.episode.assumptions]
    return AdvisedStreamsGroup(subject, past), mix, space_of(subject, mix, release), assumptions


def _print(advice: Advice, group: str, assumptions: list[str]) -> None:
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


def _objectives(names: list[str] | None) -> tuple[str, ...]:
    from assignor_lab.advising.figures import OBJECTIVES

    chosen = tuple(dict.fromkeys(names or [next(iter(OBJECTIVES))]))
    for name in chosen:
        if name not in OBJECTIVES:
            raise typer.BadParameter(f"{name!r:.80} is none of {', '.join(OBJECTIVES)}", param_hint="--objective")
    return chosen


def _fixed(texts: list[str] | None) -> dict[str, str]:
    found = {}
    for text in texts or ():
        key, _, value = text.partition("=")
        found[key.strip()] = value.strip()
    return found
