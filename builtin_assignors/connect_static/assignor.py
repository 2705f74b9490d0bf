"""``connect_static``: KIP-987's assignment, which no Kafka release has.

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
from builtin_assignors._steps_taken import SILENT
from builtin_assignors.connect_static.config import StaticSettings

__all__ = ["StaticConnectAssignor"]


class StaticConnectAssignor(ConnectAssignor):
    """The eight steps of KIP-987 over Kafka's incremental cooperative algorithm.

    A worker with ``static.connectors`` or ``static.tasks`` is *static* and runs only the jobs that it lists. A job that
    any worker lists is *static* and runs only on such workers. All other jobs are spread over all other workers as by
    ``connect_incremental``. Without static workers, or if a member does not support protocol ``static``, the lists are
    ignored and the answer is that of ``connect_incremental``.

    Settings, each under ``assignor.connect_static.``: those of ``connect_incremental``, and one for each choice that
    the KIP leaves open; see :class:`~builtin_assignors.connect_static.config.StaticSettings` and
    :class:`~builtin_assignors._connect_incremental_steps.problem.StaticRules`.
    """

    def __init__(self) -> None:
        self._settings = StaticSettings()
        self._memory = JobHistory()

    def configure(self, configs: Mapping[str, Any]) -> None:
        """Read the longest delay and the settings.

        Raises:
            ConnectConfigError: if a value is invalid or a setting unknown.
        """
        self._settings = StaticSettings.from_config(configs)

    def traced(self, rebalance: Rebalance) -> Traced[ConnectAssignment]:
        found: list[RuleStep] = []
        return Traced(self._decided(rebalance, found), found, RULE_TEXTS)

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        """Place the jobs; jobs that no worker may run are left out, and the answer's remarks name them.

        Raises:
            UnsupportedConnectProtocolError: under protocol ``eager``, in which workers report no jobs.
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
        steps: ConnectSteps = (
            SILENT if found is None else ConnectSteps(memory.numbering, problem.members, problem.max_delay)
        )
        answer, history = decide(problem, memory.history, steps)
        self._memory = JobHistory(memory.numbering, history)
        if found is not None:
            found += steps.steps
        return assignment_of(rebalance, problem, memory.numbering, answer)
