"""Asking an assignor the same question again, with one thing changed, within a budget of calls."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources
from assignment_api.plugins.keys import SETTING_PREFIX
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.changes import Change, changed
from assignor_lab.groups.holding import Held, HoldingOf
from assignor_lab.groups.kind import Competitor, Kind, Player, TracingPlayer
from assignor_lab.groups.variants import overridden
from assignor_lab.runtime.asking import OwnProcesses
from assignor_lab.runtime.invocation import Failure, failure_of
from assignor_lab.scenarios import Scenario, SimilarDocuments

__all__ = ["Budget", "Question", "Said"]


#: Classes of changes that concern one task, which the next task does not ask about again.
OF_ONE_TASK = frozenset({"lag", "previous owner"})
#: Answers that are kept for the next task.
MOST_KEPT = 128


def _key(change: Change) -> str:
    return repr((change.edits, change.setting))


@attrs.define
class Budget:
    """Calls and time that may be spent on asking again.

    Args:
        calls: Calls.
        seconds: Seconds from now on.
    """

    calls: int
    seconds: float
    spent: int = 0
    _start: float = attrs.field(factory=perf_counter)

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be asked."""
        return self.spent >= self.calls or self.is_late

    @property
    def is_late(self) -> bool:
        """Whether it is the time that has run out."""
        return perf_counter() - self._start > self.seconds


@attrs.frozen(eq=False)
class Said:
    """What came of one call.

    Args:
        state: What was asked; ``None``: Kafka would refuse it.
        answer: The answer, as the kind of group has it; ``None``: there is none.
        held: Who holds what by it; ``None``: there is no answer.
        failure: Why there is none.
        is_lost: The assignor's own process was ended: it hung, died, or took too much.
        by: Name of who answered.
    """

    state: Any
    answer: Any
    held: Held | None
    failure: Failure | None = None
    is_lost: bool = False
    by: str = ""


class Question:
    """One round of a scenario, and who is asked about it.

    In a history the assignor answers the rounds before, too, each time anew: one object lives through all.

    Args:
        kind: Kind of the scenario.
        holding: How its answers are read.
        competitor: Who is asked.
        scenario: The scenario.
        number: The round.
        sources: Configuration around the scenario's own.
        isolation: Who runs in a process of its own.
    """

    def __init__(
        self,
        kind: Kind[Any, Any],
        holding: HoldingOf[Any, Any],
        competitor: Competitor,
        scenario: Scenario,
        number: int,
        sources: ConfigSources,
        isolation: OwnProcesses | None,
    ) -> None:
        self.kind = kind
        self.holding = holding
        self.competitor = competitor
        self.scenario = scenario
        self.number = number
        self.sources = sources
        self.isolation = isolation
        self._documents = SimilarDocuments()
        #: What came of changes that do not concern one task alone: the next task is asked about without a call.
        self._kept: dict[str, Said] = {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of its own that who is asked is configured with, full key to value; secret ones are left out."""
        effective = self.sources.effective(self.scenario.config, str(self.scenario.place))
        own = f"{SETTING_PREFIX}{self.competitor.found.name}."
        return {
            key: held.value
            for key, held in effective.items()
            if key.startswith(own) and effective.shown(key) is held.value
        }

    def traced(self) -> Traced[Any] | None:
        """The answer as it is with the steps to it; ``None``: who is asked does not tell them, or not in this process.

        Raises:
            AssignorLabError: a subclass, where the state cannot be asked about; :meth:`asked` tells that.
        """
        config = self.sources.effective(self.scenario.config, str(self.scenario.place))
        explicit = self.sources.explicit_values()
        player = self.kind.player(self.competitor, self.isolation)
        if not isinstance(player, TracingPlayer):
            return None
        for number in range(self.number):
            self._answered(player, self.scenario, number, config, explicit)
        state = self.kind.state(self.scenario, self.number, explicit)
        return player.traced(state, player.asked(state, config))

    def asked(self, change: Change | None = None) -> Said:
        """What the assignor answers, as it is or after a change. Failures are told, not raised."""
        try:
            said = self._asked(change)
        except AssignorLabError as error:
            said = Said(None, None, None, failure_of(error))
        if change is not None and change.what not in OF_ONE_TASK and len(self._kept) < MOST_KEPT:
            self._kept[_key(change)] = attrs.evolve(said, state=None, answer=None)
        return said

    def kept(self, change: Change) -> Said | None:
        """What the assignor answered after this very change before, without state and answer; ``None``: not asked."""
        return self._kept.get(_key(change))

    def _asked(self, change: Change | None) -> Said:
        scenario, sources = self.scenario, self.sources
        if change is not None and change.edits:
            document = changed(scenario.document, change.edits)
            scenario = self._documents.scenario(document, scenario.place)
        if change is not None and change.setting is not None:
            sources = overridden(sources, dict([change.setting]))
        config = sources.effective(scenario.config, str(scenario.place))
        explicit = sources.explicit_values()
        player = self.kind.player(self.competitor, self.isolation)
        for number in range(self.number):
            said = self._answered(player, scenario, number, config, explicit)
            if said.held is None:
                return said
        return self._answered(player, scenario, self.number, config, explicit)

    def _answered(
        self,
        player: Player[Any, Any],
        scenario: Scenario,
        number: int,
        config: EffectiveConfig,
        explicit: Mapping[str, Any],
    ) -> Said:
        state = self.kind.state(scenario, number, explicit)
        asked = player.asked(state, config)
        outcome = player.answer(state, asked).outcome
        if isinstance(outcome.result, Failure):
            return Said(state, None, None, outcome.result, outcome.loss is not None, asked.name)
        return Said(state, outcome.result, self.holding.after(state, outcome.result), by=asked.name)
