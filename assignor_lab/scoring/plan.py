"""The work of a scoring run: sources once they are read, and the items in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Self

import attrs

from assignment_api import AssignorLabError
from assignor_lab.capture.histories.past import Surroundings
from assignor_lab.capture.histories.past_terms import PLAYED, PastTerms
from assignor_lab.groups.entries import KindEntry, default_kind
from assignor_lab.groups.work import WorkItem
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scoring.source_files import SourceFile
from assignor_lab.scoring.source_parts import LOG, RECORDING, Generated
from assignor_lab.verification.sample import DecisionSample

__all__ = ["NoSuchStateError", "Plan", "Source"]


class NoSuchStateError(AssignorLabError):
    """A single item or round is asked for that the sources do not have."""


@attrs.frozen
class Source:
    """A source once it is read.

    Args:
        name: As it was given.
        kind: ``scenarios``, ``log``, ``recording`` or ``family``.
        first: Number of its first work item.
        items: Number of its work items: scenarios or histories.
        generated: The histories, where it is a family.
        rounds: Rounds of the longest of its scenarios that are asked for.
        files: The files that it was read from.
        digest: SHA-256 (hex) of its scenarios, whatever the files are called; empty for a family.
        timelines: What happened to the groups whose recorded decisions it holds.
        decisions: Number of recorded decisions that it was read from, where those are played as histories; else 0.
        recorded: Number of recorded decisions in it, however they were read.
    """

    name: str
    kind: str
    first: int
    items: int
    generated: Generated | None = None
    rounds: int = 1
    files: tuple[SourceFile, ...] = ()
    digest: str = ""
    timelines: tuple[Mapping[str, Any], ...] = ()
    decisions: int = 0
    recorded: int = 0


_DECISIONS = PastTerms()
_NOTHING = Surroundings()


class Plan:
    """All work of a run; a context, because of its temporary file.

    Args:
        sources: The sources, in order.
        lines: One line for each scenario, in order.
        only: Number of the one item that is work; ``None``: all are.
        kind: Kind of all scenarios.
        digest: SHA-256 (hex) of all scenarios and their places.
        racks: Racks that were filled into the scenarios, or ``None``.
        past: How recorded pasts were read; its way is ``played`` or ``decisions``.
        sample: Recorded decisions of the groups in the sources, for their verification.
        read: Reads all sources but families once more.
        around: The surroundings that they were read with.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        lines: IO[bytes],
        only: int | None = None,
        kind: KindEntry | None = None,
        digest: str = "",
        racks: Racks | None = None,
        past: PastTerms = _DECISIONS,
        sample: DecisionSample | None = None,
        read: Callable[[Surroundings], Iterator[Scenario]] | None = None,
        around: Surroundings = _NOTHING,
    ) -> None:
        self.sample = DecisionSample() if sample is None else sample
        self.read = read
        self.around = around
        self.past = past
        self.sources = tuple(sources)
        self.kind = default_kind() if kind is None else kind
        self.only = only
        self.digest = digest
        self.racks = racks
        self._lines = lines

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    @property
    def items(self) -> int:
        """Number of work items."""
        return 1 if self.only is not None else sum(source.items for source in self.sources)

    @property
    def noun(self) -> str:
        """Name of a work item: ``history`` if each has several rounds, ``state`` if none has, else ``item``."""
        several = {source.generated is not None or source.rounds > 1 for source in self.sources}
        return "item" if len(several) > 1 else "history" if several == {True} else "state"

    @property
    def has_pasts(self) -> bool:
        """Whether it matters how pasts were read: by default that depends on what else was given."""
        told = (self.past.topology, self.past.timezone, self.past.workload)
        return (
            self.past.way == PLAYED
            or any(each is not None for each in told)
            or any(source.recorded or source.kind in (LOG, RECORDING) for source in self.sources)
        )

    def work(self, wanted: frozenset[int] | None = None) -> Iterator[WorkItem]:
        """The work items in order; only one reader at a time.

        Args:
            wanted: Numbers of the items to yield; ``None``: all.
        """
        self._lines.seek(0)
        for position, source in enumerate(self.sources):
            for number in range(source.first, source.first + source.items):
                line = b"" if source.generated is not None else self._lines.readline()
                if (wanted is not None and number not in wanted) or self.only not in (None, number):
                    continue
                if source.generated is not None:
                    seed = source.generated.seed + number - source.first
                    yield WorkItem(number, position, family=source.generated.family, seed=seed)
                else:
                    yield _laid_down(line, number, position)

    def scenarios(self) -> Iterator[Scenario]:
        """The scenarios among the work items, in order; histories of families are none."""
        for item in self.work():
            if item.document is not None:
                yield scenario_from_document(json.loads(item.document), Place(item.file or "-", item.line))


def _laid_down(line: bytes, number: int, position: int) -> WorkItem:
    file, place, document = line.decode().rstrip("\n").split("\t", 2)
    return WorkItem(number, position, document, json.loads(file), int(place) or None)
