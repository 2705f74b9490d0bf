"""Sources of states: scenario files, logs, recordings, documents in memory, and families by seed.

Sources are read once, checked, and laid down as lines of a temporary file, so that a fault in the last line is found
before anything is scored, the standard input can be a source, and memory stays flat. Histories are not laid down: they
are counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, Self

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import Registry
from assignment_api.plugins.layers import ConfigLayer, Layer
from assignor_lab.capture.histories.flight_recordings import recorded_decisions
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.groups.entries import KindEntry, default_kind, entries
from assignor_lab.groups.families import names_of_kind
from assignor_lab.groups.work import WorkItem
from assignor_lab.scenarios import Place, Scenario, ScenarioKindError, read_scenarios, scenario_from_document
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scenarios.with_racks import RackFiller
from assignor_lab.scoring.competitors import kind_of_assignors
from assignor_lab.scoring.source_files import NamedFile, SourceFile, source_file
from assignor_lab.scoring.source_parts import (
    FAMILY,
    LOG,
    RECORDING,
    EmptySourceError,
    Generated,
    SourceInput,
    parts_of,
)
from assignor_lab.scoring.timelines import SourceTimeline

__all__ = [
    "EmptySourceError",
    "Generated",
    "NoSuchStateError",
    "Plan",
    "Source",
    "SourceInput",
    "family_names",
    "generated",
    "plan_sources",
]


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


def generated(families: Sequence[str], count: int, seed: int) -> tuple[Generated, ...]:
    """``count`` histories over all ``families``, as evenly as it goes; each family starts at ``seed``."""
    if not families or count < 1:
        return ()
    share, left = divmod(count, len(families))
    shares = [share + (number < left) for number in range(len(families))]
    return tuple(Generated(name, own, seed) for name, own in zip(families, shares, strict=True) if own)


class Plan:
    """All work of a run; a context, because of its temporary file.

    Args:
        sources: The sources, in order.
        lines: One line for each scenario, in order.
        only: Number of the one item that is work; ``None``: all are.
        kind: Kind of all scenarios.
        digest: SHA-256 (hex) of all scenarios and their places.
        racks: Racks that were filled into the scenarios, or ``None``.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        lines: IO[bytes],
        only: int | None = None,
        kind: KindEntry | None = None,
        digest: str = "",
        racks: Racks | None = None,
    ) -> None:
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


def family_names(registry: Registry, selectors: Iterable[str], assignors: Iterable[str] = ()) -> tuple[str, ...]:
    """Names of the families that ``selectors`` mean, each once.

    Args:
        registry: What is installed.
        selectors: Names, or ``all`` for every installed family of the kind that ``assignors`` answer.
        assignors: Selectors of the assignors of the run; none: families of Streams.

    Raises:
        PluginError: a subclass, as :meth:`assignment_api.plugins.Registry.family` raises it.
    """
    names: dict[str, None] = {}
    kind = kind_of_assignors(registry, assignors).name
    for selector in selectors:
        for part in selector.split(","):
            if part.strip() == "all":
                names.update(dict.fromkeys(names_of_kind(registry, kind)))
            else:
                names[registry.family(part).name] = None
    return tuple(names)


def plan_sources(
    sources: Iterable[SourceInput],
    registry: Registry,
    config_layers: Sequence[ConfigLayer] = (),
    on_note: Callable[[str], None] | None = None,
    *,
    only_item: int | None = None,
    only_round: int | None = None,
    racks: Racks | None = None,
) -> Plan:
    """Reads and checks all sources.

    Args:
        sources: What to score, in order. A path is a log unless its first line is a scenario; a folder is a recording
            if ``assignor record`` has written it, and else stands for the files in it, by name. Neighbouring logs are
            read together, since the instances of a group may each have a log of their own.
        registry: Where families are found.
        config_layers: The application's configuration, for logs and recordings, which do not tell it; the lowest layer
            first. What the command line says of single keys is left out: that is what is asked now, not what the group
            had.
        on_note: Told of what is odd in a log.
        only_item: Number of the one item to score, among all of them; ``None``: all are scored.
        only_round: The one round whose rows are kept. It is only checked here: the rounds before it are needed.
        racks: Racks for the scenarios whose sources do not tell them; ``None``: there is no such file.

    Raises:
        RackContradictionError: if they contradict a scenario.
        NoSuchStateError: if no item has the number ``only_item``, or none such a round.
        DocumentFormatError: if a scenario file cannot be read.
        ScenarioKindError: if a scenario is of a kind that is not scored, or not of the kind of those before it.
        EmptySourceError: if there is nothing to score.
        LogImportError: if a log cannot be read, or no decision is in it.
        UnknownPluginError: if there is no such family.
        AssignorLabError: what else is wrong with a source, with its place.
    """
    with ExitStack() as stack:
        lines = stack.enter_context(TemporaryFile(prefix="assignor-sources-"))
        found: list[Source] = []
        first = 0
        held: KindEntry | None = None
        digest = sha256()
        filler = None if racks is None else RackFiller(racks)
        for name, kind, parts in parts_of(sources):
            if kind == FAMILY:
                part = parts[0]
                assert isinstance(part, Generated)
                source = _family(part, first, registry)
                family = registry.family(part.family).plugin
                held = _one_kind(held, family.kind, f"family {part.family} generates histories")
            else:
                count, rounds, own, told = 0, 1, sha256(), SourceTimeline()
                for read in _scenarios(kind, parts, _of_the_group(config_layers), on_note):
                    scenario = read
                    if filler is not None:
                        scenario = scenario_from_document(filler.filled(read.document), read.place)
                    held = _one_kind(held, scenario.kind, f"{scenario.place}: scenario {scenario.id!r} is")
                    if only_item in (None, first + count):
                        rounds = max(rounds, held.load().rounds(scenario))
                    place, document = _lay_down(lines, scenario)
                    told.add(scenario)
                    digest.update(place + document)
                    own.update(document)
                    count += 1
                if not count:
                    raise EmptySourceError(f"{name}: no scenario in it")
                files = tuple(source_file(part) for part in parts if isinstance(part, NamedFile))
                source = Source(
                    name,
                    kind,
                    first,
                    count,
                    rounds=rounds,
                    files=files,
                    digest=own.hexdigest(),
                    timelines=told.documents(),
                )
            found.append(source)
            first += source.items
        if not found:
            raise EmptySourceError(
                "nothing to score: name scenario files or logs, or a family with --families and --count"
            )
        _check_wanted(found, registry, only_item, only_round)
        if filler is not None and on_note is not None:
            for sentence in filler.unused():
                on_note(sentence)
        stack.pop_all()
        return Plan(found, lines, only_item, held, digest.hexdigest(), racks)


