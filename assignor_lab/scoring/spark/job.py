"""The Spark job: work items in, rows out, through ``mapInArrow`` on a DataFrame and nothing else.

So it runs on a local master, on a cluster and through Spark Connect alike. Items are small (a history is a seed), and
an executor finds the plugins for itself, once for each Python process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa

from assignment_api import ApplicationMetadata, TaskAssignment, TaskAssignor
from assignment_api.plugins import MetricPlugin, PluginError, Registry, discover
from assignor_lab.groups.families import families_of
from assignor_lab.groups.observing import Complaints
from assignor_lab.groups.rows import RowMaker, rows_schema
from assignor_lab.groups.streams.contest import Answer, Competitor, Contest
from assignor_lab.groups.streams.convergence import Convergence
from assignor_lab.groups.streams.isolation import Isolation
from assignor_lab.groups.streams.metrics.cost import COST_METRICS, priced_metrics
from assignor_lab.groups.streams.pictures import detail_of
from assignor_lab.groups.streams.prices import prices_of
from assignor_lab.groups.streams.probes import Probes
from assignor_lab.groups.work import STREAMS, JobSpec, WorkItem
from assignor_lab.kafka.leader.fallback import replacement_without_lags
from assignor_lab.runtime.executor_wheels import arrived
from assignor_lab.runtime.isolation.limits import Limits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from assignor_lab.groups.connect.contest import ConnectContest

__all__ = ["answer_batches", "answers_frame", "details_frame", "items_frame"]

#: Rows that an executor holds before it hands them on.
BATCH_ROWS = 512

_ITEM_TYPE = pa.struct(
    [
        pa.field("number", pa.int64(), nullable=False),
        pa.field("source", pa.int32(), nullable=False),
        pa.field("document", pa.string()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("family", pa.string()),
        pa.field("seed", pa.int64()),
        pa.field("excluded", pa.list_(pa.string()), nullable=False),
    ]
)
_HEAP_SCHEMA = pa.schema([pa.field("items", pa.list_(_ITEM_TYPE), nullable=False)])
_DETAIL_SCHEMA = pa.schema(
    [
        pa.field("item", pa.int64(), nullable=False),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),
    ]
)

_SPARK_TYPES = {
    pa.int64(): "BIGINT",
    pa.int32(): "INT",
    pa.string(): "STRING",
    pa.bool_(): "BOOLEAN",
    pa.float64(): "DOUBLE",
    pa.list_(pa.string()): "ARRAY<STRING>",
}


def items_frame(spark: SparkSession, heaps: Iterable[Sequence[WorkItem]], partitions: int | None = None) -> DataFrame:
    """Heaps of work items as a DataFrame, a row for each heap.

    Spark cuts the rows into pieces of equally many: with as many heaps as tasks that run at a time, each is a piece.

    Args:
        spark: Classic or Connect session.
        heaps: The items; they are held in memory, as Arrow.
        partitions: How many pieces the rows are cut into; ``None``: one for each task that runs at a time, which saves
            a shuffle.
    """
    rows = ({"items": [attrs.asdict(item) for item in heap]} for heap in heaps)
    batches = iter(lambda: list(islice(rows, BATCH_ROWS)), [])
    table = pa.Table.from_batches(
        (pa.RecordBatch.from_pylist(batch, schema=_HEAP_SCHEMA) for batch in batches), _HEAP_SCHEMA
    )
    frame = spark.createDataFrame(table)
    return frame if partitions is None else frame.repartition(max(1, min(partitions, table.num_rows)))


def answers_frame(frame: DataFrame, spec: JobSpec) -> DataFrame:
    """The rows of all answers to the items in ``frame``, in no particular order.

    Columns: those of ``rows_schema(spec.metrics)``.
    """
    return frame.mapInArrow(partial(_answer_batches, spec), _ddl(rows_schema(spec.metrics)))


def details_frame(frame: DataFrame, spec: JobSpec, wanted: Mapping[tuple[int, int], str | None]) -> DataFrame:
    """The full pictures of some states, as JSON: columns ``item``, ``round``, ``detail``.

    Args:
        frame: The items that the states belong to.
        spec: The terms of the run.
        wanted: Pairs of item and round, each with the assignor whose state is to be shown where they differ.
    """
    return frame.mapInArrow(partial(_detail_batches, spec, dict(wanted)), _ddl(_DETAIL_SCHEMA))


def _ddl(schema: pa.Schema) -> str:
    return ", ".join(f"`{field.name.replace('`', '``')}` {_SPARK_TYPES[field.type]}" for field in schema)


# --- on the executors -----------------------------------------------------------------------------


def _answer_batches(spec: JobSpec, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from answer_batches(spec, _items(batches))


def answer_batches(spec: JobSpec, items: Iterable[WorkItem]) -> Iterator[pa.RecordBatch]:
    """What an executor does: the rows of all answers to ``items``, in the columns of ``rows_schema(spec.metrics)``."""
    if spec.kind != STREAMS:
        yield from _connect_batches(spec, items)
        return
    shop = _workshop(spec)
    schema = rows_schema(spec.metrics)
    rows: list[dict[str, Any]] = []
    rest = Convergence(frozenset(spec.metrics))
    for item in items:
        for answer in shop.contest.answers(item):
            rows.append(shop.rows.row(answer) | shop.probes.columns(answer))
            rest.note(answer, rows[-1])
            shop.tell_observers(answer)
        rest.fill_in()
        if len(rows) >= BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(rows, schema=schema)
            rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=schema)


def _connect_batches(spec: JobSpec, items: Iterable[WorkItem]) -> Iterator[pa.RecordBatch]:
    contest = _connect_contest(spec)
    schema = rows_schema(spec.metrics)
    for item in items:
        rows = list(contest.rows(item))
        for start in range(0, len(rows), BATCH_ROWS):
            yield pa.RecordBatch.from_pylist(rows[start : start + BATCH_ROWS], schema=schema)


def _detail_batches(
    spec: JobSpec, wanted: Mapping[tuple[int, int], str | None], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    if spec.kind != STREAMS:
        contest = _connect_contest(spec)
        for item in _items(batches):
            pictures = contest.pictures(item, wanted)
            rows = [{"item": item.number, "round": number, "detail": json.dumps(each)} for number, each in pictures]
            yield pa.RecordBatch.from_pylist(rows, schema=_DETAIL_SCHEMA)
        return
    shop = _workshop(spec)
    for item in _items(batches):
        by_round: dict[int, list[Any]] = {}
        for answer in shop.contest.answers(item):
            if (item.number, answer.round) in wanted:
                by_round.setdefault(answer.round, []).append(answer)
        rows = [
            {
                "item": item.number,
                "round": number,
                "detail": json.dumps(detail_of(answers, wanted[item.number, number])),
            }
            for number, answers in by_round.items()
        ]
        if rows:
            yield pa.RecordBatch.from_pylist(rows, schema=_DETAIL_SCHEMA)


def _items(batches: Iterable[pa.RecordBatch]) -> Iterator[WorkItem]:
    for batch in batches:
        for heap in batch.column(0):
            for values in heap.as_py():
                yield WorkItem(**{**values, "excluded": tuple(values["excluded"])})


@attrs.frozen(eq=False)
class _Workshop:
    """Everything that an executor needs for a run, made once for each Python process."""

    spec: JobSpec
    registry: Registry
    isolation: Isolation
    contest: Contest
    rows: RowMaker
    probes: Probes
    complaints: Complaints = attrs.field(factory=Complaints)

    def tell_observers(self, answer: Answer) -> None:
        """Shows an answer to the observers among the plugins; one that fails is named on standard error, once."""
        if answer.application is None:
            return
        outcome = answer.outcome
        problems = self.registry.notify_assignment_computed(
            answer.assignor,
            answer.application,
            outcome.assignment,
            outcome.validation if outcome.assignment is not None else None,
            None if outcome.failure is None else outcome.failure.message,
        )
        self.complaints.say(problems)


_current: _Workshop | None = None


def _workshop(spec: JobSpec) -> _Workshop:
    global _current  # noqa: PLW0603 - Spark reuses its Python processes; importing plugins again would cost seconds
    if _current is None or _current.spec != spec:
        if _current is not None:
            _current.isolation.close()
        _current = _new_workshop(spec)
    return _current


_current_connect: tuple[JobSpec, ConnectContest] | None = None


def _connect_contest(spec: JobSpec) -> ConnectContest:
    global _current_connect  # noqa: PLW0603 - as above
    if _current_connect is None or _current_connect[0] != spec:
        from assignor_lab.groups.connect.contest import connect_contest

        arrived(spec.wheels)
        _current_connect = spec, connect_contest(spec)
    return _current_connect[1]


def _new_workshop(spec: JobSpec) -> _Workshop:
    arrived(spec.wheels)
    config = spec.config.effective()
    registry = discover(config.policy())
    limits = Limits.of(config)
    isolation = Isolation(limits, config.policy())
    contest = Contest(
        assignors=tuple(_competitor(registry, isolation, spec, selector) for selector in spec.assignors),
        families=families_of(registry, spec.families),
        config=spec.config,
        observed=spec.observed,
    )
    priced = {metric.name: metric for metric in priced_metrics(prices_of(config))}
    rows = RowMaker({name: _metric(registry, name, priced) for name in spec.metrics})
    return _Workshop(spec, registry, isolation, contest, rows, Probes(limits, contest.families))


def _competitor(registry: Registry, isolation: Isolation, spec: JobSpec, selector: str) -> Competitor:
    try:
        found = registry.task_assignor(selector, may_run_code=spec.may_run_code)
    except PluginError as error:
        return Competitor(_MissingAssignor(selector, None, error))
    return Competitor(isolation.placed(found), isolation.placed(replacement_without_lags(found, registry)))


@attrs.frozen
class _MissingAssignor:
    """Stands for an assignor that the driver has and this executor has not: each of its rows says so."""

    name: str
    distribution: str | None
    error: PluginError

    def create(self) -> TaskAssignor:
        raise self.error


def _metric(registry: Registry, name: str, priced: Mapping[str, MetricPlugin]) -> MetricPlugin:
    """The metric called ``name``; the lab's own ones in dollars are those of ``priced``."""
    try:
        found = registry.metric(name)
        return priced.get(name, found.plugin) if found.plugin in COST_METRICS else found.plugin
    except PluginError as error:
        missing = error

    def compute(_application: ApplicationMetadata, _assignment: TaskAssignment) -> float | None:
        raise missing

    return MetricPlugin(name.replace(":", "-"), "", "none", "", compute)
