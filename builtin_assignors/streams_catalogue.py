"""Catalogue of the built-in assignors of Kafka Streams: names, Kafka's classes and import paths, as plain data.

An algorithm is imported when one of its assignors is created. Listing plugins stays cheap, and one built-in can
delegate to another without importing it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

import attrs

from assignment_api import TaskAssignor
from assignment_api.plugins import Setting
from assignment_api.releases import KafkaRelease, release_named

__all__ = ["TASK_ASSIGNORS", "BuiltinTaskAssignor", "builtin_task_assignor"]

_PUBLIC = "org.apache.kafka.streams.processor.assignment.assignors."
_INTERNAL = "org.apache.kafka.streams.processor.internals.assignment."


@attrs.frozen
class BuiltinTaskAssignor:
    """An entry of the catalogue.

    Args:
        where: Module and class, ``module:Class``.
        summary: One sentence about it.
        java_classes: Equivalent Kafka classes.
        needs_lags: Whether Kafka's leader uses its fallback instead if end offsets could not be fetched (Kafka:
            ``StreamsPartitionAssignor``).
        settings: Its own configuration keys.
        has_releases: Its answers depend on the release of the configuration.
        release: Release of Kafka whose answers it gives; ``""``: the configured one, or all answer alike.
    """

    name: str
    where: str
    summary: str
    aliases: tuple[str, ...] = ()
    java_classes: tuple[str, ...] = ()
    needs_lags: bool = False
    settings: tuple[Setting, ...] = ()
    has_releases: bool = False
    release: str = ""

    def create(self) -> TaskAssignor:
        return self.create_at(release_named(self.release)) if self.release else _class_at(self.where)()

    def create_at(self, release: KafkaRelease) -> TaskAssignor:
        """As a certain release answers; only for assignors whose answers depend on it."""
        made: TaskAssignor = _class_at(self.where)(release=release)
        return made


@cache
def _class_at(where: str) -> Callable[..., TaskAssignor]:
    module, _, name = where.partition(":")
    found: Callable[..., TaskAssignor] = getattr(import_module(f"builtin_assignors.{module}"), name)
    return found


def builtin_task_assignor(name: str) -> BuiltinTaskAssignor | None:
    """The entry with this name, alias or Kafka class; ``None`` if there is none."""
    for each in TASK_ASSIGNORS:
        if name in (each.name, *each.aliases, *each.java_classes):
            return each
    return None


#: Kafka's default first.
TASK_ASSIGNORS = (
    BuiltinTaskAssignor(
        "high_availability",
        "high_availability:HighAvailabilityTaskAssignor",
        "Kafka's default: balances first, and moves state only after warming it up (KIP-441).",
        aliases=("default",),
        java_classes=(_INTERNAL + "HighAvailabilityTaskAssignor",),
        needs_lags=True,
    ),
    BuiltinTaskAssignor(
        "sticky",
        "sticky:StickyTaskAssignor",
        "Kafka's public sticky assignor (KIP-924): leaves tasks where they were while loads allow it.",
        java_classes=(_PUBLIC + "StickyTaskAssignor",),
        has_releases=True,
    ),
    BuiltinTaskAssignor(
        "legacy_sticky",
        "legacy_sticky:LegacyStickyTaskAssignor",
        "Kafka's internal sticky assignor, the default before Kafka 2.6.",
        java_classes=(_INTERNAL + "LegacyStickyTaskAssignor", _INTERNAL + "StickyTaskAssignor"),
    ),
    BuiltinTaskAssignor(
        "rack_aware",
        "rack_aware:RackAwareTaskAssignor",
        "Kafka's default with rack awareness on (KIP-925), and a reason where racks cannot be used.",
        needs_lags=True,
    ),
    BuiltinTaskAssignor(
        "fallback_prior",
        "fallback_prior:FallbackPriorTaskAssignor",
        "Kafka's choice for a rebalance in which it could not fetch end offsets: all tasks stay, for now.",
        java_classes=(_INTERNAL + "FallbackPriorTaskAssignor",),
    ),
    BuiltinTaskAssignor(
        "static",
        "static:StaticTaskAssignor",
        "Tasks pinned to clients by process, host or tag (KIP-987); another assignor places the rest.",
        settings=(
            Setting("assignor.static.pins", "list", (), "Pins of active tasks; the first that matches a task counts."),
            Setting("assignor.static.standby.pins", "list", (), "Pins of standby tasks, in the same form."),
            Setting("assignor.static.delegate", "text", "high_availability", "The built-in that places other tasks."),
        ),
    ),
    BuiltinTaskAssignor(
        "sticky_4_4",
        "sticky:StickyTaskAssignor",
        "sticky as Kafka 4.4 decides: processes keep their share rounded up, and rest sooner (KAFKA-20198).",
        release="4.4",
    ),
)
