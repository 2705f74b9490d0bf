"""The assignor of a simulated Streams group, called as usual, with Kafka's fallback if lags are unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assignment_api import ApplicationMetadata
from assignment_api.plugins import FoundTaskAssignor, Registry
from assignment_api.releases import RELEASE_KEY, KafkaRelease
from assignor_lab.groups.streams.assignor_calls import ASKING
from assignor_lab.kafka.leader.fallback import is_internal, replacement_without_lags
from assignor_lab.runtime.assignor_calls import OwnProcesses, assignor_for
from assignor_lab.runtime.invocation import CallFailure, CallOutcome
from assignor_lab.simulation.streams.leading import LeaderAnswer, LeaderFailedError

__all__ = ["LeadingAssignor", "leading_assignor"]

#: Kafka's default if ``task.assignor.class`` is not set.
_DEFAULT_ASSIGNOR = "high_availability"


class LeadingAssignor:
    """Calls one assignor for the leader of a simulated group.

    Args:
        configs: The effective configuration for ``configure``.
        isolation: Plugins with their own process; ``None``: there are none.
    """

    def __init__(
        self,
        found: FoundTaskAssignor,
        fallback: FoundTaskAssignor,
        configs: Mapping[str, object],
        isolation: OwnProcesses | None = None,
        on_call: Callable[[CallOutcome[Any]], None] | None = None,
    ) -> None:
        self.name = found.name
        self._found, self._fallback = found, fallback
        self._configs, self._isolation, self._on_call = configs, isolation, on_call

    def assign(self, application: ApplicationMetadata, release: KafkaRelease | None = None) -> LeaderAnswer:
        """The answer for one rebalance.

        Args:
            release: That of the leader, if it differs from the group's.

        Raises:
            LeaderFailedError: if there is none.
        """
        has_lags = all(client.has_lags() for client in application.streams_client_states().values())
        found = self._found if has_lags else self._fallback
        configs = self._configs if release is None else {**self._configs, RELEASE_KEY: str(release)}
        outcome = assignor_for(ASKING, found, configs, self._isolation).ask(application)
        if self._on_call is not None:
            self._on_call(outcome)
        result = outcome.result
        if isinstance(result, CallFailure):
            raise LeaderFailedError(f"assignor {found.name} gave no answer: {result.type}: {result.message}")
        return LeaderAnswer(result, is_internal(found))


def leading_assignor(
    registry: Registry, selector: str | None, configs: Mapping[str, object], *, may_run_code: bool = False
) -> LeadingAssignor:
    """The named assignor, or Kafka's default.

    Raises:
        UnknownPluginError, PluginLoadError: if it is not available.
    """
    found = registry.task_assignor(selector or _DEFAULT_ASSIGNOR, may_run_code=may_run_code)
    return LeadingAssignor(found, replacement_without_lags(found, registry), configs)
