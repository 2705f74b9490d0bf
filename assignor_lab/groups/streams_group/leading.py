"""The assignor of a simulated streams group, called as usual, in the broker of its release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignment_api.plugins import Found, GroupAssignorPlugin, Registry
from assignment_api.releases import NEWEST
from assignor_lab.groups.deciding_release import deciding_release
from assignor_lab.groups.streams_group.assignor_calls import ASKING, StreamsGroupState
from assignor_lab.kafka.streams_group.releases import broker_of
from assignor_lab.runtime.assignor_calls import OwnProcesses, assignor_for
from assignor_lab.runtime.invocation import CallFailure, CallOutcome
from assignor_lab.simulation.streams.leading import BrokersAssignor, LeaderFailedError

__all__ = ["brokers_assignor", "brokers_assignor_of"]

#: The assignor of the release of the recordings.
_DEFAULT_ASSIGNOR = "group_sticky"


def brokers_assignor(
    registry: Registry,
    selector: str | None,
    configs: Mapping[str, object],
    isolation: OwnProcesses | None = None,
    *,
    may_run_code: bool = False,
    refines: bool = False,
) -> BrokersAssignor:
    """The named assignor, or Kafka's own.

    ``refines``: in a broker with the coming refiner, which is in no release; its other rules are those of 4.4.

    Raises:
        UnknownPluginError, PluginLoadError: if it is not available.
    """
    found = registry.group_assignor(selector or _DEFAULT_ASSIGNOR, may_run_code=may_run_code)
    return brokers_assignor_of(found, configs, isolation, refines=refines)


def brokers_assignor_of(
    found: Found[GroupAssignorPlugin],
    configs: Mapping[str, object],
    isolation: OwnProcesses | None = None,
    *,
    refines: bool = False,
    on_call: Callable[[CallOutcome[Any]], None] | None = None,
) -> BrokersAssignor:
    """The same for a found assignor; ``on_call`` receives the outcome of each call."""
    called = assignor_for(ASKING, found, configs, isolation)

    def ask(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        outcome = called.ask(StreamsGroupState(group, topology))
        if on_call is not None:
            on_call(outcome)
        result = outcome.result
        if isinstance(result, CallFailure):
            raise LeaderFailedError(f"assignor {found.name} gave no answer: {result.type}: {result.message}")
        return result

    release = NEWEST if refines else deciding_release(found, configs).release
    return BrokersAssignor(found.name, broker_of(release), ask, refines)
