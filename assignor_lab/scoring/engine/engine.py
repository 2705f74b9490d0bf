"""The engine of a run: writes the rows of its blocks, on Spark or in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import attrs

from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.model.pictures import Picture
from assignor_lab.scoring.engine.blocks import RunPart
from assignor_lab.scoring.engine.exclusion import PenaltyRules

__all__ = ["BlockWork", "Engine", "JobFailedError", "Pictures", "RowsTarget"]

V = TypeVar("V")

#: Item and round to the picture of that state, from :meth:`assignor_lab.groups.kind.GroupKind.picture`.
Pictures = Mapping[tuple[int, int], Picture]


class JobFailedError(Exception):
    """The engine aborted a job; the message is one line, the cause has the details."""


@attrs.frozen
class RowsTarget:
    """The place of a part's rows.

    Args:
        url: A folder, for messages only if there is a table.
        folder: The same as a folder of this machine; ``None`` if it is none.
        format: Format of the files or of the table, as Spark names it.
        table: Name of a table of Spark's catalog that gets the rows of all parts; ``None``: the folder.
    """

    url: str
    folder: Path | None = None
    format: str = "parquet"
    table: str | None = None


@attrs.frozen(eq=False)
class BlockWork:
    """Blocks of one part of a run that are not written yet.

    Args:
        blocks: Their numbers, in order.
        points: Penalty points of plugins in the parts before.
        costs: Number of a block to its expected cost, relative to the others; empty if costs are not estimated.
        seconds: Expected time of the blocks on one core, by the parts before; ``None`` for the first part.
        is_new: False if the target has blocks of the part already.
    """

    part: RunPart
    blocks: tuple[int, ...]
    spec: JobSpec
    rules: PenaltyRules
    points: Mapping[str, int]
    target: RowsTarget
    costs: Mapping[int, float] = attrs.field(factory=dict)
    seconds: float | None = None
    is_new: bool = True


class Engine(Protocol):
    """Works through the blocks of a run."""

    @property
    def cores(self) -> int | None: ...

    @property
    def versions(self) -> Mapping[str, str]:
        """Name to version of its software, without Python."""

    @property
    def terms(self) -> Mapping[str, str]:
        """Settings that affect the rows, by name: a run is resumed only under equal terms."""

    def write(self, work: BlockWork, on_tick: Callable[[], None]) -> None:
        """Writes files of Parquet, each complete or absent, with whole blocks and their numbers in the rows.

        Args:
            on_tick: Called now and then; more blocks may be complete.

        Raises:
            JobFailedError: if the engine aborted.
            OSError: if a file cannot be written.
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
