"""What the built-ins offer, through the same hooks as everybody's plugins.

An algorithm is imported when one of its assignors is made, so that listing plugins stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable

from assignment_api import TaskAssignor, connect, group
from assignment_api.plugins import ConnectAssignorPlugin, GroupAssignorPlugin, TaskAssignorPlugin, hookimpl

__all__ = ["assignor_lab_connect_assignors", "assignor_lab_group_assignors", "assignor_lab_task_assignors"]

_PUBLIC = "org.apache.kafka.streams.processor.assignment.assignors."
_INTERNAL = "org.apache.kafka.streams.processor.internals.assignment."
#: Those in whose place Kafka's leader takes its fallback where end offsets could not be fetched (reference 6.3).
_IN_NEED_OF_LAGS = ("high_availability", "rack_aware")


@hookimpl
def assignor_lab_task_assignors() -> list[TaskAssignorPlugin]:
    """Kafka's own assignors, Kafka's default first."""
    return [
        TaskAssignorPlugin(
            name="high_availability",
            aliases=("default",),
            factory=_high_availability,
            java_classes=(_INTERNAL + "HighAvailabilityTaskAssignor",),
            summary="Kafka's default: balances first, and moves state only after warming it up (KIP-441).",
        ),
        TaskAssignorPlugin(
            name="sticky",
            factory=_sticky,
            java_classes=(_PUBLIC + "StickyTaskAssignor",),
            summary="Kafka's public sticky assignor (KIP-924): leaves tasks where they were while loads allow it.",
        ),
        TaskAssignorPlugin(
            name="legacy_sticky",
            factory=_legacy_sticky,
            java_classes=(_INTERNAL + "LegacyStickyTaskAssignor", _INTERNAL + "StickyTaskAssignor"),
            summary="Kafka's internal sticky assignor, the default before Kafka 2.6.",
        ),
        TaskAssignorPlugin(
            name="rack_aware",
            factory=_rack_aware,
            summary="Kafka's default with rack awareness on (KIP-925), and a reason where racks cannot be used.",
        ),
        TaskAssignorPlugin(
            name="fallback_prior",
            factory=_fallback_prior,
            java_classes=(_INTERNAL + "FallbackPriorTaskAssignor",),
            summary="What Kafka uses for a rebalance in which it could not fetch end offsets: all tasks stay, for now.",
        ),
        TaskAssignorPlugin(
            name="static",
            factory=_static,
            summary="Tasks pinned to clients by process, host or tag (KIP-987); another assignor places the rest.",
        ),
    ]


@hookimpl
def assignor_lab_connect_assignors() -> list[ConnectAssignorPlugin]:
    """Kafka's two assignors for Connect, and the one that KIP-987 proposes."""
    return [
        ConnectAssignorPlugin(
            name="connect_incremental",
            factory=_connect_incremental,
            protocols=("compatible", "sessioned", "static"),
            summary="Kafka Connect's default: workers keep what they run, and lost jobs wait for theirs (KIP-415).",
        ),
        ConnectAssignorPlugin(
            name="connect_eager",
            factory=_connect_eager,
            protocols=("eager",),
            summary="Kafka Connect before 2.3: everything stops, and all jobs are dealt in turn.",
        ),
        ConnectAssignorPlugin(
            name="connect_static",
            factory=_connect_static,
            protocols=("compatible", "sessioned", "static"),
            summary="Jobs that workers list for themselves (KIP-987); the default assignor places the rest.",
        ),
    ]


@hookimpl
def assignor_lab_group_assignors() -> list[GroupAssignorPlugin]:
    """The one broker-side assignor that Kafka 4.3.1 has."""
    return [
        GroupAssignorPlugin(
            name="group_sticky",
            factory=_group_sticky,
            summary="The brokers' sticky assignor for Streams groups (KIP-1071).",
        )
    ]


def _high_availability() -> TaskAssignor:
    from builtin_assignors.high_availability import HighAvailabilityTaskAssignor

    return HighAvailabilityTaskAssignor()


def _sticky() -> TaskAssignor:
    from builtin_assignors.sticky import StickyTaskAssignor

    return StickyTaskAssignor()


def _legacy_sticky() -> TaskAssignor:
    from builtin_assignors.legacy_sticky import LegacyStickyTaskAssignor

    return LegacyStickyTaskAssignor()


def _rack_aware() -> TaskAssignor:
    from builtin_assignors.rack_aware import RackAwareTaskAssignor

    return RackAwareTaskAssignor()


def _fallback_prior() -> TaskAssignor:
    from builtin_assignors.fallback_prior import FallbackPriorTaskAssignor

    return FallbackPriorTaskAssignor()


def _static() -> TaskAssignor:
    from builtin_assignors.static import StaticTaskAssignor

    return StaticTaskAssignor(_delegate)


def _delegate(name: str) -> Callable[[], TaskAssignor] | None:
    """What makes the built-in called ``name`` (or by an alias, or Kafka's class); ``None`` if there is none.

    Plugins of others are no delegates: discovery answers to a policy that an assignor does not see.
    """
    from builtin_assignors.static.delegation import LeadersChoice

    plugins = {plugin.name: plugin for plugin in assignor_lab_task_assignors() if plugin.name != "static"}
    for plugin in plugins.values():
        if name in (plugin.name, *plugin.aliases, *plugin.java_classes):
            if plugin.name in _IN_NEED_OF_LAGS:
                return lambda: LeadersChoice(plugin.factory, plugins["fallback_prior"].factory)
            return plugin.factory
    return None


def _group_sticky() -> group.TaskAssignor:
    from builtin_assignors.group_sticky import GroupStickyTaskAssignor

    return GroupStickyTaskAssignor()


def _connect_incremental() -> connect.ConnectAssignor:
    from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor

    return IncrementalCooperativeAssignor()


def _connect_eager() -> connect.ConnectAssignor:
    from builtin_assignors.connect_eager import EagerAssignor

    return EagerAssignor()


def _connect_static() -> connect.ConnectAssignor:
    from builtin_assignors.connect_static import StaticConnectAssignor

    return StaticConnectAssignor()
