"""``connect_static``: KIP-987's assignment, which no release of Kafka has.

Its steps are in ``builtin_assignors/_connect_incremental_steps``, the static ones in ``static_jobs.py`` there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.connect import (
    ConnectAssignment,
    ConnectAssignor,
    ConnectProtocol,
    Rebalance,
    UnsupportedConnectProtocolError,
    Worker,
)
from assignment_api.tracing import RuleStep, Traced
from builtin_assignors._connect_incremental_steps import (
    ConnectSteps,
    JobHistory,
    assignment_of,
    decide,
    problem_of,
)
from builtin_assignors._rule_texts import RULE_TEXTS
from builtin_assignors.connect_static.config import StaticSettings

__all__ = ["StaticConnectAssignor"]


class StaticConnectAssignor(ConnectAssignor):
    """The eight steps of KIP-987 over Kafka's incremental cooperative algorithm.

    A worker with ``static.connectors`` or ``static.tasks`` is a *static* one and runs only what it lists; a job that
    anybody lists is a *static* job and runs only where it is listed. All other jobs are spread over all other workers
    as ``connect_incremental`` does, which is also the whole answer where nobody is static or a member does not speak
    protocol ``static`` (lists are then ignored).

    Settings, each under ``assignor.connect_static.``: those of ``connect_incremental``, and one for each choice that
    the KIP leaves open; see :class:`~builtin_assignors.connect_static.config.StaticSettings` and
    :class:`~builtin_assignors._connect_incremental_steps.problem.StaticRules`.
    """

    def __init__(self) -> None:
        self._settings = StaticSettings()
        self._memory = JobHistory()

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Reads the longest delay and the settings.

        Raises:
            ConnectConfigError: if a value cannot be used, or there is no such setting.
        """
        self._settings = StaticSettings.from_config(configs)

    def traced(self, rebalance: Rebalance) -> Traced[ConnectAssignment]:
        """The answer of :meth:`assign` and the steps to it; raises as that."""
        found: list[RuleStep] = []
        return Traced(self._decided(rebalance, found), found, RULE_TEXTS)

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Places the jobs; jobs that nobody may run are left out, and the answer's remarks name them.

        Raises:
            UnsupportedConnectProtocolError: under protocol ``eager``, in which nobody reports what it owns.
        """
        return self._decided(rebalance, None)

    def _decided(self, rebalance: Rebalance, found: list[RuleStep] | None) -> ConnectAssignment:
        if not rebalance.protocol.is_incremental:
            raise UnsupportedConnectProtocolError(
                f"connect_static cannot lead a group that speaks {rebalance.protocol.value}, where workers do not "
                "report what they own: use connect_eager, or protocol static"
            )
        settings = self._settings
        memory = self._memory.under(rebalance.configured)

        def is_static(worker: Worker) -> bool:
            listed = worker.static.jobs()
            exists = any(job in rebalance.configured for job in (*listed.connectors, *listed.tasks))
            return settings.is_static(worker, lists_existing=exists)

        problem = problem_of(
            rebalance,
            memory.numbering,
            settings.order,
            settings.quirks,
            settings.max_delay,
            is_static if rebalance.protocol is ConnectProtocol.STATIC else None,
            settings.rules,
        )
        steps = None if found is None else ConnectSteps(memory.numbering, problem.members, problem.max_delay)
        answer, history = decide(problem, memory.history, steps)
        self._memory = JobHistory(memory.numbering, history)
        if found is not None and steps is not None:
            found += steps.steps
        return assignment_of(rebalance, problem, memory.numbering, answer)
