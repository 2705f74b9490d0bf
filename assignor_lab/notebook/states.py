"""The states of a source in a notebook: a list with a table view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, overload

import attrs

from assignment_api.notebook import table
from assignment_api.plugins.config_files import file_layer
from assignor_lab.documents.wording import moment, plural, shortened
from assignor_lab.groups.entries import entries
from assignor_lab.notebook.surroundings import plugins
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scoring.sources.parts import EmptySourceError
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.simulation.streams.named_episodes import EPISODES

__all__ = ["States", "read"]


@attrs.frozen(eq=False)
class States(Sequence[Scenario]):
    """States, in the order of their source: by number, by id, or as a slice."""

    states: tuple[Scenario, ...]

    @overload
    def __getitem__(self, which: int | str) -> Scenario: ...

    @overload
    def __getitem__(self, which: slice) -> States: ...

    def __getitem__(self, which: int | str | slice) -> Scenario | States:
        if isinstance(which, slice):
            return States(self.states[which])
        if isinstance(which, str):
            found = next((state for state in self.states if state.id == which), None)
            if found is None:
                raise KeyError(f"no state is called {shortened(which, 60)}")
            return found
        return self.states[which]

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"<{plural(len(self.states), 'state')}>"

    def _repr_html_(self) -> str:
        columns = ["state", "kind", "decided", "generation", "clients", "tasks"]
        caption = f"{plural(len(self.states), 'state')}: states[0] or states['ID'] shows one"
        return f"<div>{table(caption, columns, map(_row, self.states), len(self.states))}</div>"


def _row(state: Scenario) -> Sequence[Any]:
    source = state.source or {}
    time_ms = source.get("time_ms")
    known = next((entry for entry in entries() if entry.name == state.kind), None)
    tasks, clients = (None, None) if known is None or state.content is None else known.load().size(state)
    when = None if time_ms is None else moment(time_ms)
    return [state.id, state.kind, when, source.get("generation"), clients, tasks]


def read(
    sources: str | PathLike[str] | Iterable[str | PathLike[str]], config: str | PathLike[str] | None = None
) -> States:
    """Reads states: of scenario files, logs of a group's instances, recordings, folders of these, named episodes.

    Args:
        sources: A path, several, or the name of an episode (``assignor simulate --list``).
        config: File with the application's configuration, which logs and recordings lack.

    Raises:
        AssignorLabError: a subclass, if a source cannot be read, with its place.
    """
    if isinstance(sources, (str, PathLike)):
        sources = [sources]
    layers = () if config is None else (file_layer(Path(config)),)
    return States(tuple(_scenarios(list(sources), layers)))


def _scenarios(sources: Sequence[str | PathLike[str]], layers: Sequence[Any]) -> Iterator[Scenario]:
    for source in sources:
        if isinstance(source, str) and source in EPISODES and not Path(source).exists():
            yield scenario_from_document(EPISODES[source].document(), Place(source))
    paths = [source for source in sources if not (isinstance(source, str) and source in EPISODES)]
    if not paths:
        if not sources:
            raise EmptySourceError("no source is named: give a path")
        return
    with plan_sources(paths, plugins().registry, layers) as plan:
        yield from plan.scenarios()
