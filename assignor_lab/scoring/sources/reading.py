"""Sources of states: scenario files, logs, recordings, documents in memory, and families by seed.

Sources are read once, checked, and written as lines of a temporary file. So an error in the last line is found before
scoring, the standard input can be a source, and memory use is constant. Generated histories are not written, only
counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignment_api.plugins.layers import ConfigLayer, Layer, default_layer
from assignment_api.releases import RELEASE_KEY
from assignor_lab.capture.errors import HistoryError, OneDecisionError
from assignor_lab.capture.histories.episodes import played_histories, with_terms
from assignor_lab.capture.histories.past import PastSurroundings, scenarios_of
from assignor_lab.capture.histories.past_files import NamedFile
from assignor_lab.capture.histories.past_terms import AUTO, DECISIONS, PLAYED, PastTerms
from assignor_lab.capture.histories.workload_file import weighed
from assignor_lab.groups.entries import KindEntry, entries
from assignor_lab.groups.runner.terms import names_of_kind
from assignor_lab.groups.streams_episode.past_plays import with_plays
from assignor_lab.model.events import GroupEvent
from assignor_lab.scenarios import Place, Scenario, ScenarioKindError, scenario_from_document
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scenarios.with_racks import RackFiller
from assignor_lab.scoring.contenders import kind_of_assignors
from assignor_lab.scoring.sources.parts import (
    FAMILY,
    SCENARIOS,
    EmptySourceError,
    Generated,
    SourceInput,
    holds_past,
    kept_input,
    parts_of,
    pasts_together,
    source_file,
)
from assignor_lab.scoring.sources.plan import NoSuchStateError, ScoringPlan, ScoringSource
from assignor_lab.scoring.sources.timelines import SourceTimeline
from assignor_lab.simulation.streams.formats.episodes import with_workload
from assignor_lab.verification.sample import DecisionSample

__all__ = [
    "EmptySourceError",
    "Generated",
    "NoSuchStateError",
    "NoWorkloadError",
    "ScoringPlan",
    "ScoringSource",
    "SourceInput",
    "family_names",
    "generated",
    "plan_sources",
]


def generated(families: Sequence[str], count: int, seed: int) -> tuple[Generated, ...]:
    """``count`` histories over all ``families``, as evenly as possible; each family starts at ``seed``."""
    if not families or count < 1:
        return ()
    share, left = divmod(count, len(families))
    shares = [share + (number < left) for number in range(len(families))]
    return tuple(Generated(name, own, seed) for name, own in zip(families, shares, strict=True) if own)


def family_names(registry: Registry, selectors: Iterable[str], assignors: Iterable[str] = ()) -> tuple[str, ...]:
    """Names of the selected families, each once.

    Args:
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


_DECISIONS = PastTerms()


def plan_sources(
    sources: Iterable[SourceInput],
    registry: Registry,
    config_layers: Sequence[ConfigLayer] = (),
    on_note: Callable[[str], None] | None = None,
    *,
    only_item: int | None = None,
    only_round: int | None = None,
    racks: Racks | None = None,
    past: PastTerms = _DECISIONS,
) -> ScoringPlan:
    """Reads and checks all sources.

    Args:
        sources: The sources, in order. A path is a log unless its first line is a scenario. A folder is a recording of
            ``assignor record``, or else stands for its files, by name. Adjacent logs are read together, because each
            instance of a group may have its own log.
        config_layers: The application's configuration, for logs and recordings, which lack it; the lowest layer first.
            Without single keys of the command line: those are settings of the run, not of the group.
        on_note: Called with each oddity of a log.
        only_item: Number of the one item to score, among all of them; ``None``: all are scored.
        only_round: The one round with kept rows. It is only checked here: the rounds before it are needed.
        racks: Racks for scenarios without them; ``None`` without such a file.
        past: How recorded pasts are read. With ``auto``, they are played if each source is a past (a recording, logs, a
            file that begins with a recorded decision) and some group has two decisions.

    Raises:
        RackContradictionError: if the racks contradict a scenario.
        NoSuchStateError: if no item has the number ``only_item``, or it lacks the round.
        DocumentFormatError: if a scenario file cannot be read.
        ScenarioKindError: if a scenario's kind cannot be scored, or differs from those before it.
        EmptySourceError: if there is nothing to score.
        HistoryError: if decisions to be played form no history.
        NoWorkloadError: if a workload is given for scenarios without one.
        LogImportError: if a log cannot be read, or contains no decision.
        UnknownPluginError: if there is no such family.
        AssignorLabError: for other defects of a source, with its place.
    """
    note = on_note or _ignore
    reading = _Reading(registry, _of_the_group(config_layers), only_item, only_round, racks, past)
    with ExitStack() as stack:
        parts = list(parts_of(sources))
        if past.way != AUTO:
            return reading.plan(pasts_together(parts) if past.way == PLAYED else parts, note)
        parts = [(name, kind, [kept_input(each, stack) for each in of]) for name, kind, of in parts]
        reading = reading.by(DECISIONS)
        if parts and all(holds_past(kind, of) for _, kind, of in parts):
            # If the sources cannot be played they are read again, which would repeat these notes.
            notes: list[str] = []
            try:
                plan = reading.by(PLAYED).plan(pasts_together(parts), notes.append)
            except HistoryError as error:
                if not all(kind == SCENARIOS for _, kind, _ in parts) or not isinstance(error, OneDecisionError):
                    note(f"each decision is scored by itself: {error}")
            else:
                for sentence in notes:
                    note(sentence)
                return plan
        return reading.plan(parts, note)


