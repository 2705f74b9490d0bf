"""Comparability: whether an answer says what an assignor would really decide, where racks decide.

Kafka's leader knows the racks of its clients and of the brokers; a log does not tell them. An answer that is computed
without them is one to another question, and neither like Kafka's own decision nor better or worse than another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api import ApplicationMetadata, TaskAssignment
from assignment_api.streams.configs import RACK_AWARE_ASSIGNMENT_STRATEGY, RACK_AWARE_STRATEGY_NONE
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.told_racks import racks_told, strategy_told

__all__ = ["racks_unknown", "why_not_comparable"]

_STRATEGY = RACK_AWARE_ASSIGNMENT_STRATEGY
#: How an assignor's remark begins that says why it could not use the racks that it would have used.
RACKS_NOT_USED = "racks were not used:"


def why_not_comparable(
    scenario: Scenario, state: ApplicationMetadata, explicit: Mapping[str, Any], answer: TaskAssignment
) -> str | None:
    """Why an answer says nothing of what its assignor would really decide; ``None``: it does.

    Args:
        scenario: The scenario.
        state: What was asked.
        explicit: Configuration in place of the scenario's own: who sets a strategy there knows it.
        answer: What was answered.
    """
    if racks_unknown(scenario, state):
        return _racks_decide(state)
    is_rack_aware = state.assignment_configs().rack_aware_assignment_strategy != RACK_AWARE_STRATEGY_NONE
    if not is_rack_aware and not strategy_told(scenario.assumptions) and RACK_AWARE_ASSIGNMENT_STRATEGY not in explicit:
        return _strategy_decides(scenario, state)
    if any(remark.startswith(RACKS_NOT_USED) for remark in answer.remarks):
        # An assignor that is rack-aware by itself, whatever the strategy.
        return None if _knows_racks(scenario, state) else _racks_decide(state, may_ask_without=False)
    return None


def racks_unknown(scenario: Scenario, state: ApplicationMetadata) -> bool:
    """Whether the strategy of a state looks at racks that its source does not tell."""
    configs = state.assignment_configs()
    return configs.rack_aware_assignment_strategy != RACK_AWARE_STRATEGY_NONE and not _knows_racks(scenario, state)


def _knows_racks(scenario: Scenario, state: ApplicationMetadata) -> bool:
    return racks_told(scenario.assumptions) and _tells_partitions(state)


def _racks_decide(state: ApplicationMetadata, *, may_ask_without: bool = True) -> str:
    without = f", {_WITHOUT}" if may_ask_without else ""
    if not _tells_partitions(state) and all(
        client.rack_id is not None for client in state.streams_client_states().values()
    ):
        # Whoever gave a file of racks is not asked for it again.
        return f"racks decide, and the partitions of the tasks are unknown: name the partitions {_TOPOLOGY}{without}"
    return f"racks decide, and are unknown: give them with {_options(state)}{without}"


def _strategy_decides(scenario: Scenario, state: ApplicationMetadata) -> str:
    if _knows_racks(scenario, state):
        return f"the group was rack-aware, by a strategy that is unknown: give {_STRATEGY}, {_WITHOUT}"
    return (
        "the group was rack-aware, and neither its strategy nor its racks are known: give "
        f"{_STRATEGY}, and the racks with {_options(state)}, {_WITHOUT}"
    )


#: The way out that needs nothing to be known.
_TOPOLOGY = "with --topology, where the log is read"
_WITHOUT = f"or ask what would be decided without racks: -c {_STRATEGY}=none"


def _options(state: ApplicationMetadata) -> str:
    """Who lacks partitions has to read the log once more."""
    return "--racks" if _tells_partitions(state) else f"--racks, and the partitions {_TOPOLOGY}"


def _tells_partitions(state: ApplicationMetadata) -> bool:
    return all(info.topic_partitions is not None for info in state.task_infos().values())
