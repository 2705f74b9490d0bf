"""The items of a run's work: a small value for each scenario or history."""

from __future__ import annotations

import attrs

from assignor_lab.scenarios import Scenario

__all__ = ["OBSERVED", "WorkItem"]

#: Name under which Kafka's own decision is filed; no plugin may take it.
OBSERVED = "kafka"


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
        settled_before: What was lost in the items before this number decides who that is.
        scenario: The scenario itself in place of ``document``, where it has been read and the item does not travel.
    """

    number: int
    source: int
    document: str | None = None
    file: str | None = None
    line: int | None = None
    family: str | None = None
    seed: int | None = None
    excluded: tuple[str, ...] = ()
    settled_before: int = 0
    scenario: Scenario | None = None
