"""The engine of a run: whoever works through its items, on Spark or in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

import attrs
import pyarrow as pa

from assignor_lab.groups.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.costs import SizeOf
from assignor_lab.scoring.exclusion import RunExclusions
from assignor_lab.scoring.sources import Plan

__all__ = ["Engine", "JobFailedError", "Pictures", "Wave", "Work"]

#: Item and round to the picture of that state, as :meth:`assignor_lab.groups.kind.Kind.picture` makes it.
Pictures = Mapping[tuple[int, int], dict[str, Any]]


class JobFailedError(Exception):
    """The engine gave a job up; the message is one line, the cause has the rest."""


@attrs.frozen(eq=False)
class Work:
    """What is to be worked through.

    Args:
        plan: All items; they are read as they are needed.
        spec: The terms of the run.
        exclusions: Who is not asked any more; the engine tells it of each wave.
        done: Items at the beginning of the plan that are left out.
        sizes: Family to the size of a history by its seed, for families that tell it.
    """

    plan: Plan
    spec: JobSpec
    exclusions: RunExclusions
    done: int = 0
    sizes: Mapping[str, SizeOf] = attrs.field(factory=dict)


@attrs.frozen
class Wave:
    """What came of the next items of the plan.

    Args:
        items: Number of its items.
        rows: Their rows, both tables side by side, sorted by item, round and assignor.
    """

    items: int
    rows: pa.Table


class Engine(Protocol):
    """Works through the items of a run."""

    @property
    def cores(self) -> int | None:
        """Items that are worked on at a time; ``None``: not known."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Name to version of what it runs on, Python aside."""

    @property
    def terms(self) -> Mapping[str, str]:
        """What of it decides the rows, by name: a run is gone on with only under equal terms."""

    def waves(self, work: Work) -> Iterator[Wave]:
        """The rows of all answers in the order of the plan, a table for each wave.

        Raises:
            JobFailedError: if the engine gave up.
        """

    def pictures(
        self, spec: JobSpec, items: Iterable[WorkItem], wanted: Mapping[tuple[int, int], str | None]
    ) -> Pictures:
        """The full pictures of some states, whose items are worked on once more.

        Args:
            spec: The terms of the run.
            items: The items that the states belong to.
            wanted: Pairs of item and round, each with the assignor whose state is to be shown where they differ.

        Raises:
            JobFailedError: if the engine gave up.
        """
