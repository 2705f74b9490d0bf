"""The leader's fallback where it could not fetch the end offsets (Kafka: ``StreamsPartitionAssignor``)."""

from __future__ import annotations

from assignment_api.plugins import FoundTaskAssignor, PluginError, Registry

__all__ = ["is_internal", "replacement_without_lags"]


def is_internal(assignor: FoundTaskAssignor) -> bool:
    """Whether ``assignor`` stands for one of Kafka's internal assignors, not for a custom one of KIP-924."""
    return any(".processor.internals." in java_class for java_class in assignor.plugin.java_classes)


def replacement_without_lags(assignor: FoundTaskAssignor, registry: Registry) -> FoundTaskAssignor:
    """Who answers in place of ``assignor`` where no lags are known; itself, if nobody else does.

    Kafka's leader then takes its fallback in place of any internal assignor but the sticky one; a custom assignor is
    asked all the same.
    """
    if not is_internal(assignor) or assignor.name == "legacy_sticky":
        return assignor
    try:
        return registry.task_assignor("fallback_prior")
    except PluginError:
        return assignor  # there is none, or the policy forbids it
