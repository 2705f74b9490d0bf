"""``connect_incremental``: Kafka's ``IncrementalCooperativeAssignor`` behind the SPI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.connect import (
    ConnectAssignment,
    ConnectAssignor,
    Rebalance,
    UnsupportedConnectProtocolError,
)
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._connect_incremental_steps import (
    ALL_QUIRKS,
    DEFAULT_MAX_DELAY,
    ConnectSteps,
    JobHistory,
    MemberOrder,
    assignment_of,
    check_known,
    decide,
    problem_of,
    read_max_delay,
    read_order,
    read_quirks,
)
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors._steps_taken import SILENT

__all__ = ["IncrementalCooperativeAssignor"]

_SETTINGS = "assignor.connect_incremental."


class IncrementalCooperativeAssignor(ConnectAssignor):
    """Kafka's ``IncrementalCooperativeAssignor`` of 4.3.1 (KIP-415), with identical answers.

    Workers keep their jobs. New jobs go to the least loaded worker. Jobs of a missing worker wait for it, up to
    ``scheduled.rebalance.max.delay.ms``. A worker with more than its even share gives up the surplus in one round, and
    the next round places it. Such rounds in a row are separated by growing pauses. Static assignments are ignored.

    Settings, each under ``assignor.connect_incremental.``:
        ``order``: ``java`` (default: Kafka's answers) or ``sorted`` (by member id, the same loads).
        ``quirks``: Kafka's quirks to keep: ``all`` (default), ``none``, or a list such as ``Q1,Q5``.
    """

    def __init__(self) -> None:
        self._max_delay = DEFAULT_MAX_DELAY
        self._order = MemberOrder.JAVA
        self._quirks = ALL_QUIRKS
        self._memory = JobHistory()

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Read the longest delay and the settings.

        Raises:
            ConnectConfigError: if a value is invalid or a setting unknown.
        """
        check_known(configs, _SETTINGS, ("order", "quirks"))
        self._max_delay = read_max_delay(configs)
        self._order = read_order(configs, _SETTINGS + "order")
        self._quirks = read_quirks(configs, _SETTINGS + "quirks")

    def traced(self, rebalance: Rebalance) -> Traced[ConnectAssignment]:
        found: list[RuleStep] = []
        return Traced(self._decided(rebalance, found), found, RULE_TEXTS)

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Place the jobs; a worker's new jobs come in the order of placing.

        Raises:
            UnsupportedConnectProtocolError: under protocol ``eager``, in which workers report no jobs.
        """
        return self._decided(rebalance, None)

    def _decided(self, rebalance: Rebalance, found: list[RuleStep] | None) -> ConnectAssignment:
        if not rebalance.protocol.is_incremental:
            raise UnsupportedConnectProtocolError(
                f"connect_incremental cannot lead a group that speaks {rebalance.protocol.value}, where workers do not "
                "report what they own: use connect_eager, or protocol compatible or a later one"
            )
        memory = self._memory.under(rebalance.configured)
        problem = problem_of(rebalance, memory.numbering, self._order, self._quirks, self._max_delay)
        steps: ConnectSteps = (
            SILENT if found is None else ConnectSteps(memory.numbering, problem.members, problem.max_delay)
        )
        answer, history = decide(problem, memory.history, steps)
        self._memory = JobHistory(memory.numbering, history)
        if found is not None:
            found += steps.steps
        return assignment_of(rebalance, problem, memory.numbering, answer)
