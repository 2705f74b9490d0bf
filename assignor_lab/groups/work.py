"""What travels to the executors: the job's terms once, and a small item for each scenario or history."""

from __future__ import annotations

import attrs

from assignment_api.plugins.selection import ConfigSources
from assignor_lab.runtime.executor_wheels import ExecutorWheel

__all__ = ["NO_CONFIG", "STREAMS", "JobSpec", "WorkItem"]

#: The kind of scenarios that are applications of Kafka Streams.
STREAMS = "streams"
#: Scenarios under their own configuration alone.
NO_CONFIG = ConfigSources((), ())


@attrs.frozen
class WorkItem:
    """One scenario, or one history of a family.

    Args:
        number: Its position in the run, from 0: the first sort key of the results.
        source: Position of the source that it came from.
        document: The scenario as a line of JSON, or ``None`` for a history, which travels as its seed.
        file: Where the scenario was read, as the user named it.
        line: Line in that file.
        family: Name of the family, or ``None`` for a scenario.
        seed: Seed of the history.
        excluded: Assignors that are not asked (:mod:`assignor_lab.scoring.exclusion`).
    """

    number: int
    source: int
    document: str | None = None
    file: str | None = None
    line: int | None = None
    family: str | None = None
    seed: int | None = None
    excluded: tuple[str, ...] = ()


@attrs.frozen
class JobSpec:
    """The terms of a run: who competes, what is measured, under which configuration.

    Names only: an executor finds the plugins for itself, with the same policy.

    Args:
        assignors: Selectors of the assignors, in the order in which they are asked.
        metrics: Names of the metrics, in the order of the columns.
        families: Names of the families that histories belong to.
        config: Configuration below and above a scenario's own; it holds the policy, too.
        may_run_code: Whether ``module:attribute`` among the assignors may be imported.
        observed: Score what Kafka really decided, too, where it is known.
        kind: Kind of the scenarios: ``streams``, ``connect`` or ``connect-episode``.
        wheels: Plugins that travel.
    """

    assignors: tuple[str, ...]
    metrics: tuple[str, ...]
    families: tuple[str, ...] = ()
    config: ConfigSources = NO_CONFIG
    may_run_code: bool = False
    observed: bool = True
    kind: str = STREAMS
    wheels: tuple[ExecutorWheel, ...] = ()
