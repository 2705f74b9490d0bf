"""The options of the data source, checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins.near import did_you_mean
from assignor_lab.documents.wording import shortened
from assignor_lab.scoring.output.folder import ANSWERS, RESULTS, RUN_METRICS

__all__ = ["TABLES", "DataSourceError", "ReadOptions", "options_of"]

TABLES = {"results": RESULTS, "run_metrics": RUN_METRICS, "answers": ANSWERS}
SCENARIOS = "scenarios"
#: Most histories of one read, and most of its parts.
MOST_HISTORIES, MOST_PARTITIONS = 100_000_000, 100_000
#: Default histories of a part; families and machines differ.
HISTORIES_OF_A_PART, USUAL_PARTITIONS = 4, 64
_SEEDS = 2**63
_KNOWN = ("path", "paths", "table", "family", "count", "seed", "assignor", "config", "partitions")


class DataSourceError(AssignorLabError):
    """Format ``assignor`` cannot read its input: a wrong option, or wrong data at its path."""


@attrs.frozen
class ReadOptions:
    """Options of a read.

    Args:
        assignor: Assignor between the rounds of a history; ``None``: only first rounds are read.
        config: File with the application's configuration, for logs and recordings; ``None``: unknown.
        partitions: Number of parts of the histories.
    """

    paths: tuple[str, ...]
    table: str | None = None
    family: str | None = None
    count: int = 100
    seed: int = 0
    assignor: str | None = None
    config: str | None = None
    partitions: int = 1


def options_of(given: Mapping[str, str]) -> ReadOptions:
    """The checked options of Spark.

    Raises:
        DataSourceError: naming the option.
    """
    values = {key.lower(): value for key, value in given.items()}
    for key in values:
        if key not in _KNOWN:
            raise DataSourceError(
                f"format assignor has no option {shortened(key, 60)!r}{did_you_mean(key, _KNOWN)}; "
                f"it has {', '.join(_KNOWN[2:])}, and load(PATH)"
            )
    paths = _paths(values)
    family = values.get("family")
    if (family is None) == (not paths):
        raise DataSourceError(
            "name one source: .load(PATH) of scenarios, a recording or results, or .option('family', NAME), not both"
        )
    for key in ("count", "seed", "assignor", "partitions") if family is None else ("table", "config"):
        if key in values:
            expected = "histories of a family" if family is None else "a path"
            raise DataSourceError(f"option {key} is for {expected}: leave it out here")
    count = _number(values, "count", 100, 1, MOST_HISTORIES)
    usual = min(-(-count // HISTORIES_OF_A_PART), USUAL_PARTITIONS)
    return ReadOptions(
        paths,
        _table(values.get("table"), paths),
        family,
        count,
        _number(values, "seed", 0, -_SEEDS, _SEEDS - count),
        values.get("assignor"),
        values.get("config"),
        min(_number(values, "partitions", usual, 1, MOST_PARTITIONS), count),
    )


def _paths(values: Mapping[str, str]) -> tuple[str, ...]:
    try:
        several = json.loads(values.get("paths", "[]"))
    except ValueError as error:
        raise DataSourceError(f"option paths is no JSON list: {error}") from error
    if not isinstance(several, list) or not all(isinstance(path, str) for path in several):
        raise DataSourceError("option paths is no JSON list of texts: give the paths to load([...])")
    return tuple(_local(path) for path in [*([values["path"]] if "path" in values else []), *several])


def _local(path: str) -> str:
    scheme, separator, rest = path.partition("://")
    if not separator:
        return path.removeprefix("file:")
    if scheme != "file":
        raise DataSourceError(f"{shortened(path, 200)}: only files that executors see as such are read, no {scheme}://")
    return rest


def _table(name: str | None, paths: tuple[str, ...]) -> str | None:
    if name is not None and name not in (SCENARIOS, *TABLES):
        raise DataSourceError(f"option table: {shortened(name, 60)!r} is none of {', '.join((SCENARIOS, *TABLES))}")
    if name is None and any(_is_of_results(Path(path)) for path in paths):
        name = "results"
    if name in (None, SCENARIOS):
        return None
    if len(paths) != 1:
        raise DataSourceError("results are read of one folder at a time: join those of several with .unionByName")
    return name


def _is_of_results(path: Path) -> bool:
    return path.is_dir() and (
        any((path / each).exists() for each in (*TABLES.values(), "scores.parquet"))
        or any(path.glob(".assignor-score-*.tmp"))
    )


def _number(values: Mapping[str, str], key: str, usual: int, low: int, high: int) -> int:
    text = values.get(key)
    if text is None:
        return usual
    try:
        number = int(text) if len(text) <= 20 else high + 1
    except ValueError:
        raise DataSourceError(f"option {key}: {shortened(text, 40)!r} is no whole number") from None
    if not low <= number <= high:
        raise DataSourceError(f"option {key}: {shortened(text, 40)} is not from {low} to {high}")
    return number
