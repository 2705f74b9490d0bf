"""The opened sources: states and episodes from files and logs, growing recordings, and folders of finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.histories.past_files import flight_recordings
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.capture.recorded.kept_records import RECORDS
from assignor_lab.groups.kind import GroupKind
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scoring.output.folder import MANIFEST, REPORT, SUMMARY
from assignor_lab.scoring.sources.plan import ScoringPlan
from assignor_lab.scoring.sources.reading import NoWorkloadError, plan_sources
from assignor_lab.scoring.sources.verification import verification_of
from assignor_lab.web.errors import NotThereError
from assignor_lab.web.following import FollowedRecording
from assignor_lab.web.past import pasts_of
from assignor_lab.web.states import OpenedStates, StateEntry

__all__ = ["Opened", "OpenedRun", "opened"]

_DECISIONS = PastTerms()
#: Most states of one source that are kept; the rest is counted.
MOST_STATES = 5_000


@attrs.frozen
class OpenedRun:
    """A folder of a finished run, whose report is shown unchanged."""

    name: str
    report: Path
    title: str


@attrs.frozen(eq=False)
class Opened:
    """All opened sources, in order."""

    sources: tuple[OpenedStates | FollowedRecording | OpenedRun, ...]

    def states(self, number: int) -> OpenedStates:
        """The present states of a source, from 0.

        Raises:
            NotThereError: if there is no such source, it is a finished run, or a recording without any state yet.
        """
        found = self.sources[number] if 0 <= number < len(self.sources) else None
        if isinstance(found, FollowedRecording):
            followed = found
            found = followed.states
            if found is None:
                raise NotThereError(f"{followed.name}: {followed.pulse().sentence}")
        if not isinstance(found, OpenedStates):
            raise NotThereError(f"source {number} is none with states")
        return found

    def recording(self, number: int) -> FollowedRecording | None:
        """A source that may grow; ``None``: it cannot."""
        found = self.sources[number] if 0 <= number < len(self.sources) else None
        return found if isinstance(found, FollowedRecording) else None


def opened(
    paths: Iterable[str],
    registry: Registry,
    config: ConfigSources,
    on_note: Callable[[str], None],
    terms: PastTerms = _DECISIONS,
    racks: Racks | None = None,
) -> Opened:
    """Opens sources as ``assignor score`` reads them; a folder of a run is opened as its report.

    Raises:
        NotThereError: if a folder of a run is incomplete.
        AssignorLabError: a subclass, if a source cannot be read, with its place.
    """
    return Opened(tuple(each for path in paths for each in _opened(path, registry, config, on_note, terms, racks)))


def _opened(
    path: str,
    registry: Registry,
    config: ConfigSources,
    on_note: Callable[[str], None],
    terms: PastTerms,
    racks: Racks | None,
) -> Iterator[OpenedStates | FollowedRecording | OpenedRun]:
    folder = Path(path)
    missing = [name for name in (MANIFEST, SUMMARY, REPORT) if not (folder / name).is_file()]
    if not missing:
        yield OpenedRun(path, folder / REPORT, folder.absolute().name)
        return
    if len(missing) < 3:
        raise NotThereError(
            f"{path}: a run that is not complete: {missing[0]} is missing: finish it with `assignor score --resume`"
        )
    recordings = flight_recordings(folder)
    for records in recordings:
        name = path if len(recordings) == 1 else str(records.parent)
        read = partial(_read, name, [str(records.parent if records.name == RECORDS else records)], registry, config)
        # A growing recording is read again and again: its past is played once, until a page asks for more.
        once = attrs.evolve(terms, plays=1)
        followed = FollowedRecording(name, records, partial(read, lambda _sentence: None, once, racks))
        if followed.states is None:
            on_note(f"{name}: {followed.pulse().sentence}")
        yield followed
    if not recordings:
        yield _read(path, [path], registry, config, on_note, terms, racks)


def _read(
    name: str,
    paths: Sequence[str],
    registry: Registry,
    config: ConfigSources,
    on_note: Callable[[str], None],
    terms: PastTerms = _DECISIONS,
    racks: Racks | None = None,
) -> OpenedStates:
    try:
        made = plan_sources(paths, registry, config.above, on_note, past=terms, racks=racks)
    except NoWorkloadError:
        on_note(f"{name}: its states have no workload: --workload counts where their past is played")
        weightless = attrs.evolve(terms, workload=None)
        made = plan_sources(paths, registry, config.above, on_note, past=weightless, racks=racks)
    with made as plan:
        scenarios = tuple(islice(plan.scenarios(), MOST_STATES))
        kind = plan.kind.load()
        return OpenedStates(
            name,
            plan.kind,
            scenarios,
            tuple(_entry(kind, scenario) for scenario in scenarios),
            plan.items - len(scenarios),
            pasts_of(scenarios, plan.events, plan.earlier),
            plan.digest,
            _files(plan),
            verification_of(plan, registry, config),
        )


def _entry(kind: GroupKind[Any, Any], scenario: Scenario) -> StateEntry:
    tasks, clients = kind.size(scenario)
    return StateEntry(scenario.id, kind.rounds(scenario), tasks, clients, _time(scenario))


def _files(plan: ScoringPlan) -> tuple[tuple[Path, int], ...]:
    found = [Path(file.name) for source in plan.sources for file in source.files if file.sha256 is not None]
    return tuple((path, path.stat().st_mtime_ns) for path in found if path.is_file())


def _time(scenario: Scenario) -> int | None:
    source = scenario.document.get("source")
    time = source.get("time_ms") if isinstance(source, dict) else None
    return time if type(time) is int else None
