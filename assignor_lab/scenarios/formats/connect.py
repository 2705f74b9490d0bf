"""Documents of kind ``connect``: their shape, and their values of the SPI.

As for ``streams``: documents outside the format are refused here. States that occur in reality pass, such as jobs that
two workers report, or that are no longer configured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assignment_api.connect import (
    ConfiguredJobs,
    ConnectorTaskId,
    ConnectorTaskIdFormatError,
    ConnectProtocol,
    Jobs,
    StaticJobs,
    Worker,
)
from assignor_lab.documents.errors import Place, printable
from assignor_lab.documents.shapes import (
    INT_MAX,
    LONG_MAX,
    Check,
    Mismatch,
    boolean,
    count,
    list_of,
    map_of,
    nullable,
    one_of,
    record,
    text,
    whole,
)
from assignor_lab.scenarios.connect_history import ConnectHistory, ConnectRound, RecordedAnswer, RecordedDecision
from assignor_lab.scenarios.formats.streams import workload

__all__ = ["MAX_TASKS", "read_connect"]

#: Most tasks of one round: a document has only their number, so a short line could request billions.
MAX_TASKS = 1_000_000

_names = list_of(text)
_round_time = whole(0, LONG_MAX)


class _TaskIds:
    def __init__(self) -> None:
        self._known: dict[str, ConnectorTaskId] = {}

    def __call__(self, value: Any) -> ConnectorTaskId:
        known = self._known.get(value) if type(value) is str else None
        if known is not None:
            return known
        try:
            task = ConnectorTaskId.parse(text(value))
        except ConnectorTaskIdFormatError:
            raise Mismatch(
                f'"{printable(value)}" is not the id of a task: expected the name of a connector, a dash and a number, '
                'such as "files-0"'
            ) from None
        self._known[value] = task
        return task


def read_connect(document: Mapping[str, Any]) -> ConnectHistory:
    """Checks a document of kind ``connect`` and turns it into values.

    Raises:
        Mismatch: if it is not in the format.
    """
    content = _document_shape(_TaskIds())(document)
    return ConnectHistory(
        ConnectProtocol(content["protocol"]),
        content["max_delay_ms"],
        tuple(_at(_round, each, "rounds", number) for number, each in enumerate(content["rounds"])),
        _recorded(content),
        Place(content.get("source", {}).get("file", content["id"]), content.get("source", {}).get("line")),
    )


def _recorded(content: Mapping[str, Any]) -> tuple[RecordedDecision, ...]:
    answers, source = content.get("observed", {}).get("rounds", ()), content.get("source", {})
    unknown = [None] * len(answers)
    facts = zip(answers, source.get("reasons") or unknown, source.get("generations") or unknown, strict=False)
    return tuple(RecordedDecision(answer, reason or "", generation) for answer, reason, generation in facts)


def _document_shape(task: Check[ConnectorTaskId]) -> Check[dict[str, Any]]:
    tasks = list_of(task)
    member = record(
        {
            "id": text,
            "owned": record({"connectors": _names, "tasks": tasks}),
            "static": record({"connectors": nullable(_names), "tasks": nullable(tasks)}),
        },
        {"url": text, "labels": map_of(text, text)},
    )
    round_ = record(
        {"time_ms": _round_time, "connectors": map_of(text, count), "members": list_of(member)},
        {"new_leader": boolean, "generation_gap": boolean},
    )
    return record(
        {
            "format": whole(1, 1),
            "kind": one_of("connect"),
            "id": text,
            "protocol": one_of(*(protocol.value for protocol in ConnectProtocol)),
            "max_delay_ms": whole(0, INT_MAX),
            "rounds": list_of(round_),
        },
        {
            "workload": workload(text),
            "observed": record({"rounds": list_of(nullable(_answer_shape(tasks)))}),
            "source": record(
                {},
                {
                    "file": text,
                    "line": count,
                    "url": text,
                    "time_ms": _round_time,
                    "group": text,
                    "reasons": list_of(nullable(text)),
                    "generations": list_of(count),
                },
            ),
            "assumptions": list_of(text),
        },
    )


def _answer_shape(tasks: Check[list[ConnectorTaskId]]) -> Check[Any]:
    held = record({"connectors": _names, "tasks": tasks})
    jobs = map_of(text, lambda value: Jobs(**held(value)))
    shape = record({"delay_ms": whole(0, INT_MAX), "assigned": jobs, "revoked": jobs})
    return lambda value: RecordedAnswer(**shape(value))


def _at(read: Any, fields: Mapping[str, Any], *steps: str | int) -> Any:
    try:
        return read(fields)
    except Mismatch as mismatch:
        raise mismatch.inside(*steps) from None


def _round(fields: Mapping[str, Any]) -> ConnectRound:
    tasks = 0
    for connector, number in fields["connectors"].items():
        tasks += number
        if tasks > MAX_TASKS:
            raise Mismatch(
                f"more than {MAX_TASKS:,} tasks in all: this is the limit of one round", "connectors", connector
            )
    if not fields["members"]:
        raise Mismatch("a round has no member: its leader is always one, so give at least one", "members")
    workers: dict[str, Worker] = {}
    for number, member in enumerate(fields["members"]):
        worker = _at(_worker, member, "members", number)
        if worker.member_id in workers:
            raise Mismatch(
                f"member {printable(worker.member_id)} occurs twice: remove one of the two", "members", number, "id"
            )
        workers[worker.member_id] = worker
    return ConnectRound(
        fields["time_ms"],
        ConfiguredJobs(fields["connectors"]),
        tuple(workers.values()),
        fields.get("new_leader", False),
        fields.get("generation_gap", False),
    )


def _worker(fields: Mapping[str, Any]) -> Worker:
    owned, static = fields["owned"], fields["static"]
    jobs = Jobs(owned["connectors"], owned["tasks"])
    _refuse_repeated(owned["connectors"], jobs.connectors, "connectors")
    _refuse_repeated(owned["tasks"], jobs.tasks, "tasks")
    return Worker(
        fields["id"], jobs, StaticJobs(static["connectors"], static["tasks"]),
        url=fields.get("url", ""), labels=fields.get("labels", {}),
    )  # fmt: skip


def _refuse_repeated(given: Sequence[object], distinct: Sequence[object], kind: str) -> None:
    if len(given) == len(distinct):
        return
    seen: set[object] = set()
    for number, job in enumerate(given):
        if job in seen:
            raise Mismatch(f"{printable(str(job))} occurs twice: remove one of the two", "owned", kind, number)
        seen.add(job)
