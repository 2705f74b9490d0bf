"""Other ways to read a past: without the topology file, and under the rules of another broker release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignment_api.plugins.keys import GROUP_KEYS
from assignor_lab.capture.edges.decision_input import DecisionInput, protocol_of
from assignor_lab.capture.edges.moments import STREAMS
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.capture.histories.settings import settings_of_decisions
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.settings import Settings, given_settings
from assignor_lab.simulation.streams.timings import TIMING_KEYS
from assignor_lab.verification.causes import Reading
from assignor_lab.verification.decisions import group_of
from assignor_lab.verification.verified import VerificationTerms

__all__ = ["other_readings", "own_settings", "terms_of"]

_NOTHING = PastSurroundings()
_BROKERS = {True: "of 4.4", False: "before 4.4"}


def terms_of(
    registry: Registry,
    config: ConfigSources,
    isolation: OwnProcesses | None = None,
    *,
    read: Callable[[PastSurroundings], Iterable[Scenario]] | None = None,
    around: PastSurroundings = _NOTHING,
    timings: Mapping[str, int] | None = None,
    settings: Settings | None = None,
    assignor: str | None = None,
) -> VerificationTerms:
    known = {key: (timings or {})[name] for key, name in TIMING_KEYS.items() if name in (timings or {})}
    settings = {**given_settings(around.config), **(settings or {}), **known}
    foreign_racks = (lambda: None) if around.racks is None else around.racks.foreign
    if read is None:
        return VerificationTerms(
            registry, config, isolation, assignor=assignor, settings=settings, foreign_racks=foreign_racks
        )
    return VerificationTerms(
        registry,
        config,
        isolation,
        other_readings(read, around),
        assignor,
        settings,
        partial(own_settings, read, around),
        foreign_racks,
    )


def other_readings(
    read: Callable[[PastSurroundings], Iterable[Scenario]], around: PastSurroundings
) -> tuple[Reading, ...]:
    quiet = attrs.evolve(around, on_problem=lambda _: None)
    found = []
    if around.topology is not None:
        found.append(
            Reading("topology", "without the topology file", partial(read, attrs.evolve(quiet, topology=None)))
        )
    for is_new, brokers in _BROKERS.items():
        again = attrs.evolve(quiet, brokers_show_targets=not is_new)
        found.append(Reading("version", f"as brokers {brokers} decide", partial(read, again), _is_of_brokers))
    return tuple(found)


def own_settings(
    read: Callable[[PastSurroundings], Iterable[Scenario]], around: PastSurroundings
) -> dict[str, dict[str, Any]]:
    """Without the settings of ``--config`` and ``-c``."""
    layers = [
        attrs.evolve(layer, entries={key: held for key, held in layer.entries.items() if key not in GROUP_KEYS})
        for layer in around.config
    ]
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in read(attrs.evolve(around, config=layers, on_problem=lambda _: None)):
        found.setdefault(group_of(each), []).append(DecisionInput(each.document).settings)
    return {group: settings_of_decisions(held)[0] for group, held in found.items()}


def _is_of_brokers(document: Mapping[str, Any]) -> bool:
    return protocol_of(document) == STREAMS
