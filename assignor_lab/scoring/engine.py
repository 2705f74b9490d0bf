"""The engine of a run: whoever works through its items, on Spark or in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import attrs
import pyarrow as pa

from assignor_lab.groups.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.costs import SizeOf
from assignor_lab.scoring.exclusion import RunExclusions
from assignor_lab.scoring.sources import Plan

__all__ = ["Engine", "JobFailedError", "Pictures", "Wave", "Work"]

V = TypeVar("V")

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
        pieces: Folder where those who score may write the rows down, if they see it; ``None``: nowhere.
    """

    plan: Plan
    spec: JobSpec
    exclusions: RunExclusions
    done: int = 0
    sizes: Mapping[str, SizeOf] = attrs.field(factory=dict)
    pieces: Path | None = None


@attrs.frozen
class Wave:
    """What came of the next items of the plan.

    Args:
        items: Number of its items.
        rows: Their rows, all tables side by side, sorted by item, round and assignor; where they are in pieces, only
            the columns :data:`~assignor_lab.scoring.output.pieces.NOTED` of them, in no particular order.
        pieces: Files below :attr:`Work.pieces` that all of the rows are in; none: nobody wrote them down.
    """

    items: int
    rows: pa.Table
    pieces: tuple[Path, ...] = ()


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

    def mapped(self, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> list[Any]:
        """What ``call`` makes of each of ``values``, in their order, wherever there is room.

        Args:
            call: A function of a module. It reads and writes below ``seen`` and knows nothing else of this machine;
                what it gives is JSON. It may be called more than once with the same value.
            values: Plain data.
            seen: A folder. Who does not see it is not asked: then the call is made in this process.

        Raises:
            JobFailedError: if the engine gave up. What a call in this process raises passes.
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
