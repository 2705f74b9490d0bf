"""The engine of a run: works through its items, on Spark or in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import attrs
import pyarrow as pa

from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.model.pictures import Picture
from assignor_lab.scoring.engine.costs import SizeOf
from assignor_lab.scoring.engine.exclusion import RunExclusions
from assignor_lab.scoring.sources.plan import ScoringPlan

__all__ = ["Engine", "JobFailedError", "Pictures", "Wave", "RunWork"]

V = TypeVar("V")

#: Item and round to the picture of that state, from :meth:`assignor_lab.groups.kind.GroupKind.picture`.
Pictures = Mapping[tuple[int, int], Picture]


class JobFailedError(Exception):
    """The engine aborted a job; the message is one line, the cause has the details."""


@attrs.frozen(eq=False)
class RunWork:
    """The work of a run.

    Args:
        done: Number of items to skip at the beginning of the plan.
    """

    plan: ScoringPlan
    spec: JobSpec
    exclusions: RunExclusions
    done: int = 0
    sizes: Mapping[str, SizeOf] = attrs.field(factory=dict)
    pieces: Path | None = None


@attrs.frozen
class Wave:
    """The outcome of the next items of the plan.

    Args:
        rows: Their rows, all tables side by side, sorted by item, round and assignor. For rows in pieces, only the
            columns :data:`~assignor_lab.scoring.output.pieces.NOTED`, in undefined order.
        pieces: Files below :attr:`RunWork.pieces` with all of the rows; empty if none were written.
    """

    items: int
    rows: pa.Table
    pieces: tuple[Path, ...] = ()


class Engine(Protocol):
    """Works through the items of a run."""

    @property
    def cores(self) -> int | None: ...

    @property
    def versions(self) -> Mapping[str, str]:
        """Name to version of its software, without Python."""

    @property
    def terms(self) -> Mapping[str, str]:
        """Settings that affect the rows, by name: a run is resumed only under equal terms."""

    def waves(self, work: RunWork) -> Iterator[Wave]:
        """The rows of all answers in the order of the plan, a table for each wave.

        Raises:
            JobFailedError: if the engine aborted.
        """

    def mapped(self, call: Callable[[V], Any], values: Sequence[V], seen: Path) -> list[Any]:
        """Results of ``call`` for each of ``values``, in their order, computed on any free core.

        Args:
            call: A function of a module. It reads and writes below ``seen`` and uses nothing else of this machine; its
                result is JSON. It may be called more than once with the same value.
            seen: A folder. If workers do not see it, the call runs in this process.

        Raises:
            JobFailedError: if the engine aborted. Exceptions of a call in this process pass.
        """

    def pictures(
        self, spec: JobSpec, items: Iterable[WorkItem], wanted: Mapping[tuple[int, int], str | None]
    ) -> Pictures:
        """The full pictures of some states, computed again.

        Raises:
            JobFailedError: if the engine aborted.
        """
