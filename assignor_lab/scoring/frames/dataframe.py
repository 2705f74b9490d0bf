"""Scoring for notebooks: a session, sources and assignors in, a DataFrame out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assignment_api.plugins.layers import Layer, default_layer, layer_of
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.capture.histories.past_terms import AUTO, PastTerms
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios.racks import Racks, read_racks
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.frames.provenance import COLUMN, Provenance
from assignor_lab.scoring.sources.parts import SourceInput
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.terms import job_spec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["score"]

_PAST = PastTerms(AUTO)
#: Pieces of the work if the session does not report its parallel tasks.
DEFAULT_PIECES = 32


def score(
    spark: SparkSession,
    sources: Iterable[SourceInput] | str | PathLike[str],
    assignors: Iterable[str] | str = (),
    config: ConfigSources | Mapping[str, Any] | None = None,
    *,
    racks: Racks | str | PathLike[str] | None = None,
    past: PastTerms = _PAST,
    plugin_wheels: Iterable[str | PathLike[str]] = (),
) -> DataFrame:
    """Scores assignors on states.

    The DataFrame is lazy, as every DataFrame; sources and plugins are checked at once. Its columns are those of the
    table ``results``, then those of ``run_metrics`` (docs, "Scoring"). The order of rows is undefined: sort by
    ``item``, ``round``, ``assignor``.

    Args:
        sources: Paths of scenario files, logs or folders, :class:`~assignor_lab.scoring.Generated` histories,
            scenarios, or scenario documents; or one path.
        assignors: Names of assignors, or one name; none: every installed one. ``two=high_availability,
            num.standby.replicas=2`` is a variant: an assignor with its own keys and name. Kafka's recorded decision is
            scored in addition, under the name ``kafka``, if a scenario has it.
        config: Keys and values in place of the scenarios' own, or all sources of configuration.
        racks: Racks of clients and partitions that the sources lack, or the file with them.
        past: How recorded pasts are read; by default a past is played.
        plugin_wheels: Wheels of plugins that travel to the executors. They stay importable in this process.

    Raises:
        AssignorLabError: a subclass, if a source cannot be read, an assignor cannot be loaded, a value is invalid, or
            an executor outside this machine lacks a plugin.
    """
    from assignor_lab.scoring.spark.executor_plugins import chosen_plugins
    from assignor_lab.scoring.spark.executors import fit_executors
    from assignor_lab.scoring.spark.job import answers_frame, items_frame
    from assignor_lab.scoring.spark.session import master_of, parallelism_of
    from assignor_lab.scoring.spark.wheels import lasting_wheels

    if isinstance(sources, (str, PathLike)):
        sources = (sources,)
    if isinstance(assignors, str):
        assignors = (assignors,)
    wheels = lasting_wheels([Path(path) for path in plugin_wheels])
    terms = config if isinstance(config, ConfigSources) else _above(config or {})
    plugins = discovered(terms.effective())
    registry = plugins.registry
    known = racks if racks is None or isinstance(racks, Racks) else read_racks(racks)
    with plan_sources(sources, registry, terms.above, racks=known, past=past) as plan:
        competing = found_contenders(registry, assignors, may_run_code=True, kind=plan.kind)
        spec = job_spec(registry, competing, plan, terms, plugins.described)
        chosen = chosen_plugins(registry, competing, plan.kind, terms)
        if wheels or chosen:
            fit_executors(spark, master_of(spark), wheels, chosen)
        pieces = 4 * (parallelism_of(spark) or DEFAULT_PIECES // 4)
        frame = answers_frame(items_frame(spark, ([item] for item in plan.work()), pieces), spec, wheels)
        provenance = Provenance.of(plan.kind.load(), competing, plan.sources, terms)
        return frame.withMetadata(COLUMN, provenance.metadata())


def _above(values: Mapping[str, Any]) -> ConfigSources:
    pairs = [(key, value, "score()") for key, value in values.items()]
    return ConfigSources((default_layer(),), (layer_of(Layer.COMMAND_LINE, pairs),))
