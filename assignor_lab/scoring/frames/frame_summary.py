"""The summary of a frame: the figures of ``summary.json``, from rows in a notebook."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from assignment_api import AssignorLabError
from assignment_api.plugins import Found, MetricPlugin, Registry
from assignment_api.plugins.layers import default_layer
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.documents.wording import plain, shortened
from assignor_lab.groups.columns import FORMAT as TABLE_FORMAT
from assignor_lab.groups.columns import OTHER_FORMAT, RENAMED
from assignor_lab.groups.entries import entries
from assignor_lab.groups.kind import GroupKind
from assignor_lab.groups.variants import Contender
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.run_summary import RunSummary
from assignor_lab.runtime.discovery import discovered
from assignor_lab.runtime.isolation.folders import held_folder
from assignor_lab.scoring.contenders import RunContenders, ScoredContender
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.frames.provenance import COLUMN, Provenance, ProvenAssignor
from assignor_lab.scoring.frames.shown_summary import ShownSummary
from assignor_lab.scoring.output.folder import RESULTS, RUN_METRICS
from assignor_lab.scoring.output.tables import KEY_NAMES, TableWriter, results_file, run_metrics_file
from assignor_lab.scoring.sources.parts import FAMILY, SCENARIOS, Generated
from assignor_lab.scoring.sources.plan import ScoringSource
from assignor_lab.scoring.summaries.figures import Figures
from assignor_lab.scoring.summaries.measured import RequestedFigures, measured
from assignor_lab.scoring.summaries.results import (
    RunEnvironment,
    failed_names,
    ranked_names,
    results_of,
    run_metrics_of,
    wanted_states,
)
from assignor_lab.scoring.summaries.tally import Tally
from assignor_lab.scoring.summaries.tally_table import tally_of
from assignor_lab.scoring.terms import EvaluationTerms

__all__ = ["FrameError", "summary"]

#: Required columns; other missing columns count as unknown.
NEEDED = (*KEY_NAMES, "error_type")
REMEDY = "give the frame of assignor_lab.scoring.score(), or results.parquet of `assignor score`"


class FrameError(AssignorLabError):
    """A frame does not hold the rows of a scoring run."""


def summary(frame: Any, *, baseline: str | None = None) -> ShownSummary:
    """The figures of a run, from its rows: means, differences with intervals, ranking, failures.

    They are computed as in ``summary.json`` of ``assignor score``, from all rows of the frame: a filtered frame gives
    the figures of the remaining rows. The rows are copied to this process; runs of millions of rows are better scored
    with the command, whose executors measure. Facts that rows lack are left out, such as pictures of single states.
    Names of sources, configuration, versions, and the order of the assignors (otherwise by name) need a frame that came
    from :func:`~assignor_lab.scoring.score` through Spark alone.

    Args:
        frame: A DataFrame of Spark (classic or Connect), pandas or polars, an Arrow table, or any object with Arrow's
            stream interface: the result of :func:`~assignor_lab.scoring.score`, or a table ``results`` read from disk.
            Missing columns, such as those of ``run_metrics`` or of an older release, count as unknown.
        baseline: The assignor that the others are compared with; by default Kafka's own decision if known, else the
            first.

    Raises:
        FrameError: if it holds no rows of a run: a column is missing or has other values, a row occurs twice, or no
            assignor is called ``baseline``.
    """
    provenance = _provenance(frame)
    table = _arrow(frame)
    _check(table)
    registry = discovered(ConfigSources((default_layer(),), ()).effective()).registry
    kind = _kind(table, provenance, registry)
    _check_names(table, kind, registry)
    names = _names(table, provenance)
    if baseline is not None and baseline not in names:
        subjects = ", ".join(shortened(name, 60) for name in names)
        raise FrameError(f"the frame has no assignor {shortened(baseline, 60)}: it has {subjects}")
    metrics = {name: found for name, found in kind.metrics(registry).items() if name in table.column_names}
    with held_folder("assignor-summary-") as folder:
        figures, tally = _measured(table, kind, metrics, names, EvaluationTerms(baseline=baseline), folder)
    return ShownSummary(_summary(table, provenance, kind, metrics, figures, tally))


# --- the rows -------------------------------------------------------------------------------------


def _provenance(frame: Any) -> Provenance | None:
    try:
        field = frame.schema[COLUMN]
    except (AttributeError, KeyError, TypeError):
        return None
    metadata = getattr(field, "metadata", None)
    return Provenance.from_metadata(metadata) if isinstance(metadata, Mapping) else None


def _arrow(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.table(frame)
        if hasattr(frame, "to_arrow_table"):
            return frame.to_arrow_table()
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (AttributeError, TypeError, ValueError, pa.ArrowException) as error:
        raise FrameError(f"a {type(frame).__name__} is no frame ({shortened(str(error), 200)}): {REMEDY}") from error


def _check(table: pa.Table) -> None:
    missing = [name for name in NEEDED if name not in table.column_names]
    if missing:
        there = ", ".join(shortened(name, 40) for name in table.column_names[:6]) or "none at all"
        raise FrameError(f"the frame has no column {', '.join(missing)} (it has {there} ...): {REMEDY}")
    twice = [name for name in table.column_names if table.column_names.count(name) > 1]
    if twice:
        raise FrameError(f"the frame has two columns called {shortened(twice[0], 60)}: {REMEDY}")
    version = (table.schema.metadata or {}).get(b"assignor_lab.results", str(TABLE_FORMAT).encode())
    if version != str(TABLE_FORMAT).encode():
        raise FrameError(
            f"the frame is a table of version {version.decode('ascii', 'replace'):.20}, and this release reads version "
            f"{TABLE_FORMAT}: {OTHER_FORMAT}"
        )
    if not table.num_rows:
        raise FrameError("the frame has no rows: nothing was scored, or a filter left nothing")


def _check_names(table: pa.Table, kind: GroupKind[Any, Any], registry: Registry) -> None:
    """Refuses names of an older version: frames of pandas and Spark do not have the version itself."""
    columns, metrics = set(table.column_names), kind.metrics(registry)
    for name in table.column_names:
        renamed = RENAMED.get(name)
        if renamed is not None and name not in metrics and renamed not in columns:
            raise FrameError(
                f"column {name} is one of an older version of the table; version {TABLE_FORMAT} calls it {renamed}: "
                f"{OTHER_FORMAT}"
            )


def _kind(table: pa.Table, provenance: Provenance | None, registry: Registry) -> GroupKind[Any, Any]:
    """The kind of group with the columns as metrics; frames of pandas and files do not name it."""
    columns = set(table.column_names)
    known = {entry.name: entry for entry in entries() if entry.is_scored}
    if provenance is not None and provenance.kind in known:
        return known[provenance.kind].load()
    shares: list[tuple[float, GroupKind[Any, Any]]] = []
    for entry in known.values():
        kind = entry.load()
        own = kind.metrics(registry)
        shares.append((len(columns & own.keys()) / max(len(own), 1), kind))
    share, best = max(shares, key=lambda each: each[0])
    if not share:
        raise FrameError(f"the frame has no column of a metric: {REMEDY}")
    return best


def _names(table: pa.Table, provenance: Provenance | None) -> tuple[str, ...]:
    """Assignors with rows, in the order of the run if known, Kafka's own decision last."""
    found = sorted({str(name) for name in pc.unique(table["assignor"]).to_pylist()})
    order = {} if provenance is None else {each.name: place for place, each in enumerate(provenance.assignors)}
    return tuple(sorted(found, key=lambda name: (name == OBSERVED, order.get(name, len(order)))))