def _ignore(_sentence: str) -> None: ...


class NoWorkloadError(AssignorLabError):
    """A workload is given for scenarios that have none."""


@attrs.frozen
class _Reading:
    registry: Registry
    config: tuple[ConfigLayer, ...]
    only_item: int | None
    only_round: int | None
    racks: Racks | None
    past: PastTerms

    def by(self, way: str) -> _Reading:
        return attrs.evolve(self, past=attrs.evolve(self.past, way=way))

    def plan(self, parts: Sequence[tuple[str, str, list[Any]]], on_note: Callable[[str], None]) -> ScoringPlan:
        with ExitStack() as stack:
            lines = stack.enter_context(TemporaryFile(prefix="assignor-sources-"))
            found: list[ScoringSource] = []
            first = 0
            held: KindEntry | None = None
            digest = sha256()
            filler = None if self.racks is None else RackFiller(self.racks)
            around = attrs.evolve(self.past.around(self.config, on_note), racks=filler)
            sample = DecisionSample()
            events: list[tuple[str | None, GroupEvent]] = []
            earlier: list[Scenario] = []
            releases = Counter[str | None]()
            collecting = attrs.evolve(
                around, on_event=lambda group, event: events.append((group, event)), on_earlier=earlier.append
            )
            for name, kind, each in parts:
                if kind == FAMILY:
                    source = _family(each[0], first, self.registry)
                    family = self.registry.family(each[0].family).plugin
                    held = _one_kind(held, family.kind, f"family {each[0].family} generates histories")
                    releases[None] += source.items
                else:
                    count, rounds, own, timeline = 0, 1, sha256(), SourceTimeline()
                    for scenario in self._as_asked(
                        sample.passed(_scenarios(kind, each, collecting)), timeline, on_note
                    ):
                        held = _one_kind(held, scenario.kind, f"{scenario.place}: scenario {scenario.id!r} is")
                        if self.only_item in (None, first + count):
                            rounds = max(rounds, held.load().rounds(scenario))
                        place, document = _lay_down(lines, scenario)
                        digest.update(place + document)
                        own.update(document)
                        count += 1
                        shown = scenario.config.get(RELEASE_KEY)
                        releases[None if shown is None else str(shown)] += 1
                    if not count:
                        raise EmptySourceError(f"{name}: no scenario in it")
                    files = tuple(source_file(part) for part in each if isinstance(part, NamedFile))
                    source = ScoringSource(
                        name,
                        kind,
                        first,
                        count,
                        rounds=rounds,
                        files=files,
                        digest=own.hexdigest(),
                        timelines=timeline.timelines(events, earlier),
                        decisions=timeline.decisions if self.past.way == PLAYED else 0,
                        recorded=timeline.decisions,
                    )
                found.append(source)
                first += source.items
            if not found:
                raise EmptySourceError(
                    "nothing to score: name scenario files or logs, or a family with --families and --count"
                )
            _check_wanted(found, self.registry, self.only_item, self.only_round)
            for sentence in () if filler is None else filler.unused():
                on_note(sentence)
            stack.pop_all()
            read = partial(_read_again, [(kind, each) for _, kind, each in parts if kind != FAMILY])
            return ScoringPlan(
                found,
                lines,
                self.only_item,
                held,
                digest.hexdigest(),
                self.racks,
                self.past,
                sample,
                read,
                around,
                events,
                earlier,
                releases,
            )

    def _as_asked(
        self, scenarios: Iterable[Scenario], timeline: SourceTimeline, on_note: Callable[[str], None]
    ) -> Iterable[Scenario]:
        workload = self.past.workload_file
        if self.past.way == PLAYED:
            settings = self.past.typed_settings
            made = played_histories(_timed(scenarios, timeline), self.past.timings, workload, on_note, settings)
            return list(self._with_plays(made))
        if workload is not None:
            scenarios = _weighed(scenarios, workload)
        scenarios = with_terms(scenarios, self.past.timings, self.past.typed_settings)
        return _timed(self._with_plays(scenarios), timeline)

    def _with_plays(self, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
        # The group's own plays are those under its own configuration.
        own = ConfigSources((default_layer(),), self.config)
        return (with_plays(each, self.registry, own, self.past.plays, self.past.seed) for each in scenarios)


def _weighed(scenarios: Iterable[Scenario], workload: Path) -> Iterator[Scenario]:
    held = list(scenarios)
    if any("tasks" in each.document.get("initial", ()) for each in held):
        yield from (with_workload(each, workload) for each in held)
        return
    for each in held:
        if "tasks" not in each.document:
            raise NoWorkloadError(
                f"{each.place}: scenario {each.id!r:.80} is of kind {each.kind!r}, in which no workload counts: leave "
                "--workload away, or play the history of a group (--mode played)"
            )
    documents = weighed((each.document for each in held), workload)
    yield from (scenario_from_document(document, each.place) for document, each in zip(documents, held, strict=True))


def _read_again(parts: Sequence[tuple[str, Sequence[Any]]], around: PastSurroundings) -> Iterator[Scenario]:
    for kind, each in parts:
        yield from _scenarios(kind, each, around)


def _timed(scenarios: Iterable[Scenario], timeline: SourceTimeline) -> Iterator[Scenario]:
    for each in scenarios:
        timeline.add(each)
        yield each


def _check_wanted(sources: Sequence[ScoringSource], registry: Registry, item: int | None, number: int | None) -> None:
    chosen = [source for source in sources if item is None or source.first <= item < source.first + source.items]
    if not chosen:
        last = sources[-1].first + sources[-1].items - 1
        raise NoSuchStateError(f"no item {item}: the sources hold items 0 to {last}; see the column item of results")
    rounds = max(
        source.rounds if source.generated is None else registry.family(source.generated.family).plugin.rounds
        for source in chosen
    )
    if number is not None and number >= rounds:
        raise NoSuchStateError(f"no round {number}: there are rounds 0 to {rounds - 1}; a single state has round 0")


def _family(part: Generated, first: int, registry: Registry) -> ScoringSource:
    name = registry.family(part.family).name
    if part.count < 1:
        raise EmptySourceError(f"family {part.family}: {part.count} histories requested: give a number from 1")
    return ScoringSource(name, FAMILY, first, part.count, attrs.evolve(part, family=name))


def _scenarios(kind: str, parts: Sequence[Any], around: PastSurroundings) -> Iterator[Scenario]:
    for part in parts if kind == SCENARIOS else ():
        if isinstance(part, NamedFile):
            yield from scenarios_of(kind, [part], around)
            continue
        scenario = part if isinstance(part, Scenario) else scenario_from_document(dict(part), Place("(in memory)"))
        yield around.with_racks(scenario)
    if kind != SCENARIOS:
        yield from scenarios_of(kind, parts, around)


def _of_the_group(layers: Sequence[ConfigLayer]) -> tuple[ConfigLayer, ...]:
    """Only the configuration files: Kafka's own decision is always measured under the group's settings."""
    return tuple(
        attrs.evolve(
            layer,
            entries={key: held for key, held in layer.entries.items() if held.origin.layer is not Layer.COMMAND_LINE},
        )
        for layer in layers
    )


def _one_kind(held: KindEntry | None, kind: str, subject: str) -> KindEntry:
    """The kind called ``kind``, if it can be scored together with the kind before.

    Raises:
        ScenarioKindError: if not.
    """
    scored = {entry.name: entry for entry in entries() if entry.is_scored}
    if kind not in scored:
        raise ScenarioKindError(f"{subject} of kind {kind!r}: scoring takes kinds {', '.join(scored)}")
    if held is not None and held != scored[kind]:
        raise ScenarioKindError(
            f"{subject} of kind {kind!r}, and the items before it are of kind {held.name!r}: score each kind in a run "
            "of its own"
        )
    return scored[kind]


def _lay_down(lines: IO[bytes], scenario: Scenario) -> tuple[bytes, bytes]:
    document = f"{json.dumps(scenario.document, separators=(',', ':'), ensure_ascii=True)}\n".encode()
    place = f"{json.dumps(scenario.place.file)}\t{scenario.place.line or 0}\t".encode()
    lines.write(place)
    lines.write(document)
    if "plays" in scenario.document:
        # The draws follow from the past and the plugins; the digest is of the past alone.
        rest = {key: value for key, value in scenario.document.items() if key != "plays"}
        document = f"{json.dumps(rest, separators=(',', ':'), ensure_ascii=True)}\n".encode()
    return place, document
