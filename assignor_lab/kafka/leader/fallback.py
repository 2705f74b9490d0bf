"""The leader's fallback if it could not fetch the end offsets (Kafka: ``StreamsPartitionAssignor``)."""

from __future__ import annotations

from assignment_api.plugins import FoundTaskAssignor, PluginError, Registry

__all__ = ["is_internal", "replacement_without_lags"]


def is_internal(assignor: FoundTaskAssignor) -> bool:
    """True if ``assignor`` replaces one of Kafka's internal assignors, not a custom one of KIP-924."""
    return any(".processor.internals." in java_class for java_class in assignor.plugin.java_classes)


def replacement_without_lags(assignor: FoundTaskAssignor, registry: Registry) -> FoundTaskAssignor:
    """The assignor that replaces ``assignor`` without known lags, or itself.

    Kafka's leader then replaces any internal assignor except the sticky one by its fallback. A custom assignor is
    called even then.
    """
    if not is_internal(assignor) or assignor.name == "legacy_sticky":
        return assignor
    try:
        return registry.task_assignor("fallback_prior")
    except PluginError:
        return assignor  # there is none, or the policy forbids it
