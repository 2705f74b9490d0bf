"""Options that choose states of a file, and the chosen states."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignment_api.plugins import ConfigSources, Registry
    from assignor_lab.capture.histories.past_terms import PastTerms
    from assignor_lab.runtime.discovery import Plugins
    from assignor_lab.scenarios import Scenario
    from assignor_lab.scenarios.racks import Racks
    from assignor_lab.verification.verified import VerificationTerms

__all__ = ["Round", "StateId", "StateSource", "chosen_states", "terms_of_states"]

StateSource = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="States of any kind: a file of import or capture, plain or gzip (- is the standard input); the log of a "
        "leader; a folder of record.",
    ),
]
StateId = Annotated[
    str | None, typer.Option("--id", metavar="STATE", help="Id of a state, or its line in a file of states.")
]
Round = Annotated[
    int | None, typer.Option("--round", metavar="N", min=0, help="This round of a Connect history alone, from 0.")
]
MOST_LISTED = 5


def chosen_states(
    source: str,
    wanted: str | None,
    registry: Registry,
    given: ConfigSources,
    racks: Racks | None = None,
    terms: PastTerms | None = None,
) -> Iterator[Scenario]:
    """The states of a source: all, or the first one with an id or on a line of a file of states.

    Raises:
        DocumentFormatError, LogImportError: if the source cannot be read.
        typer.BadParameter: if there is no such state; the message lists some existing ones.
    """
    from assignor_lab.capture.histories.past_terms import PastTerms
    from assignor_lab.documents.errors import printable

    ids: list[str] = []
    for scenario in _states(source, registry, given, racks, terms or PastTerms()):
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


def terms_of_states(
    source: str, plugins: Plugins, given: ConfigSources, past: PastTerms, racks: Racks | None
) -> VerificationTerms:
    """The terms under which the recorded decisions of a source are verified."""
    import attrs

    from assignor_lab.capture.histories.past import scenarios_of_past
    from assignor_lab.scenarios.with_racks import RackFiller
    from assignor_lab.verification.readings import terms_of
    from assignor_lab.verification.verified import group_sources

    config = group_sources(given)
    around = past.around(config.above, lambda _: None)
    around = attrs.evolve(around, racks=None if racks is None else RackFiller(racks))
    read = None if source == "-" else partial(scenarios_of_past, [source])
    return terms_of(plugins.registry, config, plugins.isolation, read=read, around=around)


def _states(
    source: str, registry: Registry, given: ConfigSources, racks: Racks | None, terms: PastTerms
) -> Iterator[Scenario]:
    from assignor_lab.scenarios import read_scenarios
    from assignor_lab.scoring.sources.reading import plan_sources

    if racks is None and terms.workload is None and (source == "-" or _is_plain(source)):
        yield from read_scenarios(source)
        return
    with plan_sources([source], registry, given.above, note, racks=racks, past=terms) as plan:
        yield from plan.scenarios()


def _is_plain(source: str) -> bool:
    """True if it is one file of states, or at least no log and no folder."""
    from assignor_lab.scoring.sources.parts import SCENARIOS, parts_of

    path = Path(source)
    if not path.exists():
        return True
    return not path.is_dir() and next(kind for _, kind, _ in parts_of([source])) == SCENARIOS
