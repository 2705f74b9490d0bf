"""Repeated calls of an assignor with one change of the input, within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Setting
from assignment_api.plugins.keys import is_setting
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.documents.edits import changed
from assignor_lab.groups.changes import InputChange
from assignor_lab.groups.kind import AssignorSession, GroupKind, LoadedContender, TracingSession
from assignor_lab.groups.ownership.ownership import Ownership, OwnershipOf
from assignor_lab.groups.variants import overridden
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, failure_of
from assignor_lab.scenarios import Scenario, scenario_from_document

__all__ = ["Budget", "Question", "ChangedCall"]


#: Classes of changes that concern one task; their answers are not kept for the next task.
OF_ONE_TASK = frozenset({"lag", "previous owner"})
#: Most answers kept for the next task.
MOST_KEPT = 128


def _key(change: InputChange) -> str:
    return repr((change.edits, change.setting))


@attrs.define
class Budget:
    """Calls and time for repeated calls."""

    calls: int
    seconds: float
    spent: int = 0
    _start: float = attrs.field(factory=perf_counter)

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.calls or self.is_late

    @property
    def is_late(self) -> bool:
        return perf_counter() - self._start > self.seconds


@attrs.frozen(eq=False)
class ChangedCall:
    """The outcome of one call.

    Args:
        state: The input; ``None``: Kafka would refuse it.
        answer: The answer in the form of its kind; ``None``: there is none.
        held: The owners by this answer; ``None``: there is no answer.
        failure: Reason of a missing answer.
        is_lost: True if the assignor's own process was ended: it hung, died, or exceeded a limit.
    """

    state: Any
    answer: Any
    held: Ownership | None
    failure: CallFailure | None = None
    is_lost: bool = False
    by: str = ""


class Question:
    """One round of a scenario, and its assignor.

    In a history the assignor also answers the earlier rounds, each time anew, because one object lives through all.
    """

    def __init__(
        self,
        kind: GroupKind[Any, Any],
        ownership: OwnershipOf[Any, Any],
        contender: LoadedContender,
        scenario: Scenario,
        number: int,
        sources: ConfigSources,
        isolation: OwnProcesses | None,
    ) -> None:
        self.kind = kind
        self.ownership = ownership
        self.contender = contender
        self.scenario = scenario
        self.number = number
        self.sources = sources
        self.isolation = isolation
        #: Results of changes that do not concern one task alone, kept for the next task.
        self._kept: dict[str, ChangedCall] = {}

    @property
    def settings(self) -> Mapping[str, object]:
        """The assignor's own settings, full key to value or declared default, without secret ones."""
        effective = self.sources.effective(self.scenario.config, str(self.scenario.place))
        own = effective.values_of(self.contender.found)
        configured = {
            key: own[key] for key, held in effective.items() if is_setting(key) and key in own
            and effective.shown(key) is held.value
        }  # fmt: skip
        defaults = {each.key: each.default for each in self.declared if each.default is not None}
        return {**{key: value for key, value in defaults.items() if key not in effective}, **configured}

    @property
    def declared(self) -> Sequence[Setting]:
        return tuple(getattr(self.contender.found.plugin, "settings", ()))

    def traced(self) -> Traced[Any] | None:
        """The answer without a change, with its steps; ``None``: the assignor reports none, or not in this process.

        Raises:
            AssignorLabError: a subclass, if the state is invalid; :meth:`asked` returns that as a failure.
        """
        config = self.sources.effective(self.scenario.config, str(self.scenario.place))
        explicit = self.sources.explicit_values()
        player = self.kind.player(self.contender, self.isolation)
        if not isinstance(player, TracingSession):
            return None
        for number in range(self.number):
            self._answered(player, self.scenario, number, config, explicit)
        state = self.kind.state(self.scenario, self.number, explicit)
        return player.traced(state, player.asked(state, config))

    def asked(self, change: InputChange | None = None) -> ChangedCall:
        """The outcome of a call, with or without a change. Failures are returned, not raised."""
        try:
            outcome = self._asked(change)
        except AssignorLabError as error:
            outcome = ChangedCall(None, None, None, failure_of(error))
        if change is not None and change.what not in OF_ONE_TASK and len(self._kept) < MOST_KEPT:
            self._kept[_key(change)] = attrs.evolve(outcome, state=None, answer=None)
        return outcome

    def kept(self, change: InputChange) -> ChangedCall | None:
        """The earlier outcome of the same change, without state and answer; ``None``: it was not tried."""
        return self._kept.get(_key(change))

    def _asked(self, change: InputChange | None) -> ChangedCall:
        scenario, sources = self.scenario, self.sources
        if change is not None and change.edits:
            document = changed(scenario.document, change.edits)
            scenario = scenario_from_document(document, scenario.place)
        if change is not None and change.setting is not None:
            sources = overridden(sources, dict([change.setting]))
        config = sources.effective(scenario.config, str(scenario.place))
        explicit = sources.explicit_values()
        player = self.kind.player(self.contender, self.isolation)
        for number in range(self.number):
            outcome = self._answered(player, scenario, number, config, explicit)
            if outcome.held is None:
                return outcome
        return self._answered(player, scenario, self.number, config, explicit)

    def _answered(
        self,
        player: AssignorSession[Any, Any],
        scenario: Scenario,
        number: int,
        config: EffectiveConfig,
        explicit: Mapping[str, object],
    ) -> ChangedCall:
        state = self.kind.state(scenario, number, explicit)
        chosen = player.asked(state, config)
        outcome = player.answer(state, chosen).outcome
        if isinstance(outcome.result, CallFailure):
            return ChangedCall(state, None, None, outcome.result, outcome.loss is not None, chosen.name)
        return ChangedCall(state, outcome.result, self.ownership.after(state, outcome.result), by=chosen.name)
