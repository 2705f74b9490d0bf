"""What was opened: states and episodes from files, logs and recordings, and folders of finished runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.entries import KindEntry
from assignor_lab.scenarios import Scenario
from assignor_lab.scoring.output.folder import MANIFEST, REPORT, SUMMARY
from assignor_lab.scoring.sources import plan_sources
from assignor_lab.web.errors import NotThereError

__all__ = ["Entry", "Opened", "OpenedRun", "OpenedStates", "opened"]

#: Most states of one source that are kept; the rest is counted.
MOST_STATES = 5_000


@attrs.frozen
class Entry:
    """One state or episode as the list shows it.

    Args:
        id: Its id.
        rounds: Rounds that it holds.
        tasks: Its tasks.
        clients: Its clients, processes or workers.
        time_ms: When it was decided, milliseconds since the epoch, or ``None``: the source does not tell.
    """

    id: str
    rounds: int
    tasks: int
    clients: int
    time_ms: int | None


@attrs.frozen(eq=False)
class OpenedStates:
    """States or episodes of one source.

    Args:
        name: As it was given.
        kind: Their kind.
        scenarios: They themselves, in order.
        entries: As the list shows them.
        left_out: How many more the source has.
    """

    name: str
    kind: KindEntry
    scenarios: tuple[Scenario, ...]
    entries: tuple[Entry, ...]
    left_out: int

    def scenario(self, number: int) -> Scenario:
        """One of them, from 0.

        Raises:
            NotThereError: if there is none of that number.
        """
        if not 0 <= number < len(self.scenarios):
            raise NotThereError(f"{self.name} has no state {number}: the last one is {len(self.scenarios) - 1}")
        return self.scenarios[number]


@attrs.frozen
class OpenedRun:
    """A folder of a finished run: its report is shown as it is.

    Args:
        name: As it was given.
        report: The report.
        title: What the run is called.
    """

    name: str
    report: Path
    title: str


@attrs.frozen(eq=False)
class Opened:
    """Everything that was opened, in order."""

    sources: tuple[OpenedStates | OpenedRun, ...]

    def states(self, number: int) -> OpenedStates:
        """The states of a source, from 0.

        Raises:
            NotThereError: if there is no such source, or it is a finished run.
        """
        found = self.sources[number] if 0 <= number < len(self.sources) else None
        if not isinstance(found, OpenedStates):
            raise NotThereError(f"source {number} is none with states")
        return found


def opened(paths: Iterable[str], registry: Registry, config: ConfigSources, on_note: Callable[[str], None]) -> Opened:
    """Opens paths as ``assignor score`` reads its sources; a folder of a run is opened as its report.

    Args:
        paths: Scenario files, logs, folders of recordings, episodes, folders of runs.
        registry: What is installed.
        config: Configuration of the application, for logs.
        on_note: Told of what is odd in a source.

    Raises:
        AssignorLabError: a subclass, if a source cannot be read, with its place.
    """
    return Opened(tuple(_opened(path, registry, config, on_note) for path in paths))


def _opened(
    path: str, registry: Registry, config: ConfigSources, on_note: Callable[[str], None]
) -> OpenedStates | OpenedRun:
    folder = Path(path)
    if (folder / MANIFEST).is_file() and (folder / REPORT).is_file() and (folder / SUMMARY).is_file():
        return OpenedRun(path, folder / REPORT, folder.absolute().name)
    with plan_sources([path], registry, config.above, on_note) as plan:
        scenarios = tuple(islice(plan.scenarios(), MOST_STATES))
        kind = plan.kind.load()
        entries = []
        for scenario in scenarios:
            tasks, clients = kind.size(scenario)
            entries.append(Entry(scenario.id, kind.rounds(scenario), tasks, clients, _time(scenario)))
        return OpenedStates(path, plan.kind, scenarios, tuple(entries), plan.items - len(scenarios))


def _time(scenario: Scenario) -> int | None:
    source = scenario.document.get("source")
    time = source.get("time_ms") if isinstance(source, dict) else None
    return time if type(time) is int else None
