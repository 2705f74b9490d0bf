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
    Order,
    assignment_of,
    check_known,
    decide,
    problem_of,
    read_max_delay,
    read_order,
    read_quirks,
)
from builtin_assignors._rule_texts import RULE_TEXTS

__all__ = ["IncrementalCooperativeAssignor"]

_SETTINGS = "assignor.connect_incremental."


class IncrementalCooperativeAssignor(ConnectAssignor):
    """Kafka's ``IncrementalCooperativeAssignor`` of 4.3.1 (KIP-415), answer by answer.

    Workers keep what they run. New jobs go to the least loaded; jobs whose worker is gone wait for it, up to
    ``scheduled.rebalance.max.delay.ms``; a worker that holds more than its even share gives the surplus up in one
    round, and the next one places it; such rounds in a row are kept apart by growing pauses. Static assignments are
    not read.

    Settings, each under ``assignor.connect_incremental.``:
        ``order``: ``java`` (default: Kafka's answers) or ``sorted`` (by member id, the same loads).
        ``quirks``: which of Kafka's quirks are kept, ``all`` (default), ``none``, or a list such as ``Q1,Q5``.
    """

    def __init__(self) -> None:
        self._max_delay = DEFAULT_MAX_DELAY
        self._order = Order.JAVA
        self._quirks = ALL_QUIRKS
        self._memory = JobHistory()

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Reads the longest delay and the settings.

        Raises:
            ConnectConfigError: if a value cannot be used, or there is no such setting.
        """
        check_known(configs, _SETTINGS, ("order", "quirks"))
        self._max_delay = read_max_delay(configs)
        self._order = read_order(configs, _SETTINGS + "order")
        self._quirks = read_quirks(configs, _SETTINGS + "quirks")

    def traced(self, rebalance: Rebalance) -> Traced[ConnectAssignment]:
        """The answer of :meth:`assign` and the steps to it; raises as that."""
        found: list[RuleStep] = []
        return Traced(self._decided(rebalance, found), found, RULE_TEXTS)

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Places the jobs; what is assigned to a worker comes in the order in which it was given.

        Raises:
            UnsupportedConnectProtocolError: under protocol ``eager``, in which nobody reports what it owns.
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
        steps = None if found is None else ConnectSteps(memory.numbering, problem.members, problem.max_delay)
        answer, history = decide(problem, memory.history, steps)
        self._memory = JobHistory(memory.numbering, history)
        if found is not None and steps is not None:
            found += steps.steps
        return assignment_of(rebalance, problem, memory.numbering, answer)
