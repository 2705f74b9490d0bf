"""The work of a scoring run: its sources after reading, and their items."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import IO, Self

import attrs

from assignment_api import AssignorLabError
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.capture.histories.past_terms import PLAYED, PastTerms
from assignor_lab.groups.entries import KindEntry, default_kind
from assignor_lab.groups.work import WorkItem
from assignor_lab.model.events import GroupEvent
from assignor_lab.model.run_summary import PastTimeline
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scoring.sources.parts import LOG, RECORDING, Generated, SourceFile
from assignor_lab.verification.sample import DecisionSample

__all__ = ["NoSuchStateError", "ScoringPlan", "ScoringSource"]


class NoSuchStateError(AssignorLabError):
    """The sources do not have the requested item or round."""


@attrs.frozen
class ScoringSource:
    """A source after reading.

    Args:
        items: Number of its work items: scenarios or histories.
        digest: SHA-256 (hex) of its scenarios, independent of file names; empty for a family.
        timelines: Timelines of the groups with recorded decisions in it.
        recorded: Number of its recorded decisions in any case.
    """

    name: str
    kind: str
    first: int
    items: int
    generated: Generated | None = None
    rounds: int = 1
    files: tuple[SourceFile, ...] = ()
    digest: str = ""
    timelines: tuple[PastTimeline, ...] = ()
    decisions: int = 0
    recorded: int = 0


_DECISIONS = PastTerms()
_NOTHING = PastSurroundings()


class ScoringPlan:
    """All work of a run; a context, because of its temporary file.

    Args:
        racks: Racks that were filled into the scenarios, or ``None``.
        read: Reads all sources except families again.
        events: Of recorded groups, each with its group or ``None``.
        earlier: Decisions under an earlier protocol, which are part of a past and are not scored.
        releases: Releases of Kafka that the states show, ``None`` for states without one, and their states.
    """

    def __init__(
        self,
        sources: Sequence[ScoringSource],
        lines: IO[bytes],
        only: int | None = None,
        kind: KindEntry | None = None,
        digest: str = "",
        racks: Racks | None = None,
        past: PastTerms = _DECISIONS,
        sample: DecisionSample | None = None,
        read: Callable[[PastSurroundings], Iterator[Scenario]] | None = None,
        around: PastSurroundings = _NOTHING,
        events: Sequence[tuple[str | None, GroupEvent]] = (),
        earlier: Sequence[Scenario] = (),
        releases: Mapping[str | None, int] = MappingProxyType({}),
    ) -> None:
        self.earlier = tuple(earlier)
        self.releases = releases
        self.events = tuple(events)
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
        return 1 if self.only is not None else sum(source.items for source in self.sources)

    @property
    def families(self) -> tuple[str, ...]:
        """Names of the families whose histories are generated, sorted."""
        return tuple(sorted({source.generated.family for source in self.sources if source.generated is not None}))

    @property
    def noun(self) -> str:
        """Name of a work item: ``history`` if each has several rounds, ``state`` if none has, else ``item``."""
        several = {source.generated is not None or source.rounds > 1 for source in self.sources}
        return "item" if len(several) > 1 else "history" if several == {True} else "state"

    @property
    def has_pasts(self) -> bool:
        surroundings = (self.past.topology, self.past.timezone, self.past.dates, self.past.day, self.past.workload)
        return (
            self.past.way == PLAYED
            or any(each is not None for each in surroundings)
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
        """The scenarios among the work items, in order, without histories of families."""
        for item in self.work():
            if item.document is not None:
                yield scenario_from_document(json.loads(item.document), Place(item.file or "-", item.line))


def _laid_down(line: bytes, number: int, position: int) -> WorkItem:
    file, place, document = line.decode().rstrip("\n").split("\t", 2)
    return WorkItem(number, position, document, json.loads(file), int(place) or None)
