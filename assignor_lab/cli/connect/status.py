"""``assignor connect status``: the jobs of each worker on a Connect cluster, and faults."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.connect.access import CaFile, Urls, ask
from assignor_lab.cli.contexts import ContextName, urls_of
from assignor_lab.cli.options import Json, Overrides, sources
from assignor_lab.cli.text import console, note, print_json, print_line, table

if TYPE_CHECKING:
    from assignor_lab.connect.remote import ClusterFinding, ClusterState, RemoteConnector

__all__ = ["Probe", "register"]

_CHECK_FAILED = 1
_ANY = "any"
#: With more workers the columns would be too narrow to read.
_MOST_COLUMNS = 6
#: No worker runs it: the worker in the state is the previous one.
_UNASSIGNED, _RUNNING = "UNASSIGNED", "RUNNING"

FailOn = Annotated[
    str,
    typer.Option(
        "--fail-on",
        metavar="KINDS",
        help="End with 1 if there is a finding of these kinds, with commas: failed, unassigned, missing, stale, "
        "restarting, unknown, no-address, no-tasks, imbalance, uneven, clusters, unreachable; or any.",
    ),
]
Probe = Annotated[
    bool,
    typer.Option(
        "--probe/--no-probe",
        help="Test which workers accept connections at their advertised addresses; nothing is sent.",
    ),
]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Read again until each job has a worker, or one has none for longer than the delay; prints each change.",
    ),
]
Every = Annotated[float, typer.Option("--every", metavar="S", min=0.05, help="With --watch: seconds between reads.")]


def register(connect: typer.Typer) -> None:
    """Adds the command to ``connect``."""
    connect.command("status")(_status)


def _status(
    url: Urls = None,
    context: ContextName = None,
    ca_file: CaFile = None,
    fail_on: FailOn = "",
    probe: Probe = True,
    watch: Watch = False,
    every: Every = 5.0,
    c: Overrides = None,
    json: Json = False,
) -> None:
    """Show the jobs of each worker of a Connect cluster, with failed, waiting, stale and unbalanced ones marked.

    Any Kafka Connect, or `assignor connect serve`. Only reads. REST does not report the workers' delay: give it as
    -c scheduled.rebalance.max.delay.ms=MS if it is not Kafka's default.
    """
    from assignor_lab.connect.remote import FINDINGS, cluster_document, find

    url = urls_of(url, context)
    wanted = _kinds(fail_on, tuple(FINDINGS))
    delay = _max_delay_ms(c)
    state = _read(url, ca_file, probe=probe) if not watch else _watched(url, ca_file, delay, every, probe=probe)
    findings = find(state, delay)
    if json:
        print_json(cluster_document(state, findings))
    else:
        _print(state, findings)
    for sentence in state.notes:
        note(sentence)
    if any(finding.kind in wanted for finding in findings):
        raise typer.Exit(_CHECK_FAILED)


def _max_delay_ms(overrides: list[str] | None) -> int | None:
    from assignment_api.connect import MAX_DELAY_KEY

    effective = sources(None, overrides).effective()
    return int(effective.values_for("connect_incremental")[MAX_DELAY_KEY]) if MAX_DELAY_KEY in effective else None


def _read(url: list[str], ca_file: Path | None, *, probe: bool) -> ClusterState:
    from assignor_lab.connect.remote import read_cluster

    return ask(url, ca_file, lambda rest: read_cluster(rest, probe=probe))


def _watched(url: list[str], ca_file: Path | None, delay: int | None, every: float, *, probe: bool) -> ClusterState:
    """The last of the states read."""
    from assignor_lab.connect.remote import DEFAULT_MAX_DELAY_MS, WaitingJobs

    waiting = WaitingJobs(DEFAULT_MAX_DELAY_MS if delay is None else delay)
    while True:
        state = _read(url, ca_file, probe=probe)
        for line in waiting.look(state):
            note(line)
        if waiting.is_stale(state):
            note(
                "without a worker for longer than scheduled.rebalance.max.delay.ms allows: the state is stale "
                "(KAFKA-12525; a restart of the task writes a new one), or rebalances do not end"
            )
            return state
        if not waiting.since_ms:
            return state
        time.sleep(every)


def _kinds(text: str, known: Sequence[str]) -> frozenset[str]:
    kinds = [kind.strip() for kind in text.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in (*known, _ANY):
            raise typer.BadParameter(f"{kind!r:.80}: use {', '.join(known)} or any", param_hint="--fail-on")
    return frozenset(known if _ANY in kinds else kinds)


def _print(state: ClusterState, findings: Sequence[ClusterFinding]) -> None:
    from assignor_lab.documents.wording import plural

    tasks = sum(len(each.tasks or ()) for each in state.connectors)
    cluster = f", Kafka cluster {state.cluster_id}" if state.cluster_id else ""
    print_line(f"{state.url}: Kafka Connect {state.version}{cluster}")
    workers = plural(len(state.workers), "worker")
    print_line(f"{plural(len(state.connectors), 'connector')} with {plural(tasks, 'task')} on {workers}")
    console().print(table(("WORKER", "LIVES", "CONNECTORS", "TASKS", "FAILED"), _worker_rows(state)))
    if state.connectors:
        if len(state.workers) <= _MOST_COLUMNS:
            columns = ["CONNECTOR", "TYPE", *(worker.worker_id for worker in state.workers), "NOBODY"]
            console().print(table(columns, [_matrix_row(state, each) for each in state.connectors]))
        else:
            console().print(
                table(("CONNECTOR", "TYPE", "RUNS ON"), [_list_row(state, each) for each in state.connectors])
            )
        print_line("C is the connector's instance, numbers are tasks; states other than RUNNING are shown")
    if not findings:
        print_line("nothing to point out")
        return
    rows = [(each.kind, each.job, each.worker or "", each.detail) for each in findings]
    console().print(table(("FINDING", "JOB", "WORKER", "WHAT"), rows))


def _worker_rows(state: ClusterState) -> Iterable[tuple[object, ...]]:
    from assignor_lab.connect.remote.findings import loads

    held = loads(state)
    lives = {True: "yes", False: "no", None: "?"}
    for worker in state.workers:
        connectors, tasks = held[worker.worker_id]
        failed = sum(
            instance.state == "FAILED" and instance.worker_id == worker.worker_id
            for each in state.connectors
            for instance in each.instances()
        )
        yield worker.worker_id, lives[worker.answers], len(connectors), len(tasks), failed or ""


def _matrix_row(state: ClusterState, connector: RemoteConnector) -> tuple[object, ...]:
    cells = [_cell(connector, worker.worker_id) for worker in state.workers]
    return connector.name, connector.type, *cells, _cell(connector, None)


def _list_row(state: ClusterState, connector: RemoteConnector) -> tuple[object, ...]:
    places: list[tuple[str | None, str]] = [(worker.worker_id, worker.worker_id) for worker in state.workers]
    cells = [(name, cell) for who, name in [*places, (None, "nobody")] if (cell := _cell(connector, who))]
    return connector.name, connector.type, "; ".join(f"{name}: {cell}" for name, cell in cells)


def _cell(connector: RemoteConnector, worker: str | None) -> str:
    by_state: dict[str, list[int]] = {}
    parts = []
    for instance in connector.instances():
        if (None if instance.state == _UNASSIGNED else instance.worker_id) != worker:
            continue
        if instance.number is None:
            parts.append(_with_state("C", instance.state))
        else:
            by_state.setdefault(instance.state, []).append(instance.number)
    if worker is None:
        reporting = {instance.number for instance in connector.instances()}
        if silent := [task for task in connector.tasks or () if task not in reporting]:
            by_state["without state"] = silent
        if connector.status is None:
            parts.append("C without state")
    return ", ".join([*parts, *(_with_state(_ranges(numbers), state) for state, numbers in by_state.items())])


def _with_state(text: str, state: str) -> str:
    return text if state == _RUNNING else f"{text} {state}"


def _ranges(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
