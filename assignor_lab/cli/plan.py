"""``assignor plan``: the cost of a coming change of a running Streams or Connect group."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assignor_lab.cli.one_state import StateId
from assignor_lab.cli.options import (
    Client,
    ConfigFile,
    Drivers,
    Json,
    Overrides,
    Processes,
    RackFiles,
    Release,
    Seed,
    sources,
)
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
from assignor_lab.cli.text import console, note, print_json, print_sentence, table

if TYPE_CHECKING:
    from assignor_lab.planning.words import Answer

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
    float | None,
    typer.Option("--down-seconds", metavar="S", min=0, help="From the end of a process to the next start."),
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
    typer.Option(
        "--poll-seconds",
        metavar="S",
        min=0,
        help="Streams, consumers: records of a poll times the time of each; a member joins at its next poll.",
    ),
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
    down_seconds: Down = None,
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
    driver: Drivers = None,
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

    from assignor_lab.cli.present_group import read_group
    from assignor_lab.opened.plan_words import PlanWords, plan_options
    from assignor_lab.opened.plans import PlanEffort, plan_answer
    from assignor_lab.opened.unused_options import check_used
    from assignor_lab.planning.gates import parse_plan_gate
    from assignor_lab.planning.making import PlanError
    from assignor_lab.planning.measured import play_document, play_from
    from assignor_lab.planning.orders.making import WantedOrder, check_wanted
    from assignor_lab.planning.orders.words import best_document
    from assignor_lab.planning.scaling.answer import InputTerms
    from assignor_lab.planning.scaling.counts import is_several
    from assignor_lab.planning.words import answer_document
    from assignor_lab.verification.words import document_of as document_of_verification
    from assignor_lab.verification.words import sentences

    is_of_counts = plan_name == "scale" and is_several(to)
    words = PlanWords(
        order=order,
        only=only,
        batch=batch,
        down_seconds=down_seconds,
        start_seconds=start_seconds,
        poll_seconds=poll_seconds,
        revoke_seconds=revoke_seconds,
        wait=wait,
        surge=surge,
        leave=leave,
        replace=replace,
        stuck=stuck,
        crash_in=crash_in,
        upgrade_from=upgrade_from,
        brokers=brokers,
        to="" if is_of_counts else to,
        leaving=leaving,
        new_threads=new_threads,
        new_rack=new_rack,
        new_tags=new_tag or (),
        back_after_seconds=back_after,
        wipe=wipe,
    )
    options = plan_options(plan_name, words)
    of_input = input_terms(capacity, lag, load)
    has_several = plan_name == "scale" and bool(is_of_counts or of_input != InputTerms() or policy)
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
    check_used(read, options)
    if client is not None:
        from assignor_lab.clients.plugins import known_client_assignor, use_drivers
        from assignor_lab.verification.decisions import recorded_assignor

        use_drivers(driver or ())
        leading = known_client_assignor(client, recorded_assignor(read.scenario))
        read = attrs.evolve(read, verified_under=attrs.evolve(read.verified_under, assignor=leading))
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
            effort = PlanEffort(plays, seed, workers, on_play, runs, note)
            texts = None if no_variants else variant or []
            answer = plan_answer(source, read, plan_name, subject, options, texts, verification, effort)
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


def _print(answer: Answer) -> None:
    from assignor_lab.planning.words import answer_sentences, columns_of, step_rows, variant_columns_of, variant_rows

    for sentence in answer.assumptions:
        note(f"assumed: {sentence}")
    for sentence in answer.releases:
        note(sentence)
    for sentence in answer_sentences(answer):
        print_sentence(sentence)
    console().print(table(columns_of(answer.prediction), step_rows(answer.prediction)))
    if answer.variants:
        console().print(table(variant_columns_of(answer.prediction), variant_rows(answer)))
