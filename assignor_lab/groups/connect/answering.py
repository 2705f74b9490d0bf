"""From a scenario of kind ``connect`` to the result row that one assignor gives for its whole history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from assignment_api.connect import CONNECT_PROTOCOL, ConnectAssignment, ConnectProtocol
from assignment_api.plugins import ConfigSources, FoundConnectAssignor
from assignor_lab.groups.connect.invocation import ConnectOutcome, LeadingAssignor
from assignor_lab.runtime.invocation import Failure
from assignor_lab.scenarios import Scenario, connect_result_row, error_row

__all__ = ["connect_outcomes", "connect_row", "spoken_protocol"]


def connect_row(
    found: FoundConnectAssignor, sources: ConfigSources, scenario: Scenario, on_problem: Callable[[str], None]
) -> dict[str, Any]:
    """The row of what ``found`` answers to ``scenario``; a failure in any round is a row, too.

    Args:
        found: The assignor.
        sources: Configuration around the scenario's own; explicit configuration replaces the scenario's, which is
            ``connect.protocol`` and ``scheduled.rebalance.max.delay.ms``.
        scenario: Of kind ``connect``.
        on_problem: Takes what rows have no place for, in sentences.
    """
    answers: list[ConnectAssignment] = []
    said: set[str] = set()
    for number, outcome in enumerate(connect_outcomes(found, sources, scenario, on_problem)):
        if outcome.assignment is None:
            failure = outcome.failure or Failure("InternalError", None, "neither an answer nor a failure")
            message = f"rounds[{number}]: {failure.message}"
            return error_row(scenario, found.name, failure.type, failure.java_type, message)
        for remark in outcome.assignment.remarks:
            if remark not in said:
                on_problem(f"{scenario.place}, rounds[{number}]: {found.name}: {remark}")
                said.add(remark)
        answers.append(outcome.assignment)
    return connect_result_row(scenario, found.name, answers)


def connect_outcomes(
    found: FoundConnectAssignor, sources: ConfigSources, scenario: Scenario, on_problem: Callable[[str], None]
) -> Iterator[ConnectOutcome]:
    """What comes of each round, in order; arguments as for :func:`connect_row`.

    One assignor lives through the rounds of one leader. The rounds are those of the scenario: what its workers own
    does not follow from the answers.
    """
    config = sources.effective(scenario.config, str(scenario.place))
    configured = ConnectProtocol.from_config(config[CONNECT_PROTOCOL].value)
    protocol = spoken_protocol(found, configured)
    if protocol is not configured:
        on_problem(
            f"{scenario.place}: {found.name} leads eager groups only: answered as if this one spoke {protocol.value}"
        )
    configs = config.values_for(found.name)
    leading = LeadingAssignor(found, configs)
    for each, rebalance in scenario.connect_history.rebalances(protocol):
        if each.new_leader:
            leading = LeadingAssignor(found, configs)
        yield leading.assign(rebalance)


def spoken_protocol(found: FoundConnectAssignor, protocol: ConnectProtocol) -> ConnectProtocol:
    """The protocol that the group is taken to speak.

    An assignor that can lead eager groups alone is asked what it would do if the group were one: nobody then reports
    what it owns. The other way round there would be nothing to go by, and the assignor itself refuses.

    Args:
        found: The assignor.
        protocol: What is configured.
    """
    eager = ConnectProtocol.EAGER
    return eager if found.plugin.protocols == (eager.value,) else protocol
