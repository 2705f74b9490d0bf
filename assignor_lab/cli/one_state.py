"""Options that choose states of a file, and the states that they choose."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

import attrs
import typer

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.cli.text import note
from assignor_lab.documents.errors import printable
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.scenarios import Scenario, read_scenarios
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scenarios.with_racks import RackFiller
from assignor_lab.scoring.source_parts import SCENARIOS, parts_of
from assignor_lab.scoring.sources import plan_sources
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.verified import Terms, group_sources

__all__ = ["Round", "StateId", "chosen_states", "terms_of_states"]

#: ``--id STATE``
StateId = Annotated[
    str | None, typer.Option("--id", metavar="STATE", help="Id of a state, or its line in a file of states.")
]
#: ``--round N``
Round = Annotated[
    int | None, typer.Option("--round", metavar="N", min=0, help="This round of a Connect history alone, from 0.")
]
_DECISIONS = PastTerms()
#: Ids that a message lists.
MOST_LISTED = 5


def chosen_states(
    source: str,
    wanted: str | None,
    registry: Registry,
    given: ConfigSources,
    racks: Racks | None = None,
    terms: PastTerms = _DECISIONS,
) -> Iterator[Scenario]:
    """The states of a source: all, or the first one that has an id or stands on a line of a file of states.

    Args:
        source: A file of states, a log, or a folder that ``assignor record`` wrote; ``-`` is the standard input.
        wanted: The id or the line; ``None``: all.
        registry: What is installed.
        given: Configuration; logs and recordings do not tell that of the group.
        racks: Those of ``--racks``, or ``None``.
        terms: How logs and recordings are read.

    Raises:
        DocumentFormatError, LogImportError: if the source cannot be read.
        typer.BadParameter: if there is no such state; some that there are are named.
    """
    ids: list[str] = []
    for scenario in _states(source, registry, given, racks, terms):
        ids.append(scenario.id)
        if wanted is None:
            yield scenario
        elif wanted in (scenario.id, str(scenario.place.line)):
            yield scenario
            return
    if not ids:
        raise typer.BadParameter(f"{source!r} holds no state", param_hint="SOURCE")
    if wanted is not None:
        listed = ", ".join(printable(each) for each in ids[:MOST_LISTED])
        more = f" and {len(ids) - MOST_LISTED} more" if len(ids) > MOST_LISTED else ""
        raise typer.BadParameter(f"no state {wanted!r:.80}: the source has {listed}{more}", param_hint="--id")


def terms_of_states(source: str, plugins: Plugins, given: ConfigSources, past: PastTerms, racks: Racks | None) -> Terms:
    """The terms under which the recorded decisions of a source are verified.

    Args:
        source: The source.
        plugins: The plugins.
        given: All sources of configuration.
        past: How logs and recordings are read.
        racks: Those of ``--racks``, or ``None``.
    """
    config = group_sources(given)
    around = past.around(config.above, lambda _: None)
    around = attrs.evolve(around, racks=None if racks is None else RackFiller(racks))
    read = None if source == "-" else partial(scenarios_of_past, [source])
    return terms_of(plugins.registry, config, plugins.isolation, read=read, around=around)


def _states(
    source: str, registry: Registry, given: ConfigSources, racks: Racks | None, terms: PastTerms
) -> Iterator[Scenario]:
    if racks is None and (source == "-" or _is_plain(source)):
        yield from read_scenarios(source)
        return
    with plan_sources([source], registry, given.above, note, racks=racks, past=terms) as plan:
        yield from plan.scenarios()


def _is_plain(source: str) -> bool:
    """Whether it is one file of states, or at least no log and no folder."""
    path = Path(source)
    if not path.exists():
        return True
    return not path.is_dir() and next(kind for _, kind, _ in parts_of([source])) == SCENARIOS
