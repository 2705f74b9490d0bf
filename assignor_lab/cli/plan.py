"""``assignor plan``: the cost of a coming change of a running Streams or Connect group."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assignor_lab.cli.one_state import StateId
from assignor_lab.cli.options import Client, ConfigFile, Json, Overrides, Processes, RackFiles, Release, Seed, sources
from assignor_lab.cli.output_files import junit_file, report_file
from assignor_lab.cli.past_options import Dates, Day, TimingsFile, Topology, WorkloadFile, Zone
from assignor_lab.cli.plan_best import AtMost, Best, Form, May, Minimize, SearchPlays, best_of, print_best, write_best
from assignor_lab.cli.plan_scaling import (
    CapacityOption,
    LagOption,
    LoadFile,
    Policies,
    input_terms,
    print_scaling,
    scaling_document,
    scaling_of,
    write_scaling,
)
from assignor_lab.cli.play_progress import Master, Remote, plays_elsewhere, shown_plays
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.cli.present_group import ReadGroup
    from assignor_lab.planning.making import Options
    from assignor_lab.planning.past_record import PastRecord
    from assignor_lab.planning.plans import Plan, Wait
    from assignor_lab.planning.predict import Terms
    from assignor_lab.planning.predicted import Prediction
    from assignor_lab.planning.state import PresentState
    from assignor_lab.planning.variants import Make, PlanVariant
    from assignor_lab.planning.words import Answer
    from assignor_lab.scenarios import Scenario

__all__ = ["register"]

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="The group as it is: a file of capture or import (- is the standard input), the log of a leader, or a "
        "folder of record; the last decision counts.",
    ),
]
PlanName = Annotated[
    Literal["roll", "scale", "kill", "upgrade", "upgrade-protocol", "broker-roll", "script"],
    typer.Argument(
        metavar="PLAN",
        help="roll, scale, kill INSTANCE, upgrade, upgrade-protocol, broker-roll, or script FILE.",
    ),
]
Subject = Annotated[
    str | None, typer.Argument(metavar="[INSTANCE|FILE]", help="kill: the instance; script: the file of its steps.")
]
Order = Annotated[str, typer.Option("--order", metavar="A,B,C", help="roll: the instances in their order.")]
Only = Annotated[str, typer.Option("--only", metavar="A,B", help="roll: only these instances.")]
Batch = Annotated[
    str, typer.Option("--batch", metavar="N|all", help="roll: instances that restart together, such as 2, or all.")
]
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
Poll = Annotated[
    float | None,
    typer.Option("--poll-seconds", metavar="S", min=0, help="Consumers: records of a poll times the time of each."),
]
Revoke = Annotated[
    float | None, typer.Option("--revoke-seconds", metavar="S", min=0, help="Consumers: time of onPartitionsRevoked.")
]
WaitFor = Annotated[
    str, typer.Option("--wait", metavar="ready|calm|S", help="The end of a step: RUNNING, at rest, or S seconds.")
]
Surge = Annotated[int, typer.Option("--surge", metavar="N", min=0, help="roll: start N new instances first.")]
Leave = Annotated[bool, typer.Option("--leave", help="Close with LEAVE_GROUP: members leave the group at once.")]
Replace = Annotated[bool, typer.Option("--replace", help="roll: new processes with empty disks.")]
Stuck = Annotated[int, typer.Option("--stuck", metavar="N", min=0, help="roll: step N never becomes ready.")]
CrashIn = Annotated[int, typer.Option("--crash-in", metavar="N", min=0, help="roll: another instance dies in step N.")]
Brokers = Annotated[
    int, typer.Option("--brokers", metavar="N", min=1, max=1000, help="broker-roll: brokers that restart in turn.")
]
UpgradeFrom = Annotated[
    str | None, typer.Option("--upgrade-from", metavar="VERSION", help="roll: release of Kafka that runs now.")
]
To = Annotated[
    str,
    typer.Option(
        "--to", metavar="N|A..B|RELEASE", help="scale: number of instances, or 4..24. upgrade: release of Kafka."
    ),
]
Leaving = Annotated[str, typer.Option("--leaving", metavar="A,B", help="scale: the instances that go.")]
NewThreads = Annotated[
    int | None, typer.Option("--new-threads", metavar="N", min=1, help="scale: threads of new instances.")
]
NewRack = Annotated[str | None, typer.Option("--new-rack", metavar="RACK", help="scale: rack of new instances.")]
NewTags = Annotated[
    list[str] | None, typer.Option("--new-tag", metavar="KEY=VALUE", help="scale: client tag of new instances.")
]
BackAfter = Annotated[
    float | None, typer.Option("--back-after", metavar="S", min=0, help="kill: seconds until the process starts again.")
]
Wipe = Annotated[bool, typer.Option("--wipe", help="kill: the disk is lost, too.")]
Assignor = Annotated[
    str | None, typer.Option("--assignor", metavar="NAME", help="The assignor; by default the group's own.")
]
Variants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="NAME=ASSIGNOR,KEY=VALUE",
        help="The plan under other settings, in place of the usual ones; group.protocol and timeouts are keys, too.",
    ),
]
Plays = Annotated[int, typer.Option("--plays", metavar="N", min=1, help="How often the plan is played.")]
NoVariants = Annotated[bool, typer.Option("--no-variants", help="The plan as it is, and no other settings.")]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="EXPR",
        help="Exit with 1 if a figure of the JSON is so, such as 'total.worst_task_seconds.high > 30'; repeatable.",
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write the results of --fail-if as JUnit.", callback=junit_file),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE", help="Write a page with a timeline of the tasks, too: HTML.", callback=report_file
    ),
]


_OF_SUBJECT = {"kill": "the instance: plan SOURCE kill INSTANCE", "script": "its file: plan SOURCE script FILE"}


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("plan")(_plan)


def _plan(
    source: Source,
    plan_name: PlanName,
    subject: Subject = None,
    order: Order = "",
    only: Only = "",
    batch: Batch = "1",
    best: Best = False,
    at_most: AtMost = None,
    minimize: Minimize = "duration_seconds",
    may: May = None,
    form: Form = "text",
    search_plays: SearchPlays = 2_000,
    down_seconds: Down = 0,
    start_seconds: Start = None,
    poll_seconds: Poll = None,
    revoke_seconds: Revoke = None,
    wait: WaitFor = "ready",
    surge: Surge = 0,
    leave: Leave = False,
    replace: Replace = False,
    stuck: Stuck = 0,
    crash_in: CrashIn = 0,
    upgrade_from: UpgradeFrom = None,
    brokers: Brokers = 3,
    to: To = "",
    leaving: Leaving = "",
    new_threads: NewThreads = None,
    new_rack: NewRack = None,
    new_tag: NewTags = None,
    capacity: CapacityOption = None,
    lag: LagOption = None,
    load: LoadFile = None,
    policy: Policies = None,
    back_after: BackAfter = None,
    wipe: Wipe = False,
    assignor: Assignor = None,
    client: Client = None,
    variant: Variants = None,
    plays: Plays = 20,
    seed: Seed = 0,
    processes: Processes = 0,
    master: Master = None,
    remote: Remote = None,
    no_variants: NoVariants = False,
    fail_if: FailIf = None,
    junit: Junit = None,
    report: ReportFile = None,
    state_id: StateId = None,
    config: ConfigFile = None,
    c: Overrides = None,
    release: Release = None,
    racks: RackFiles = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    workload: WorkloadFile = None,
    timings: TimingsFile = None,
    json: Json = False,
) -> None:
    """Predict the cost of a coming change: restarts, scaling, a kill, the move to the streams protocol.

    The plan is played many times from the captured state; unknown facts are drawn anew in each play.
    """
    import attrs

    from assignor_lab.cli.plan_members import connect_answer, consumer_answer
    from assignor_lab.cli.plan_past import past_of_group
    from assignor_lab.cli.present_group import read_group
    from assignor_lab.planning.connect_state import is_connect_state
    from assignor_lab.planning.consumer_state import is_consumer_state
    from assignor_lab.planning.gates import parse_plan_gate
    from assignor_lab.planning.making import Options, PlanError
    from assignor_lab.planning.measured import play_document, play_from
    from assignor_lab.planning.orders.making import WantedOrder, check_wanted
    from assignor_lab.planning.orders.words import best_document
    from assignor_lab.planning.predict import predict_from, predicted_by
    from assignor_lab.planning.scaling.answer import InputTerms
    from assignor_lab.planning.scaling.counts import is_several
    from assignor_lab.planning.starts import parse_starts
    from assignor_lab.planning.words import answer_document
    from assignor_lab.verification.words import document_of as document_of_verification
    from assignor_lab.verification.words import sentences

    start_ms, starts = (None, None) if start_seconds is None else parse_starts(start_seconds)
    options = Options(
        order=_names(order),
        only=_names(only),
        batch=_batch(batch),
        down_ms=_ms(down_seconds),
        start_ms=start_ms,
        starts=starts,
        poll_ms=None if poll_seconds is None else _ms(poll_seconds),
        revoke_ms=None if revoke_seconds is None else _ms(revoke_seconds),
        wait=_wait(wait),
        leave=leave,
        surge=surge,
        replace=replace,
        stuck=stuck,
        crash_in=crash_in,
        upgrade_from=upgrade_from,
        brokers=brokers,
        to=0 if plan_name == "upgrade" or (plan_name == "scale" and is_several(to)) else _number(to),
        to_release=(to or None) if plan_name == "upgrade" else None,
        leaving=_names(leaving),
        back_after_ms=None if back_after is None else _ms(back_after),
        wipe=wipe,
        new_threads=new_threads,
        new_rack=new_rack,
        new_tags=dict(_tag(each) for each in new_tag or ()),
    )
    of_input = input_terms(capacity, lag, load)
    has_several = plan_name == "scale" and bool(is_several(to) or of_input != InputTerms() or policy)
    if has_several and (master or remote):
        raise PlanError("--master and --remote are for one plan: the counts of a range are played on this machine")
    if (of_input != InputTerms() or policy) and not has_several:
        raise PlanError(
            "--capacity, --lag, --load and --policy are options of scale: write plan SOURCE scale --to 4..24"
        )
    wanted = WantedOrder(minimize, tuple(at_most or ()), tuple(may or ()), search_plays)
    check_wanted(plan_name, options, wanted, is_best=best, has_others=bool(variant or master or remote), form=form)
    given = sources(config, c, release)
    read = read_group(source, state_id, given, racks, topology, timezone, workload, timings, assignor, dates, day)
    if client is not None:
        read = attrs.evolve(read, terms=attrs.evolve(read.terms, client=client))
    gates = [parse_plan_gate(text) for text in fail_if or ()]
    verification = read.sample.verified(read.verified_under)
    if not json:
        for sentence in sentences(verification):
            (print_sentence if form == "text" else note)(sentence)
    workers, checked = processes or os.cpu_count() or 1, document_of_verification(verification)
    if best:
        with shown_plays(None) as on_play:
            found, assumptions = best_of(read, options, wanted, plays, seed, workers, on_play)
        document = {**best_document(found, source, seed, assumptions), "verified": checked}
        show, write = (
            partial(print_best, found, assumptions, form),
            partial(write_best, found, source, seed, assumptions),
        )
    elif has_several:
        with shown_plays(None) as on_play:
            counted = scaling_of(
                source,
                read,
                options,
                to,
                of_input,
                plays,
                seed,
                workers,
                on_play,
                policy or (),
            )
        document = scaling_document(counted, checked)
        show, write = partial(print_scaling, counted), partial(write_scaling, counted)
    else:
        with shown_plays(None) as on_play, plays_elsewhere(master, remote) as there:
            runs = None if there is None else partial(there, written=play_document, read=play_from)
            texts = None if no_variants else variant or []
            if is_connect_state(read.scenario) or is_consumer_state(read.scenario):
                predict = partial(predicted_by, plays=plays, processes=workers, on_play=lambda _: on_play(), runs=runs)
                made = consumer_answer if is_consumer_state(read.scenario) else connect_answer
                past = past_of_group(source, read, verification, workers, seed, options)
                answer = made(source, read, plan_name, subject, options, texts, seed, predict, past)
            else:
                how = partial(
                    predict_from, plays=plays, seed=seed, processes=workers, on_play=lambda _: on_play(), runs=runs
                )
                past_of = partial(past_of_group, source, read, verification, workers, seed)
                answer = _answer(source, read, plan_name, subject, options, texts, plays, seed, how, past_of)
        answer = _with_findings(answer, read.scenarios, keeps_all=bool(variant))
        document = answer_document(answer, checked)
        show, write = partial(_print, answer), partial(_write, answer)
    results = [gate.judged(document) for gate in gates]
    if json:
        print_json({**document, **({"gates": results} if gates else {})})
    else:
        show()
    for each in results:
        if each["status"] != "passed":
            note(f"{each['expression']}: {each['reason']}")
    if report is not None:
        write(list(sentences(verification)), report)
    if junit is not None:
        from assignor_lab.model.comparisons import Verdict
        from assignor_lab.scoring.gates.junit import write_junit

        name = plan_name
        judged = [
            Verdict(assignor=name, states=0, **{key: each[key] for key in ("expression", "status", "reason")})
            for each in results
        ]
        write_junit(judged, junit, "assignor plan")
    if any(each["status"] != "passed" for each in results):
        raise typer.Exit(1)


def _write(answer: Answer, verified: list[str], file: Path) -> None:
    from assignor_lab.planning.past_record import record_sentences
    from assignor_lab.report.plan_page import write_plan_page

    known = [] if answer.past is None else record_sentences(answer.past)
    write_plan_page(answer, [*verified, *known], file)


def _answer(
    source: str,
    read: ReadGroup,
    plan_name: str,
    subject: str | None,
    options: Options,
    texts: list[str] | None,
    plays: int,
    seed: int,
    how: Callable[..., Prediction],
    past_of: Callable[[Options], PastRecord | None],
) -> Answer:
    from assignor_lab.cli.plan_rest import played_loop
    from assignor_lab.planning.instances import with_names
    from assignor_lab.planning.making import PlanError
    from assignor_lab.planning.naive import naive_estimate
    from assignor_lab.planning.starts import options_with_starts
    from assignor_lab.planning.variants import PlanVariant, as_accepted, differing_assumptions, releases_of
    from assignor_lab.planning.words import Answer

    group = read.present()
    terms = group.terms
    timings, are_known = group.state.episode.timings, bool(terms.timings)
    options = options_with_starts(options, lambda: read.past, timings, are_known=are_known)
    state, labelled = with_names(
        group.state, [*options.order, *options.leaving, *([subject] if subject and plan_name == "kill" else [])]
    )
    made = _made(plan_name, subject, state, options)
    make = partial(_made, plan_name, subject)
    chosen = [] if texts is None else _chosen(texts, state, options, made, terms, make)
    as_it_is, *chosen = map(as_accepted, [PlanVariant("as it is", state, made, terms), *chosen])
    past = past_of(options)
    found = dict(_predicted([as_it_is, *chosen], plays, partial(how, past=past)))
    prediction = found.pop(as_it_is.name)
    if isinstance(prediction, str):
        raise PlanError(prediction)
    return Answer(
        source,
        made,
        len(prediction.plays),
        seed,
        prediction,
        naive_estimate(state, made),
        found,
        [
            *labelled,
            *made.assumptions,
            *_named_assignor(terms),
            *as_it_is.state.episode.assumptions,
            *differing_assumptions(as_it_is, chosen),
        ],
        releases_of(as_it_is),
        past,
        None if prediction.rest_seconds is not None else played_loop(as_it_is.state, as_it_is.plan, terms, seed),
    )


def _with_findings(answer: Answer, scenarios: Iterable[Scenario], *, keeps_all: bool) -> Answer:
    """With the loop in which the past ends, and without usual variants that change nothing."""
    import attrs

    from assignor_lab.cli.plan_rest import recorded_loop
    from assignor_lab.planning.variants import without_effect

    answer = attrs.evolve(answer, restless=recorded_loop(scenarios) or answer.restless)
    if keeps_all or not (left_out := without_effect(answer.prediction, answer.variants)):
        return answer
    kept = {name: each for name, each in answer.variants.items() if name not in left_out}
    words = tuple(f"{name}: " for name in left_out)
    assumed = [each for each in answer.assumptions if not each.startswith(words)]
    return attrs.evolve(answer, variants=kept, without_effect=left_out, assumptions=assumed)


def _chosen(
    texts: list[str], state: PresentState, options: Options, plan: Plan, terms: Terms, make: Make
) -> list[PlanVariant]:
    from assignor_lab.groups.variants import variants_of
    from assignor_lab.planning.variants import given_variant, usual_variants

    if texts:
        return [given_variant(each, state, options, terms, make) for each in variants_of((), texts)]
    return list(usual_variants(state, options, plan, terms, make))


def _predicted(
    variants: list[PlanVariant], plays: int, how: Callable[[PresentState, Plan, Terms], Prediction]
) -> Iterator[tuple[str, Prediction | str]]:
    """Name to the prediction of each variant, or to the reason against its play; Ctrl-C ends them."""
    from assignment_api import AssignorLabError

    for each in variants:
        try:
            made = how(each.state, each.plan, each.terms)
        except KeyboardInterrupt:
            if each is variants[0]:
                raise
            note(f"interrupted before {each.name}: the results so far follow")
            return
        except AssignorLabError as error:
            yield each.name, str(error)
        else:
            yield each.name, made
            if made.is_interrupted:
                note(f"interrupted after {len(made.plays)} of {plays} plays of {each.name}: the results so far follow")
                return


def _number(text: str) -> int:
    if text and not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise typer.BadParameter(f"{text!r:.40} is no number of instances", param_hint="--to")
    return int(text or 0)


def _named_assignor(terms: Terms) -> list[str]:
    """A sentence on the assignor of all plays, if the command named one."""
    if terms.assignor is None:
        return []
    return [f"{terms.assignor} decides in every play (--assignor), whatever the group runs: 'as it is' means the rest"]


def _made(name: str, subject: str | None, state: PresentState, options: Options) -> Plan:
    import attrs

    from assignor_lab.planning.making import (
        broker_roll_plan,
        check_options,
        kill_plan,
        roll_plan,
        scale_plan,
        upgrade_plan,
        upgrade_protocol_plan,
    )
    from assignor_lab.planning.script import script_plan

    if (subject is None) == (name in _OF_SUBJECT):
        message = f"{name} takes no {subject!r}" if subject is not None else f"{name} needs {_OF_SUBJECT[name]}"
        raise typer.BadParameter(message, param_hint="PLAN")
    check_options(name, options)
    if name == "script" and subject is not None:
        return attrs.evolve(script_plan(state, Path(subject), options), starts=options.starts)
    if name == "kill" and subject is not None:
        return attrs.evolve(kill_plan(state, subject, options), starts=options.starts)
    plans = {
        "roll": roll_plan, "upgrade": upgrade_plan, "scale": scale_plan, "upgrade-protocol": upgrade_protocol_plan,
        "broker-roll": broker_roll_plan,
    }  # fmt: skip
    return attrs.evolve(plans[name](state, options), starts=options.starts)


def _print(answer: Answer) -> None:
    from assignor_lab.planning.past_record import record_sentences
    from assignor_lab.planning.words import (
        by_connector,
        causes,
        columns_of,
        doubts,
        effect_sentence,
        failures,
        later_sentence,
        rest_sentence,
        step_rows,
        the_sentence,
        variant_columns_of,
        variant_rows,
    )

    for sentence in answer.assumptions:
        note(f"assumed: {sentence}")
    for sentence in answer.releases:
        note(sentence)
    if answer.restless is not None:
        print_sentence(answer.restless)
    for sentence in () if answer.past is None else record_sentences(answer.past):
        print_sentence(sentence)
    print_sentence(the_sentence(answer))
    for sentence in failures(answer.prediction):
        print_sentence(sentence)
    for sentence in doubts(answer.prediction):
        print_sentence(sentence)
    if causes_sentence := causes(answer.prediction):
        print_sentence(causes_sentence)
    if connectors := by_connector(answer.prediction):
        print_sentence(connectors)
    for further in (rest_sentence(answer), later_sentence(answer.prediction), effect_sentence(answer)):
        if further is not None:
            print_sentence(further)
    if answer.naive.worst_task_seconds is not None:
        print_line(f"Naive estimate of the worst task: {answer.naive.worst_task_seconds:.1f} s.")
    console().print(table(columns_of(answer.prediction), step_rows(answer.prediction)))
    if answer.variants:
        console().print(table(variant_columns_of(answer.prediction), variant_rows(answer)))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _batch(text: str) -> int:
    if text == "all":
        return sys.maxsize
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0 and len(text) < 10):
        raise typer.BadParameter(f"{text!r:.40}: give a number of instances, from 1, or all", param_hint="--batch")
    return int(text)


def _wait(text: str) -> Wait:
    from assignor_lab.planning.plans import CALM, READY

    if text == READY:
        return READY
    if text == CALM:
        return CALM
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:
        raise typer.BadParameter(f"{text!r:.40}: give ready, calm, or seconds up to 86400", param_hint="--wait")
    return _ms(seconds)


def _tag(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise typer.BadParameter(f"{text!r:.80}: write KEY=VALUE", param_hint="--new-tag")
    return key, value
