"""The items of a run's work: a small value for each scenario or history."""

from __future__ import annotations

import attrs

from assignor_lab.scenarios import Scenario

__all__ = ["OBSERVED", "WorkItem"]

#: Name of Kafka's own decision; no plugin may use it.
OBSERVED = "kafka"


@attrs.frozen
class WorkItem:
    """One scenario, or one history of a family.

    Args:
        document: The scenario as a line of JSON; ``None`` for a history, which is sent as its seed.
        excluded: Assignors that are not called (:mod:`assignor_lab.scoring.engine.exclusion`).
        scenario: The scenario itself in place of ``document``, if it is in this process.
    """

    number: int
    source: int
    document: str | None = None
    file: str | None = None
    line: int | None = None
    family: str | None = None
    seed: int | None = None
    excluded: tuple[str, ...] = ()
    scenario: Scenario | None = None
