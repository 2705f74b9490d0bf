"""The contest: all contenders answer one scenario or history of any kind. Pure: no Spark, no files.

In a scenario all contenders get the same states. In a generated history the events are the same, and each continues
from its own previous answer; only the first state is common. After a failure every member keeps its tasks, as after a
failed rebalance, and the history continues.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ScenarioFamily
from assignment_api.plugins.selection import ConfigSources, EffectiveConfig
from assignor_lab.groups.kind import (
    AnsweringAssignor,
    AssignorSession,
    ContenderAnswer,
    GroupKind,
    LoadedContender,
    MissingContender,
)
from assignor_lab.groups.runner.terms import NO_CONFIG
from assignor_lab.groups.variants import configured
from assignor_lab.groups.work import OBSERVED, WorkItem
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, CallOutcome, failure_of
from assignor_lab.runtime.isolation.errors import IsolationError
from assignor_lab.runtime.isolation.exclusion import Exclusions, family_key
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scenarios.made import ScenarioHistory

__all__ = ["ComparisonRunner"]

S = TypeVar("S")
A = TypeVar("A")


@attrs.frozen(eq=False)
class _Read:
    scenario: Scenario | CallFailure
    read_ns: int


@attrs.frozen(eq=False)
class _Built(Generic[S]):
    scenario: Scenario | None
    state: tuple[S, EffectiveConfig] | CallFailure
    build_ns: int


class _Configured:
    def __init__(self, sources: ConfigSources) -> None:
        self._sources = sources
        self._latest: tuple[Mapping[str, Any], Place, EffectiveConfig] | None = None

    def effective(self, scenario: Scenario) -> EffectiveConfig:
        own, place, known = scenario.config, scenario.place, self._latest
        if known is not None and known[0] is own and known[1] is place:
            return known[2]
        made = self._sources.effective(own, str(place))
        if isinstance(own, MappingProxyType):
            self._latest = own, place, made
        return made


@attrs.frozen(eq=False)
class _Settings:
    """The configuration around scenarios, for contenders with the same one.

    Args:
        explicit: Values above a scenario's own, in the types of the keys.
    """

    configured: _Configured
    explicit: Mapping[str, object]

    @classmethod
    def of(cls, sources: ConfigSources) -> _Settings:
        return cls(_Configured(sources), sources.explicit_values())


@attrs.frozen
class ComparisonRunner(Generic[S, A]):
    """The contenders of a run, and the configuration around each scenario's own.

    Args:
        observed: Yield Kafka's own decision, too, if it is known.
    """

    kind: GroupKind[S, A]
    contenders: Sequence[LoadedContender | MissingContender]
    families: Mapping[str, ScenarioFamily] = attrs.field(factory=dict)
    config: ConfigSources = NO_CONFIG
    observed: bool = True
    isolation: OwnProcesses | None = None
    _shared: _Settings = attrs.field(init=False)

    @_shared.default
    def _settings_of_run(self) -> _Settings:
        return _Settings.of(self.config)

    _settings: Sequence[_Settings] = attrs.field(init=False)

    @_settings.default
    def _settings_of_all(self) -> Sequence[_Settings]:
        return [
            _Settings.of(configured(self.config, each.name, each.overrides))
            if isinstance(each, LoadedContender) and each.overrides
            else self._shared
            for each in self.contenders
        ]

    def answers(self, item: WorkItem) -> Iterator[ContenderAnswer[S, A]]:
        """Every answer to ``item``: by round, then in the order of the contenders, Kafka's own decision last.

        Each round and contender has an answer, despite all failures; only ``KeyboardInterrupt`` passes.
        """
        exclusions = Exclusions(item.excluded)
        players = [
            contender.failure
            if isinstance(contender, MissingContender)
            else self.kind.player(contender, self.isolation)
            for contender in self.contenders
        ]
        if item.family is None:
            yield from self._written(item, players, exclusions)
        else:
            yield from self._generated(item, self.families[item.family], players, exclusions)

    def _written(
        self, item: WorkItem, players: Sequence[AssignorSession[S, A] | CallFailure], exclusions: Exclusions
    ) -> Iterator[ContenderAnswer[S, A]]:
        place = Place(item.file or "-", item.line)
        known = item.scenario
        document = partial(json.loads, item.document or "null") if known is None else lambda: known.document
        read = self._read(document, place) if known is None else _Read(known, 0)
        rounds = 1 if isinstance(read.scenario, CallFailure) else self.kind.rounds(read.scenario)
        for number in range(rounds):
            # The state for the same settings is built once, and again only after a contender changed it.
            states: dict[int, _Built[S]] = {}
            decided, own = self._decided(read.scenario, number)
            for settings, contender, player in zip(self._settings, self.contenders, players, strict=True):
                built = states.get(id(settings)) or self._built(read, number, settings)
                states[id(settings)] = built
                answer = self._answer(item, number, contender, player, built, exclusions, settings)
                yield attrs.evolve(answer, settings_difference=self._other_settings(own, built))
                if answer.outcome.input_mutated:
                    states.clear()
                    read = self._read(document, place)
                    decided, own = self._decided(read.scenario, number)
            if self.observed and decided is not None:
                shown = next(iter(states.values()), None) or self._built(read, number, self._shared)
                yield _observed(item, number, shown, decided, own)

    def _decided(
        self, scenario: Scenario | CallFailure, number: int
    ) -> tuple[CallOutcome[A] | None, S | CallFailure | None]:
        decided = None if isinstance(scenario, CallFailure) else self.kind.observed(scenario, number)
        if isinstance(scenario, CallFailure) or decided is None:
            return None, None
        try:
            return decided, self.kind.state(scenario, number, {})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - as in _built
            return decided, failure_of(error)

    def _other_settings(self, own: S | CallFailure | None, built: _Built[S]) -> bool | None:
        if own is None or isinstance(own, CallFailure) or isinstance(built.state, CallFailure):
            return None
        return self.kind.settings(own) != self.kind.settings(built.state[0])

    def _generated(
        self,
        item: WorkItem,
        family: ScenarioFamily,
        players: Sequence[AssignorSession[S, A] | CallFailure],
        exclusions: Exclusions,
    ) -> Iterator[ContenderAnswer[S, A]]:
        seed = item.seed or 0
        place = Place(f"family {family.name}, seed {seed}")
        key = family_key(item.family or family.name)
        histories = [_History(family, seed, exclusions, key) for _ in self.contenders]
        for number in range(family.rounds):
            # The first round is the same for all: it is read once, and again only after a contender changed it.
            first: dict[int, _Built[S]] = {}
            for settings, history, contender, player in zip(
                self._settings, histories, self.contenders, players, strict=True
            ):
                known = None if number else first.pop(id(settings), None)
                built = self._next(history, number, place, known, settings)
                answer = self._answer(item, number, contender, player, built, exclusions, settings)
                yield answer
                if history.over is None:
                    first[id(settings)] = built
                if answer.outcome.input_mutated:
                    first = {}
                    for each in histories:
                        each.forget()
                result = answer.outcome.result
                history.previous = None if isinstance(result, CallFailure) else self.kind.after(result)

    def _next(
        self,
        history: _History,
        number: int,
        place: Place,
        known: _Built[S] | None,
        settings: _Settings,
    ) -> _Built[S]:
        start = perf_counter_ns()
        try:
            document = history.round(number, place)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a family is a plugin and may raise anything
            history.over = failure_of(error)
            return _Built(None, history.over, perf_counter_ns() - start)
        if history.over is not None:
            return _Built(None, history.over, perf_counter_ns() - start)
        if known is not None:
            return _Built(known.scenario, known.state, perf_counter_ns() - start)
        made_ns = perf_counter_ns() - start
        read = _Read(document, 0) if isinstance(document, Scenario) else self._read(lambda: document, place)
        built = self._built(read, number, settings)
        return _Built(built.scenario, built.state, built.build_ns + made_ns)

    def _read(self, document: Callable[[], Any], place: Place) -> _Read:
        start = perf_counter_ns()
        try:
            scenario: Scenario | CallFailure = scenario_from_document(document(), place)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a family's document may raise anything
            scenario = failure_of(error)
        return _Read(scenario, perf_counter_ns() - start)

    def _built(self, read: _Read, number: int, settings: _Settings) -> _Built[S]:
        start = perf_counter_ns()
        scenario = read.scenario
        if isinstance(scenario, CallFailure):
            return _Built(None, scenario, read.read_ns)
        state: tuple[S, EffectiveConfig] | CallFailure
        try:
            state = (
                self.kind.state(scenario, number, settings.explicit),
                settings.configured.effective(scenario),
            )
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a document of a family may hold anything
            state = failure_of(error)
        return _Built(scenario, state, read.read_ns + perf_counter_ns() - start)

    def _answer(
        self,
        item: WorkItem,
        number: int,
        contender: LoadedContender | MissingContender,
        player: AssignorSession[S, A] | CallFailure,
        built: _Built[S],
        exclusions: Exclusions,
        settings: _Settings,
    ) -> ContenderAnswer[S, A]:
        answer = partial(ContenderAnswer, item, number, contender.name, built.scenario, build_ns=built.build_ns)
        if isinstance(built.state, CallFailure):
            return answer(None, CallOutcome(built.state))
        state, config = built.state
        if isinstance(player, CallFailure):
            return answer(state, CallOutcome(player))
        start = perf_counter_ns()
        try:
            chosen: AnsweringAssignor = player.asked(state, config)
        except AssignorLabError as error:
            return answer(state, CallOutcome(failure_of(error)))
        # Rows name the contender, even if another assignor stands in for it.
        assert isinstance(contender, LoadedContender)
        name = contender.name if chosen.name == contender.found.name else chosen.name
        refusal = exclusions.refusal(name)
        if refusal is not None:
            return answer(state, CallOutcome(failure_of(refusal), loss=refusal))
        reply = player.answer(state, chosen)
        exclusions.note(name, reply.outcome.loss)
        outcome, reason = reply.outcome, None
        if not isinstance(outcome.result, CallFailure):
            given = player.looked_ahead(outcome.result)
            if given is not outcome.result:
                outcome = attrs.evolve(outcome, result=given)
            assert built.scenario is not None
            reason = self.kind.not_comparable(built.scenario, state, settings.explicit, given)
        other_ns = perf_counter_ns() - start - outcome.assign_ns
        return answer(state, outcome, other_ns=other_ns, asked=chosen, calls=reply.calls, not_comparable=reason)


class _History:
    """After a family hangs, it is not called for the next contender."""

    def __init__(self, family: ScenarioFamily, seed: int, exclusions: Exclusions, key: str) -> None:
        self._family = family
        self._seed = seed
        self._exclusions = exclusions
        self._key = key
        self._history: Any = None
        self._makes_scenarios = False
        self.previous: Any = None
        #: The family's failure, which ends the history.
        self.over: CallFailure | None = None

    def round(self, number: int, place: Place) -> Any:
        """The document of a round, or the scenario of one of the lab's own; ``None`` after the family failed."""
        if self.over is not None:
            return None
        refusal = self._exclusions.refusal(self._key, self._key)
        if refusal is not None:
            raise refusal
        try:
            return self._round(number, place)
        except IsolationError as error:
            self._exclusions.note(self._key, error)
            raise

    def _round(self, number: int, place: Place) -> Any:
        if self._history is None:
            self._history = self._family.history(self._seed)
            self._makes_scenarios = isinstance(self._history, ScenarioHistory)
        if self._makes_scenarios:
            return self._history.scenario(number, self.previous, place)
        return self._history.round(number, self.previous)

    def forget(self) -> None:
        if self._makes_scenarios:
            self._history.forget()


def _observed(
    item: WorkItem, number: int, built: _Built[S], decided: CallOutcome[A], own: S | CallFailure | None
) -> ContenderAnswer[S, A]:
    answer = partial(ContenderAnswer, item, number, OBSERVED, built.scenario, build_ns=built.build_ns)
    if own is None or isinstance(own, CallFailure):
        return answer(None, CallOutcome(own or decided.result))
    return answer(own, decided, settings_difference=False)
