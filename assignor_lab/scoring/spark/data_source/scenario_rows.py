"""Scenarios as rows of the data source: from files, logs and recordings, and from families."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from assignment_api import AssignorLabError
from assignment_api.plugins import Policy, Registry, ScenarioFamily
from assignment_api.plugins.config_files import file_layer
from assignment_api.plugins.layers import default_layer
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.documents.wording import shortened
from assignor_lab.groups.entries import entries
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.discovery import EntryPointDescription, Plugins, discovered
from assignor_lab.runtime.invocation import CallFailure
from assignor_lab.scenarios import Place, Scenario, read_scenarios, scenario_from_document
from assignor_lab.scenarios.made import ScenarioHistory
from assignor_lab.scoring.sources.parts import SCENARIOS, parts_of
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.spark.data_source.content import Content
from assignor_lab.scoring.spark.data_source.options import DataSourceError, ReadOptions

__all__ = ["SCENARIO_SCHEMA", "scenarios_of"]

SCENARIO_SCHEMA = pa.schema(
    [
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("family", pa.string()),
        pa.field("seed", pa.int64()),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("rounds", pa.int32(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("group", pa.string()),
        pa.field("generation", pa.int64()),
        pa.field("time_ms", pa.int64()),
        pa.field("clients", pa.int32()),
        pa.field("tasks", pa.int32()),
        pa.field("document", pa.string(), nullable=False),
    ]
)
#: Characters of documents, and rows, that complete a batch.
BATCH_CHARACTERS, BATCH_ROWS = 8_000_000, 512
_INT64 = range(-(2**63), 2**63)


def scenarios_of(options: ReadOptions) -> Content:
    """The content of the options.

    Raises:
        AssignorLabError: a subclass, if a family or an assignor is not installed.
    """
    return _in_files(options) if options.family is None else _of_family(options)


# --- files ----------------------------------------------------------------------------------------


@attrs.frozen
class _Files:
    names: tuple[tuple[str, ...], ...]
    config: str | None

    def schema(self) -> StructType:
        return from_arrow_schema(SCENARIO_SCHEMA)

    def parts(self) -> list[list[str]]:
        return [list(each) for each in self.names]

    def batches(self, part: list[str]) -> Iterator[pa.RecordBatch]:
        return _batches(_row(each, 0) for each in self._scenarios(part))

    def _scenarios(self, part: list[str]) -> Iterator[Scenario]:
        (_, kind, _), *others = parts_of(part)
        if kind == SCENARIOS and not others:
            yield from read_scenarios(part[0])
            return
        config = _config(self.config)
        # Logs and recordings need no plugin.
        with plan_sources(part, Registry(Policy(), (), ()), config.above) as plan:
            yield from plan.scenarios()


def _in_files(options: ReadOptions) -> _Files:
    missing = next((path for path in options.paths if not Path(path).exists()), None)
    if missing is not None:
        raise DataSourceError(
            f"{shortened(missing, 200)}: there is no such file here, where Spark plans: paths are those of the server"
        )
    found = list(parts_of(options.paths))
    if len(found) == 1 or any(kind != SCENARIOS for _, kind, _ in found):
        # Logs of one group are read together, and so is a recording.
        alone = tuple((path,) for path in options.paths)
        return _Files(alone if all(Path(path).is_dir() for path in options.paths) else (options.paths,), options.config)
    files = tuple((str(each.path),) for _, _, parts in found for each in parts)
    return _Files(files, options.config)


# --- families -------------------------------------------------------------------------------------


@attrs.frozen
class _Histories:
    """Histories of a family: a part is a range of seeds.

    Args:
        described: Descriptions of plugins that are not imported in this process.
    """

    family: str
    kind: str
    options: ReadOptions
    described: tuple[EntryPointDescription, ...] | None

    def schema(self) -> StructType:
        return from_arrow_schema(SCENARIO_SCHEMA)

    def parts(self) -> list[list[int]]:
        share, left = divmod(self.options.count, self.options.partitions)
        first, found = self.options.seed, []
        for number in range(self.options.partitions):
            count = share + (number < left)
            found.append([first, count])
            first += count
        return found

    def batches(self, part: list[int]) -> Iterator[pa.RecordBatch]:
        first, count = part
        assignors = () if self.options.assignor is None else (self.options.assignor,)
        scorer = Scorer(JobSpec(assignors, (), (self.family,), kind=self.kind, described=self.described))
        try:
            rows = (row for seed in range(first, first + count) for row in self._history(scorer, seed))
            yield from _batches(rows)
        finally:
            scorer.close()

    def _history(self, scorer: Scorer, seed: int) -> Iterator[dict[str, Any]]:
        place = f"family {self.family}, seed {seed}"
        own = {"file": None, "line": None, "family": self.family, "seed": seed}
        if self.options.assignor is None:
            yield {**_row(_first_round(scorer.contest.families[self.family], seed, place), 0), **own}
            return
        for answer in scorer.contest.answers(WorkItem(0, 0, family=self.family, seed=seed)):
            if answer.scenario is None:
                failure = answer.outcome.failure or CallFailure("NoState", None, "it has no state")
                message = f"{failure.type}: {shortened(failure.message, 400)}"
                raise DataSourceError(f"{place}, round {answer.round}: {message}")
            yield {**_row(answer.scenario, answer.round), **own}


def _first_round(family: ScenarioFamily, seed: int, place: str) -> Scenario:
    try:
        history = family.history(seed)
        if isinstance(history, ScenarioHistory):
            return history.scenario(0, None, Place(place))
        return scenario_from_document(history.round(0, None), Place(place))
    except AssignorLabError:
        raise
    except Exception as error:
        # A family is a plugin and may raise any exception.
        raise DataSourceError(f"{place}: {type(error).__name__}: {shortened(str(error), 400)}") from error


def _of_family(options: ReadOptions) -> _Histories:
    plugins = discovered(_config(None).effective())
    try:
        return _found_family(plugins, options)
    finally:
        # Spark keeps this process alive, and with it the processes of plugins.
        plugins.isolation.close()


def _found_family(plugins: Plugins, options: ReadOptions) -> _Histories:
    found = plugins.registry.family(options.family or "")
    entry = next(each for each in entries() if each.name == found.plugin.kind)
    if options.assignor is not None:
        entry.load().find(plugins.registry, options.assignor)
    return _Histories(found.name, entry.name, options, plugins.described)


def _config(file: str | None) -> ConfigSources:
    """The defaults and a named file; settings of this machine, some server, are ignored."""
    return ConfigSources((default_layer(),), () if file is None else (file_layer(Path(file)),))


# --- rows -----------------------------------------------------------------------------------------


def _row(scenario: Scenario, number: int) -> dict[str, Any]:
    source = scenario.source or {}
    known = next((entry for entry in entries() if entry.name == scenario.kind), None)
    tasks, clients = (None, None) if known is None or scenario.content is None else known.load().size(scenario)
    return {
        "file": scenario.place.file,
        "line": scenario.place.line,
        "family": None,
        "seed": None,
        "round": number,
        "rounds": 1 if known is None or scenario.content is None else known.load().rounds(scenario),
        "id": scenario.id,
        "kind": scenario.kind,
        "group": source.get("group"),
        "generation": _long(source.get("generation")),
        "time_ms": _long(source.get("time_ms")),
        "clients": clients,
        "tasks": tasks,
        "document": json.dumps(dict(scenario.document), ensure_ascii=True, separators=(",", ":")),
    }


def _long(value: int | None) -> int | None:
    return value if value is not None and value in _INT64 else None


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    held: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        held.append(row)
        characters += len(row["document"])
        if characters >= BATCH_CHARACTERS or len(held) >= BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(held, schema=SCENARIO_SCHEMA)
            held, characters = [], 0
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=SCENARIO_SCHEMA)
