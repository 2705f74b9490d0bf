"""``assignor connect replay``: do our assignors decide as recorded leaders did?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignment_api.connect import ConnectAssignor
    from assignor_lab.capture.logs.connect.processes import WorkerLog
    from assignor_lab.capture.logs.connect.replay import ComparedRound
    from assignor_lab.capture.logs.connect.rounds import ReceivedAssignment, WorkerLife
    from assignor_lab.model.decision import Decision

    _Compared = list[tuple[WorkerLife, list[ComparedRound]]]
    _Received = list[tuple[ReceivedAssignment, bool]]

__all__ = ["register"]

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Logs of the group's workers, plain or gzip, in any order, with DEBUG of "
        "org.apache.kafka.connect.runtime.distributed; every worker can be the leader, so give the logs of all.",
    ),
]

_COLUMNS = ("LOG", "WORKER", "PROCESS", "GROUP", "ROUNDS", "COMPARED", "SAME", "SAME BYTES")
_DIFFERENT = 1


def register(connect: typer.Typer) -> None:
    """Adds the command to ``connect``."""
    connect.command("replay")(_replay_command)


def _replay_command(
    files: Files,
    config: ConfigFile = None,
    c: Overrides = None,
    json: Json = False,
) -> None:
    """Decide every rebalance that a worker led with our assignor, and compare the answer with the worker's own.

    The output names each difference. The exit code is 1 if our assignor decided otherwise and nothing in the recording
    explains it. Logs at INFO alone show each generation: the jobs of each worker, revoked jobs, and delays.
    """
    from assignment_api.connect import MAX_DELAY_KEY
    from assignor_lab.capture.histories.connect_logs import config_loops
    from assignor_lab.capture.logs.connect.documents import replay_document
    from assignor_lab.capture.logs.connect.processes import worker_logs
    from assignor_lab.capture.logs.connect.replay import received_as_answered, replay
    from assignor_lab.capture.logs.connect.rounds import worker_lives
    from assignor_lab.runtime.discovery import discovered

    effective = sources(config, c).effective()
    registry = discovered(effective).registry
    logs = worker_logs(files)
    processes = worker_lives(logs)
    lives = [life for life in processes if life.rounds]
    if not lives:
        _show_generations(files, logs, json=json)
        return

    def configured(name: str, logged: Mapping[str, Any]) -> ConnectAssignor:
        assignor = registry.connect_assignor(name).create()
        assignor.configure({**effective.values_for(name), **logged})
        return assignor

    compared = [(life, replay(life, configured, is_delay_given=MAX_DELAY_KEY in effective)) for life in lives]
    received = received_as_answered(processes, [found for _, rounds in compared for found in rounds])
    if json:
        print_json(replay_document(compared, received))
    else:
        _print(compared, received)
        for sentence in config_loops(logs):
            print_sentence(sentence)
    for life in lives:
        if _delay_matters(life) and life.max_delay_ms is None and MAX_DELAY_KEY not in effective:
            note(f"{life.file}: the log has no {MAX_DELAY_KEY} of {life.worker}; Kafka's default was taken")
    if any(_is_difference(found) for _, rounds in compared for found in rounds):
        raise typer.Exit(_DIFFERENT)


def _show_generations(files: list[str], logs: list[WorkerLog], *, json: bool) -> None:
    """For logs without the inputs of a decision."""
    from assignor_lab.capture.histories.connect_logs import connect_histories
    from assignor_lab.capture.histories.connect_rounds import jobs_document
    from assignor_lab.capture.histories.timeline import event_document
    from assignor_lab.capture.logs.connect.errors import NoRoundError
    from assignor_lab.documents.wording import moment, plural
    from assignor_lab.model.decision import Decision
    from assignor_lab.model.events import ConfigMismatch

    found, problems = connect_histories(logs)
    for sentence in problems:
        note(sentence)
    if not any(each.decisions or any(isinstance(event, ConfigMismatch) for event in each.events) for each in found):
        raise NoRoundError(
            f"{', '.join(files)}: no worker led a rebalance: give the logs of all workers; for a comparison with level "
            "DEBUG for org.apache.kafka.connect.runtime.distributed"
        )
    if json:
        print_json({
            "rounds": 0, "compared": 0, "same": 0, "received": 0, "received_as_answered": 0, "leaders": [],
            "histories": [
                {
                    "group": each.group,
                    "generations": [decision.number for decision in each.decisions],
                    "times_ms": [decision.at.latest_ms for decision in each.decisions],
                    "delays_ms": [decision.allowed_ms for decision in each.decisions],
                    **jobs_document(each),
                    "events": [event_document(event) for event in each.events],
                }
                for each in found
            ],
        })  # fmt: skip
        return
    for each in found:
        print_line(
            f"{each.group}: {plural(len(each.decisions), 'generation')}, not compared: the log has no DEBUG lines"
        )
        for row in each.entries:
            if isinstance(row, Decision):
                _print_generation(row)
            else:
                print_sentence(f"{moment(row.at.latest_ms)}  {row.sentence}")
        if each.decisions:
            print_line("`assignor history` of the same logs shows moved jobs, and times without an owner")


def _print_generation(decision: Decision) -> None:
    from assignor_lab.documents.wording import moment, natural_order, plural

    delay = f", delay {decision.allowed_ms / 1_000:g} s" if decision.allowed_ms else ""
    workers = plural(len(decision.shares), "worker")
    print_sentence(f"{moment(decision.at.latest_ms)}  generation {decision.number}, {workers}{delay}")
    for name, share in decision.shares.items():
        print_sentence(f"{name}: {', '.join(share.active) or 'no job'}", indent=4)
    if waiting := sorted((decision.tasks or frozenset()) - decision.owners.keys(), key=natural_order):
        print_sentence(f"no worker: {', '.join(waiting)}", indent=4)


def _delay_matters(life: WorkerLife) -> bool:
    return any(recorded.protocol.is_incremental for recorded in life.rounds)


def _is_difference(found: ComparedRound) -> bool:
    return found.departure is not None and found.departure.kind.is_difference


def _print(compared: _Compared, received: _Received) -> None:
    from assignor_lab.capture.logs.connect.replay import DepartureKind
    from assignor_lab.documents.wording import plural

    console().print(table(_COLUMNS, [_cells(life, rounds) for life, rounds in compared]))
    rounds = [found for _, listed in compared for found in listed]
    print_line(
        f"{plural(len(rounds), 'round')} recorded, {sum(found.is_compared for found in rounds)} compared, "
        f"{sum(found.is_same for found in rounds)} the same"
    )
    print_line(
        f"{plural(len(received), 'report')} of a worker's work after one of them, "
        f"{sum(same for _, same in received)} as our answer would have it"
    )
    departures = Counter(found.departure.kind for found in rounds if found.departure is not None)
    for kind in DepartureKind:
        if departures[kind]:
            print_line(f"{departures[kind]} {kind.name.lower().replace('_', '-')}: {kind.value}")
    for found in rounds:
        if found.departure is not None and found.departure.detail:
            print_line(f"  {_place(found)}: {found.departure.kind.name.lower()}: {found.departure.detail}")


def _cells(life: WorkerLife, rounds: list[ComparedRound]) -> tuple[object, ...]:
    return (
        life.file,
        life.name,
        life.number,
        life.group,
        len(rounds),
        sum(found.is_compared for found in rounds),
        sum(found.is_same for found in rounds),
        sum(found.same_bytes for found in rounds),
    )


def _place(found: ComparedRound) -> str:
    return f"{found.life.file}:{found.recorded.line}: generation {found.recorded.generation}"
