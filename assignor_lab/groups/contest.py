"""The contest: one scenario or history put to all competitors, whatever its kind. Pure: no Spark, no files.

In a round of a scenario all competitors see the same state. In a history that is made as it goes they meet the same
events, and each goes on from its own previous answer; the first round is the same state for all. After a failure
everybody keeps what it had, as in a group whose rebalance failed, and the history goes on.
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
from assignor_lab.groups.kind import Answer, Asked, Competitor, Kind, Missing, Player
from assignor_lab.groups.terms import NO_CONFIG
from assignor_lab.groups.variants import configured
from assignor_lab.groups.work import OBSERVED, WorkItem
from assignor_lab.runtime.asking import OwnProcesses
from assignor_lab.runtime.invocation import CallOutcome, Failure, failure_of
from assignor_lab.runtime.isolation.errors import IsolationError
from assignor_lab.runtime.isolation.exclusion import Exclusions, family_key
from assignor_lab.scenarios import Place, Scenario, SimilarDocuments
from assignor_lab.scenarios.made import ScenarioHistory

__all__ = ["Contest"]

S = TypeVar("S")
A = TypeVar("A")


@attrs.frozen(eq=False)
class _Read:
    """A scenario, or why there is none."""

    scenario: Scenario | Failure
    read_ns: int


@attrs.frozen(eq=False)
class _Built(Generic[S]):
    """The state of a round and its configuration, or why there is none."""

    scenario: Scenario | None
    state: tuple[S, EffectiveConfig] | Failure
    build_ns: int


class _Configured:
    """The effective configurations of scenarios; the latest one is kept, for scenarios that share a read-only one.

    Args:
        sources: Configuration below and above a scenario's own.
    """

    def __init__(self, sources: ConfigSources) -> None:
        self._sources = sources
        self._latest: tuple[Mapping[str, Any], Place, EffectiveConfig] | None = None

    def effective(self, scenario: Scenario) -> EffectiveConfig:
        """The configuration that ``scenario`` is answered under."""
        own, place, known = scenario.config, scenario.place, self._latest
        if known is not None and known[0] is own and known[1] is place:
            return known[2]
        made = self._sources.effective(own, str(place))
        if isinstance(own, MappingProxyType):
            self._latest = own, place, made
        return made


@attrs.frozen(eq=False)
class _Settings:
    """The configuration around scenarios, for those competitors who share it.

    Args:
        configured: The effective configuration of scenarios.
        explicit: What stands above a scenario's own, in the types of the keys.
    """

    configured: _Configured
    explicit: Mapping[str, Any]

    @classmethod
    def of(cls, sources: ConfigSources) -> _Settings:
        """As the sources say."""
        return cls(_Configured(sources), sources.explicit_values())


@attrs.frozen
class Contest(Generic[S, A]):
    """The competitors of a run, and the configuration around each scenario's own.

    Args:
        kind: Kind of the scenarios.
        competitors: Who competes.
        families: Name to family, for items that are histories.
        config: Configuration below and above a scenario's own.
        observed: Yield what Kafka really decided, too, where it is known.
        isolation: Who runs in a process of its own, and those processes; ``None``: nobody does.
    """

    kind: Kind[S, A]
    competitors: Sequence[Competitor | Missing]
    families: Mapping[str, ScenarioFamily] = attrs.field(factory=dict)
    config: ConfigSources = NO_CONFIG
    observed: bool = True
    isolation: OwnProcesses | None = None
    #: The settings of the run.
    _shared: _Settings = attrs.field(init=False)

    @_shared.default
    def _settings_of_run(self) -> _Settings:
        return _Settings.of(self.config)

    #: The settings of each competitor; who has none of its own shares those of the run.
    _settings: Sequence[_Settings] = attrs.field(init=False)

    @_settings.default
    def _settings_of_all(self) -> Sequence[_Settings]:
        return [
            _Settings.of(configured(self.config, each.name, each.overrides))
            if isinstance(each, Competitor) and each.overrides
            else self._shared
            for each in self.competitors
        ]

    def answers(self, item: WorkItem) -> Iterator[Answer[S, A]]:
        """Every answer to ``item``: by round, then in the order of the competitors, Kafka's own decision last.

        There is an answer for each round and competitor, whatever fails; only ``KeyboardInterrupt`` passes.
        """
        exclusions = Exclusions(item.excluded)
        players = [
            competitor.failure if isinstance(competitor, Missing) else self.kind.player(competitor, self.isolation)
            for competitor in self.competitors
        ]
        if item.family is None:
            yield from self._written(item, players, exclusions)
        else:
            yield from self._generated(item, self.families[item.family], players, exclusions)

    def _written(
        self, item: WorkItem, players: Sequence[Player[S, A] | Failure], exclusions: Exclusions
    ) -> Iterator[Answer[S, A]]:
        """The rounds of a scenario, whatever is answered."""
        place = Place(item.file or "-", item.line)
        known = item.scenario
        document = partial(json.loads, item.document or "null") if known is None else lambda: known.document
        read = self._read(document, place) if known is None else _Read(known, 0)
        rounds = 1 if isinstance(read.scenario, Failure) else self.kind.rounds(read.scenario)
        for number in range(rounds):
            # What is built under the same settings is built once, and again only if somebody changed it.
            states: dict[int, _Built[S]] = {}
            decided, own = self._decided(read.scenario, number)
            for settings, competitor, player in zip(self._settings, self.competitors, players, strict=True):
                built = states.get(id(settings)) or self._built(read, number, settings)
                states[id(settings)] = built
                answer = self._answer(item, number, competitor, player, built, exclusions, settings)
                yield attrs.evolve(answer, other_settings=self._other_settings(own, built))
                if answer.outcome.input_mutated:
                    states.clear()
                    read = self._read(document, place)
                    decided, own = self._decided(read.scenario, number)
            if self.observed and decided is not None:
                shown = next(iter(states.values()), None) or self._built(read, number, self._shared)
                yield _observed(item, number, shown, decided, own)

    def _decided(self, scenario: Scenario | Failure, number: int) -> tuple[CallOutcome[A] | None, S | Failure | None]:
        """What Kafka decided in a round, and the state as it had it: under its own settings, whatever is asked now."""
        decided = None if isinstance(scenario, Failure) else self.kind.observed(scenario, number)
        if isinstance(scenario, Failure) or decided is None:
            return None, None
        try:
            return decided, self.kind.state(scenario, number, {})
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - as in _built
            return decided, failure_of(error)

    def _other_settings(self, own: S | Failure | None, built: _Built[S]) -> bool | None:
        """Whether competitors are asked under other settings than Kafka decided under; ``None``: not known."""
        if own is None or isinstance(own, Failure) or isinstance(built.state, Failure):
            return None
        return self.kind.settings(own) != self.kind.settings(built.state[0])

    def _generated(
        self, item: WorkItem, family: ScenarioFamily, players: Sequence[Player[S, A] | Failure], exclusions: Exclusions
    ) -> Iterator[Answer[S, A]]:
        """The rounds of a history, as they follow from the answers."""
        seed = item.seed or 0
        place = Place(f"family {family.name}, seed {seed}")
        key = family_key(item.family or family.name)
        histories = [_History(family, seed, exclusions, key) for _ in self.competitors]
        documents = SimilarDocuments()
        for number in range(family.rounds):
            # The first round is the same for all, so it is read once, and again only if somebody changed it.
            first: dict[int, _Built[S]] = {}
            for settings, history, competitor, player in zip(
                self._settings, histories, self.competitors, players, strict=True
            ):
                known = None if number else first.pop(id(settings), None)
                built = self._next(history, number, place, documents, known, settings)
                answer = self._answer(item, number, competitor, player, built, exclusions, settings)
                yield answer
                if history.over is None:
                    first[id(settings)] = built
                if answer.outcome.input_mutated:
                    first, documents = {}, SimilarDocuments()
                    for each in histories:
                        each.forget()
                result = answer.outcome.result
                history.previous = None if isinstance(result, Failure) else self.kind.after(result)

    def _next(
        self,
        history: _History,
        number: int,
        place: Place,
        documents: SimilarDocuments,
        known: _Built[S] | None,
        settings: _Settings,
    ) -> _Built[S]:
        """The state of a history's next round; ``known`` if that is what an equal document was already made to."""
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
        read = _Read(document, 0) if isinstance(document, Scenario) else self._read(lambda: document, place, documents)
        built = self._built(read, number, settings)
        return _Built(built.scenario, built.state, built.build_ns + made_ns)

    def _read(self, document: Callable[[], Any], place: Place, documents: SimilarDocuments | None = None) -> _Read:
        start = perf_counter_ns()
        try:
            scenario: Scenario | Failure = (documents or SimilarDocuments()).scenario(document(), place)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - what a family made of a document may raise anything
            scenario = failure_of(error)
        return _Read(scenario, perf_counter_ns() - start)

    def _built(self, read: _Read, number: int, settings: _Settings) -> _Built[S]:
        start = perf_counter_ns()
        scenario = read.scenario
        if isinstance(scenario, Failure):
            return _Built(None, scenario, read.read_ns)
        state: tuple[S, EffectiveConfig] | Failure
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
        competitor: Competitor | Missing,
        player: Player[S, A] | Failure,
        built: _Built[S],
        exclusions: Exclusions,
        settings: _Settings,
    ) -> Answer[S, A]:
        answer = partial(Answer, item, number, competitor.name, built.scenario, build_ns=built.build_ns)
        if isinstance(built.state, Failure):
            return answer(None, CallOutcome(built.state))
        state, config = built.state
        if isinstance(player, Failure):
            return answer(state, CallOutcome(player))
        start = perf_counter_ns()
        try:
            asked: Asked = player.asked(state, config)
        except AssignorLabError as error:
            return answer(state, CallOutcome(failure_of(error)))
        # Rows name the competitor; who stands in for it is somebody else.
        assert isinstance(competitor, Competitor)
        name = competitor.name if asked.name == competitor.found.name else asked.name
        refusal = exclusions.refusal(name)
        if refusal is not None:
            return answer(state, CallOutcome(failure_of(refusal), loss=refusal))
        reply = player.answer(state, asked)
        exclusions.note(name, reply.outcome.loss)
        outcome, reason = reply.outcome, None
        if not isinstance(outcome.result, Failure):
            given = player.looked_ahead(outcome.result)
            if given is not outcome.result:
                outcome = attrs.evolve(outcome, result=given)
            assert built.scenario is not None
            reason = self.kind.not_comparable(built.scenario, state, settings.explicit, given)
        other_ns = perf_counter_ns() - start - outcome.assign_ns
        return answer(state, outcome, other_ns=other_ns, asked=asked, calls=reply.calls, not_comparable=reason)


class _History:
    """A family's history as one competitor has it; a family that hangs is not asked for the next one's."""

    def __init__(self, family: ScenarioFamily, seed: int, exclusions: Exclusions, key: str) -> None:
        self._family = family
        self._seed = seed
        self._exclusions = exclusions
        self._key = key
        self._history: Any = None
        self._makes_scenarios = False
        #: What the competitor answered in the round before, as the family is told.
        self.previous: Any = None
        #: Why nothing more comes of it: the family failed.
        self.over: Failure | None = None

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
        """Shares nothing any more with states that were made before."""
        if self._makes_scenarios:
            self._history.forget()


def _observed(
    item: WorkItem, number: int, built: _Built[S], decided: CallOutcome[A], own: S | Failure | None
) -> Answer[S, A]:
    answer = partial(Answer, item, number, OBSERVED, built.scenario, build_ns=built.build_ns)
    if own is None or isinstance(own, Failure):
        return answer(None, CallOutcome(own or decided.result))
    return answer(own, decided, other_settings=False)
