"""Other ways to read a past: without the topology file, and as brokers of another release decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignment_api.plugins.keys import GROUP_KEYS
from assignor_lab.capture.histories.moments import STREAMS, protocol_of
from assignor_lab.capture.histories.past import Surroundings
from assignor_lab.capture.histories.settings import settings_of_decisions
from assignor_lab.runtime.asking import OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.simulation.streams.timings import TIMING_KEYS
from assignor_lab.verification.causes import Reading
from assignor_lab.verification.decisions import group_of
from assignor_lab.verification.verified import Terms

__all__ = ["other_readings", "own_settings", "terms_of"]

_NOTHING = Surroundings()
#: Whether the brokers are of 4.4 or later, in words.
_BROKERS = {True: "of 4.4", False: "before 4.4"}


def terms_of(
    registry: Registry,
    config: ConfigSources,
    isolation: OwnProcesses | None = None,
    *,
    read: Callable[[Surroundings], Iterable[Scenario]] | None = None,
    around: Surroundings = _NOTHING,
    timings: Mapping[str, int] | None = None,
    settings: Mapping[str, Any] | None = None,
    assignor: str | None = None,
) -> Terms:
    """The terms under which a past is verified.

    Args:
        registry: The plugins.
        config: The groups' configuration around each decision's own.
        isolation: Processes of assignors that run in their own.
        read: Reads the past once more; ``None``: it cannot be read twice, as the standard input.
        around: The surroundings that it was read with.
        timings: Those of ``--timings``.
        settings: Settings that were given besides those of the surroundings' configuration.
        assignor: The assignor that decides again; ``None``: each group's own.
    """
    known = {key: (timings or {})[name] for key, name in TIMING_KEYS.items() if name in (timings or {})}
    settings = {**given_settings(around.config), **(settings or {}), **known}
    if read is None:
        return Terms(registry, config, isolation, assignor=assignor, settings=settings)
    return Terms(
        registry,
        config,
        isolation,
        other_readings(read, around),
        assignor,
        settings,
        partial(own_settings, read, around),
    )


def other_readings(read: Callable[[Surroundings], Iterable[Scenario]], around: Surroundings) -> tuple[Reading, ...]:
    """The readings of a past that differ in one input.

    Args:
        read: Reads the past.
        around: The surroundings that it was read with.
    """
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


def own_settings(read: Callable[[Surroundings], Iterable[Scenario]], around: Surroundings) -> dict[str, dict[str, Any]]:
    """Group to the settings that its source shows by itself, without those of ``--config`` and ``-c``.

    Args:
        read: Reads the past.
        around: The surroundings that it was read with.
    """
    layers = [
        attrs.evolve(layer, entries={key: held for key, held in layer.entries.items() if key not in GROUP_KEYS})
        for layer in around.config
    ]
    documents: dict[str, list[Mapping[str, Any]]] = {}
    for each in read(attrs.evolve(around, config=layers, on_problem=lambda _: None)):
        documents.setdefault(group_of(each), []).append(each.document)
    return {group: settings_of_decisions(held)[0] for group, held in documents.items()}


def _is_of_brokers(document: Mapping[str, Any]) -> bool:
    return protocol_of(document) == STREAMS