def _fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of a schema, null if missing in the frame."""
    columns = []
    for field in schema:
        try:
            values = table[field.name] if field.name in table.column_names else _unknown(field, table.num_rows)
            values = values.cast(field.type)
        except (pa.ArrowException, ValueError) as error:
            raise FrameError(f"column {field.name} of the frame: {shortened(str(error), 200)}: {REMEDY}") from error
        if not field.nullable and values.null_count:
            raise FrameError(f"column {field.name} of the frame has rows without a value: {REMEDY}")
        columns.append(values)
    return pa.table(columns, schema=schema)


def _unknown(field: pa.Field, rows: int) -> pa.Array:
    # The number of the source is the one required column that may be missing.
    return pa.nulls(rows, field.type) if field.nullable else pa.array([0] * rows, field.type)


def _measured(
    table: pa.Table,
    kind: GroupKind[Any, Any],
    metrics: Mapping[str, Found[MetricPlugin]],
    names: tuple[str, ...],
    terms: EvaluationTerms,
    folder: Path,
) -> tuple[Figures, Tally]:
    plugins = {name: found.plugin for name, found in metrics.items()}
    order = [(key, "ascending") for key in KEY_NAMES]
    for name, schema in ((RESULTS, results_file(plugins, kind.columns)), (RUN_METRICS, run_metrics_file())):
        rows = _fitted(table, schema).sort_by(order)
        _check_keys(rows)
        with TableWriter(folder / name, schema) as writer:
            writer.write(rows)
    tally = tally_of(folder / RESULTS)
    requested = RequestedFigures(
        results=folder / RESULTS,
        run_metrics=folder / RUN_METRICS,
        assignors=names,
        ranked=ranked_names(names, tally),
        failed=failed_names(names, tally),
        metrics=plugins,
        headline=kind.headline,
        terms=terms,
    )
    return measured(requested, InProcess(), tally.rows, folder), tally


def _check_keys(rows: pa.Table) -> None:
    keys = rows.select(KEY_NAMES)
    counted = keys.group_by(list(KEY_NAMES)).aggregate([([], "count_all")])
    if counted.num_rows == rows.num_rows:
        return
    twice = counted.filter(pc.greater(counted["count_all"], 1)).slice(0, 1).to_pylist()[0]
    raise FrameError(
        f"item {twice['item']}, round {twice['round']}, assignor {shortened(twice['assignor'], 60)} is in the frame "
        f"{twice['count_all']} times: frames of several runs are summed up one by one"
    )


# --- the summary ----------------------------------------------------------------------------------


def _summary(
    table: pa.Table,
    provenance: Provenance | None,
    kind: GroupKind[Any, Any],
    metrics: Mapping[str, Found[MetricPlugin]],
    figures: Figures,
    tally: Tally,
) -> RunSummary:
    wanted = attrs.evolve(wanted_states(figures, kind), states={}, chosen={}, left_out=0)
    nothing = ConfigSources((), ())
    competing = _competing(provenance, tally)
    sources = tuple(_sources(table, provenance))
    results = results_of(competing, nothing, sources, tally, figures, metrics, wanted, {}, kind)
    if provenance is not None:
        results = attrs.evolve(results, config=provenance.config)
    started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    machine = RunEnvironment(
        None, started, 0.0, None, None, {"pyarrow": pa.__version__, "python": platform.python_version()}
    )
    return RunSummary(results=results, run_metrics=run_metrics_of(machine, tally, figures))


@attrs.frozen
class _RecordedContender:
    name: str
    plugin: Any
    distribution: str | None = None
    version: str | None = None
    installed: frozenset[str] | None = None


def _competing(provenance: Provenance | None, tally: Tally) -> RunContenders:
    if provenance is None:
        known = [ProvenAssignor(name) for name in sorted(tally.rows_of) if name != OBSERVED]
    else:
        known = [each for each in provenance.assignors if tally.rows_of.get(each.name)]
    contenders = [
        ScoredContender(
            Contender(each.name, each.name, each.settings),
            _RecordedContender(each.name, SimpleNamespace(summary=each.summary), each.distribution, each.version),
        )
        for each in known
    ]
    return RunContenders(tuple(contenders), () if provenance is None else provenance.unloaded)


def _sources(table: pa.Table, provenance: Provenance | None) -> Iterator[ScoringSource]:
    """The sources as found in the rows: a family by its name and first seed, all others by their number."""
    if "source" not in table.column_names:
        yield ScoringSource("source 0", SCENARIOS, 0, 1)
        return
    families = "family" in table.column_names and "seed" in table.column_names
    columns = ["source", "item", *(("family", "seed") if families else ())]
    aggregates = [("item", "min"), ("item", "count_distinct")]
    aggregates += [("family", "min"), ("seed", "min")] if families else []
    found = {
        each["source"]: each for each in table.select(columns).group_by("source").aggregate(aggregates).to_pylist()
    }
    number = max(max(found) + 1, 0 if provenance is None else len(provenance.sources))
    for place in range(number):
        each = found.get(place, {})
        family = each.get("family_min")
        name, kind = (family or f"source {place}", FAMILY if family else SCENARIOS)
        decisions = 0
        if provenance is not None and place < len(provenance.sources):
            known = provenance.sources[place]
            name, kind, decisions = known.name, known.kind, known.decisions
        items = each.get("item_count_distinct", 0)
        made = None if family is None else Generated(plain(family), items, int(each["seed_min"] or 0))
        yield ScoringSource(name, kind, each.get("item_min", 0), items, made, decisions=decisions)
