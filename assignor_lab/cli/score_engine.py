"""The engine of ``assignor score``: Spark, or this process for a small run. Their results are equal to the byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import islice
from typing import TYPE_CHECKING

import attrs
import typer

from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, canonical_name
from assignor_lab.cli.score_options import SparkOptions, StateOptions
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from assignor_lab.scoring.engine.engine import Engine
    from assignor_lab.scoring.spark.executor_wheels import ExecutorWheel
    from assignor_lab.scoring.terms import ScoringRun

__all__ = ["HERE", "EngineChoice", "is_small"]

AUTO, SPARK, LOCAL = "auto", "spark", "local"
#: A run of at most so many states, histories or pasts, and bytes of scenarios, is small: Spark starts in more time.
LOCAL_ITEMS = 32
LOCAL_BYTES = 4 * 2**20
#: Place of a run without Spark.
HERE = "this process"


@attrs.define
class EngineChoice:
    """The choice, as soon as it is known; Spark starts with it.

    Args:
        known: ``spark``, ``local``, or ``auto`` until the sources are read.
    """

    spark: SparkOptions
    known: str
    is_url: bool = False
    _session: Callable[[], SparkSession] | None = None

    @classmethod
    def of(cls, spark: SparkOptions, states: StateOptions, wheels: object, *, is_url: bool) -> EngineChoice:
        """The choice as far as the options determine it.

        Args:
            is_url: True if Spark writes the output.

        Raises:
            typer.BadParameter: if they contradict each other.
        """
        placed = spark.master is not None or spark.remote is not None
        if spark.engine == LOCAL and placed:
            raise typer.BadParameter("--engine local scores in this process: leave --master and --remote out")
        if is_url and spark.engine == LOCAL:
            raise typer.BadParameter("--engine local writes a folder of this machine: give --out a path without ://")
        if spark.spark_conf and not is_url:
            raise typer.BadParameter("--spark-conf is for an --out that Spark writes, such as s3a://bucket/scores")
        known: str = SPARK if is_url else spark.engine
        if known == AUTO and (placed or wheels):
            known = SPARK
        if known == AUTO and states.families and (states.count is None or states.count > LOCAL_ITEMS):
            known = SPARK
        return cls(spark, known, is_url)

    @property
    def step(self) -> str:
        return "reading sources, starting Spark" if self.known == SPARK else "reading sources"

    def start(self, stack: ExitStack) -> None:
        """Starts Spark if it is chosen; it is the slowest start, and plugins and sources do not need it."""
        if self.known != SPARK or self._session is not None:
            return
        if self.is_url:
            from assignor_lab.scoring.spark.session import given_session

            settings = _settings(self.spark.spark_conf or ())
            self._session = stack.enter_context(given_session(self.spark.master, self.spark.remote, settings))
        else:
            from assignor_lab.scoring.spark.session import starting_session

            self._session = stack.enter_context(starting_session(self.spark.master, self.spark.remote))

    def settle(self, run: ScoringRun, stack: ExitStack) -> ScoringRun:
        """Decides by the sources what the options left open; returns the run with its place."""
        if self.known == AUTO:
            self.known = LOCAL if is_small(run) else SPARK
        self.start(stack)
        return attrs.evolve(run, master=HERE) if self.known == LOCAL else run

    def engine(self, run: ScoringRun, wheels: tuple[ExecutorWheel, ...], stack: ExitStack) -> Engine:
        """The engine, once it can work.

        Raises:
            AssignorLabError: a subclass, if Spark does not start, or its executors lack something.
        """
        if self._session is None:
            from assignor_lab.scoring.engine.in_process import InProcess
            from assignor_lab.scoring.spark.executor_wheels import terms_of

            here = InProcess(terms_of(wheels))
            stack.callback(here.close)
            return here
        from assignor_lab.scoring.spark.addresses import DEFAULT_MASTER
        from assignor_lab.scoring.spark.engine import OnSpark
        from assignor_lab.scoring.spark.executor_plugins import chosen_plugins
        from assignor_lab.scoring.spark.executors import fit_executors

        started = self._session()
        master = self.spark.master or DEFAULT_MASTER if self.spark.remote is None else None
        families = map(run.registry.family, run.plan.families)
        chosen = chosen_plugins(run.registry, run.competing, run.plan.kind, run.config, run.metrics.values(), families)
        cores = fit_executors(started, master, wheels, chosen)
        return OnSpark(started, wheels, cores, note)


def _settings(words: Iterable[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for word in words:
        key, separator, value = word.partition("=")
        if not separator or not key.strip():
            raise typer.BadParameter(f"--spark-conf {word:.80}: expected KEY=VALUE")
        settings[key.strip()] = value
    return settings


def is_small(run: ScoringRun) -> bool:
    """True if Spark would take longer to start than this process to score, and no plugin can end this process."""
    if run.plan.items > LOCAL_ITEMS or not _is_safe(run):
        return False
    items = list(islice(run.plan.work(), LOCAL_ITEMS))
    # One state or past is scored by one process anyway.
    return len(items) < 2 or sum(len(item.document or "") for item in items) <= LOCAL_BYTES


def _is_safe(run: ScoringRun) -> bool:
    """True if plugins of others run in their own processes."""
    from assignor_lab.runtime.assignor_calls import runs_apart
    from assignor_lab.runtime.discovery.entries import is_apart

    policy = run.config.effective().policy()
    others = [each for each in run.competing.assignors if not _is_own(each.distribution)]
    parts = [each.plugin for each in run.metrics.values() if not _is_own(each.distribution)]
    families = map(run.registry.family, run.plan.families)
    made = [each.plugin for each in families if not _is_own(each.distribution)]
    return all(runs_apart(each.found, policy) for each in others) and all(map(is_apart, (*parts, *made)))


def _is_own(distribution: str | None) -> bool:
    return distribution is not None and canonical_name(distribution) == BUILTIN_DISTRIBUTION
