"""From a scenario of kind ``streams-group`` to the result row that one broker-side assignor gives for it."""

from __future__ import annotations

from typing import Any

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Found, GroupAssignorPlugin
from assignor_lab.groups.streams_group.invocation import invoke_group
from assignor_lab.runtime.invocation import Failure, failure_of
from assignor_lab.scenarios import Scenario, error_row, group_result_row

__all__ = ["group_row"]


def group_row(found: Found[GroupAssignorPlugin], sources: ConfigSources, scenario: Scenario) -> dict[str, Any]:
    """The row of what ``found`` answers to ``scenario``; a failure is a row, too.

    Args:
        found: The assignor.
        sources: Configuration around the scenario's own; explicit configuration replaces the scenario's.
        scenario: Of kind ``streams-group``.
    """
    try:
        group = scenario.group_spec_with(sources.explicit_values())
    except AssignorLabError as error:
        return _failure_row(scenario, found.name, failure_of(error))
    configs = sources.effective(scenario.config, str(scenario.place)).values_for(found.name)
    outcome = invoke_group(found, group, scenario.topology, configs)
    if outcome.assignment is None:
        return _failure_row(
            scenario, found.name, outcome.failure or Failure("InternalError", None, "neither an answer nor a failure")
        )
    return group_result_row(scenario, found.name, outcome.assignment)


def _failure_row(scenario: Scenario, assignor: str, failure: Failure) -> dict[str, Any]:
    return error_row(scenario, assignor, failure.type, failure.java_type, failure.message)