def _check_wanted(sources: Sequence[Source], registry: Registry, item: int | None, number: int | None) -> None:
    """Raises ``NoSuchStateError`` unless there is such an item, and such a round of it."""
    holding = [source for source in sources if item is None or source.first <= item < source.first + source.items]
    if not holding:
        last = sources[-1].first + sources[-1].items - 1
        raise NoSuchStateError(f"no item {item}: the sources hold items 0 to {last}; see the column item of results")
    rounds = max(
        source.rounds if source.generated is None else registry.family(source.generated.family).plugin.rounds
        for source in holding
    )
    if number is not None and number >= rounds:
        raise NoSuchStateError(f"no round {number}: there are rounds 0 to {rounds - 1}; a single state has round 0")


def _family(part: Generated, first: int, registry: Registry) -> Source:
    name = registry.family(part.family).name
    if part.count < 1:
        raise EmptySourceError(f"family {part.family}: {part.count} histories asked for: give a number from 1")
    return Source(name, FAMILY, first, part.count, attrs.evolve(part, family=name))


def _scenarios(
    kind: str, parts: Sequence[Any], config_layers: Sequence[ConfigLayer], on_note: Callable[[str], None] | None
) -> Iterator[Scenario]:
    if kind == RECORDING:
        records, *beside = (Path(part.path) for part in parts)
        for document in recorded_decisions(records, config_layers, on_problem=on_note or _ignore, beside=beside):
            source = document.get("source") or {}
            if "file" in source:
                source["file"] = parts[0].name
            yield scenario_from_document(document, Place(parts[0].name, source.get("line")))
        return
    if kind == LOG:
        names = {str(part.path): part.name for part in parts}
        for document in import_log(
            [part.path for part in parts], config_layers=config_layers, on_problem=_told(on_note)
        ):
            source = document.get("source") or {}
            if source.get("file") in names:
                source["file"] = names[source["file"]]
            yield scenario_from_document(document, Place(str(source.get("file", "-")), source.get("line")))
        return
    for part in parts:
        if isinstance(part, Scenario):
            yield part
        elif isinstance(part, Mapping):
            yield scenario_from_document(dict(part), Place("(in memory)"))
        else:
            yield from read_scenarios(part.path, name=part.name)


def _ignore(_problem: str) -> None:
    """Nobody wants to know."""


def _of_the_group(layers: Sequence[ConfigLayer]) -> tuple[ConfigLayer, ...]:
    """Files alone: Kafka's own decision is always measured under the settings that it was made under."""
    return tuple(
        attrs.evolve(
            layer,
            entries={key: held for key, held in layer.entries.items() if held.origin.layer is not Layer.COMMAND_LINE},
        )
        for layer in layers
    )


def _told(on_note: Callable[[str], None] | None) -> Callable[[object], None] | None:
    return None if on_note is None else lambda problem: on_note(str(problem))


def _one_kind(held: KindEntry | None, kind: str, subject: str) -> KindEntry:
    """The kind called ``kind``, if it can be scored together with what there was before it.

    Raises:
        ScenarioKindError: if not.
    """
    scored = {entry.name: entry for entry in entries() if entry.is_scored}
    if kind not in scored:
        raise ScenarioKindError(f"{subject} of kind {kind!r}: scoring takes kinds {', '.join(scored)}")
    if held is not None and held != scored[kind]:
        raise ScenarioKindError(
            f"{subject} of kind {kind!r}, and what comes before it is of kind {held.name!r}: score each kind in a run "
            "of its own"
        )
    return scored[kind]


def _lay_down(lines: IO[bytes], scenario: Scenario) -> tuple[bytes, bytes]:
    """Writes the line of a scenario, and returns its place and its document."""
    document = f"{json.dumps(scenario.document, separators=(',', ':'), ensure_ascii=True)}\n".encode()
    place = f"{json.dumps(scenario.place.file)}\t{scenario.place.line or 0}\t".encode()
    lines.write(place)
    lines.write(document)
    return place, document
