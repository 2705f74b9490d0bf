"""States of a source that a command or a caller of Python chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.histories.past import scenarios_of_past
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.documents.errors import printable
from assignor_lab.documents.lines import STANDARD_INPUT
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.scenarios import Scenario, read_scenarios
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scenarios.with_racks import RackFiller
from assignor_lab.scoring.sources.parts import SCENARIOS, parts_of
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.verified import VerificationTerms, group_sources

__all__ = ["StateChoiceError", "chosen_states", "is_plain", "terms_of_states"]

MOST_LISTED = 5


class StateChoiceError(AssignorLabError):
    """A source has no state, not the wanted one, or states of several groups."""


def chosen_states(
    source: str,
    wanted: str | None,
    registry: Registry,
    given: ConfigSources,
    racks: Racks | None,
    terms: PastTerms,
    note: Callable[[str], None],
) -> Iterator[Scenario]:
    """The states of a source: all, or the first one with an id or on a line of a file of states.

    Args:
        source: A file of states, a log, a folder of ``assignor record``, or ``-``: the standard input.
        note: Receives a sentence on each oddity of the source.

    Raises:
        DocumentFormatError, LogImportError: if the source cannot be read.
        StateChoiceError: if there is no such state; the message lists some existing ones.
    """
    ids: list[str] = []
    for scenario in _states(source, registry, given, racks, terms, note):
        ids.append(scenario.id)
        if wanted is None:
            yield scenario
        elif wanted in (scenario.id, str(scenario.place.line)):
            yield scenario
            return
    if not ids:
        raise StateChoiceError(f"{source!r} holds no state")
    if wanted is not None:
        listed = ", ".join(printable(each) for each in ids[:MOST_LISTED])
        more = f" and {len(ids) - MOST_LISTED} more" if len(ids) > MOST_LISTED else ""
        raise StateChoiceError(f"{source}: no state {wanted!r:.80}: the source has {listed}{more}")


def terms_of_states(
    source: str, plugins: Plugins, given: ConfigSources, past: PastTerms, racks: Racks | None
) -> VerificationTerms:
    """The terms under which the recorded decisions of a source are verified."""
    config = group_sources(given)
    around = past.around(config.above, lambda _: None)
    around = attrs.evolve(around, racks=None if racks is None else RackFiller(racks))
    read = None if source == STANDARD_INPUT else partial(scenarios_of_past, [source])
    return terms_of(plugins.registry, config, plugins.isolation, read=read, around=around)


def _states(
    source: str,
    registry: Registry,
    given: ConfigSources,
    racks: Racks | None,
    terms: PastTerms,
    note: Callable[[str], None],
) -> Iterator[Scenario]:
    if racks is None and terms.workload is None and (source == STANDARD_INPUT or is_plain(source)):
        yield from read_scenarios(source)
        return
    with plan_sources([source], registry, given.above, note, racks=racks, past=terms) as plan:
        yield from plan.scenarios()


def is_plain(source: str) -> bool:
    """True if it is one file of states, or at least no log and no folder."""
    path = Path(source)
    if not path.exists():
        return True
    return not path.is_dir() and next(kind for _, kind, _ in parts_of([source])) == SCENARIOS
