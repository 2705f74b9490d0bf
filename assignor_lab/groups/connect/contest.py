"""One Connect scenario put to all assignors: histories round by round, episodes through the simulation. No Spark.

The rounds of a history in a file are those of the scenario: what its workers run in a round does not follow from the
answers, so all assignors see the same state. What follows from an answer is told by the figure ``rounds_to_stable``:
there the assignor goes on alone. In a history of a family each assignor goes on from its own answer, through the same
events. In an episode each assignor leads a simulated group of its own through the same events.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from time import perf_counter_ns
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.connect import (
    CONNECT_PROTOCOL,
    NO_JOBS,
    ConnectAssignment,
    ConnectAssignor,
    ConnectProtocol,
    Jobs,
    Rebalance,
    WorkerAssignment,
)
from assignment_api.plugins import (
    FoundConnectAssignor,
    MetricPlugin,
    PluginError,
    Registry,
    ScenarioFamily,
    discover,
)
from assignment_api.plugins.keys import is_setting
from assignment_api.plugins.selection import ConfigSources
from assignor_lab.groups.connect.answer import ConnectAnswer
from assignor_lab.groups.connect.answering import spoken_protocol
from assignor_lab.groups.connect.invocation import ConnectOutcome
from assignor_lab.groups.connect.isolation import Leading, leading_assignor
from assignor_lab.groups.connect.metrics import CONNECT_METRICS, EPISODE_METRICS, Decision
from assignor_lab.groups.connect.pictures import group_picture
from assignor_lab.groups.connect.rounds import Rounds, generated_rounds, written_rounds
from assignor_lab.groups.connect.rows import connect_row
from assignor_lab.groups.families import families_of
from assignor_lab.groups.observing import Complaints
from assignor_lab.groups.streams.isolation import Isolation
from assignor_lab.groups.work import JobSpec, WorkItem
from assignor_lab.runtime.invocation import Failure, failure_of
from assignor_lab.runtime.isolation.exclusion import Exclusions
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.simulation.connect.cluster import AssignorFactory
from assignor_lab.simulation.connect.episode_format import ConnectEpisode, read_episode
from assignor_lab.simulation.connect.simulate import Played, assignors_from, simulate

__all__ = ["ConnectContest", "Competitor", "connect_contest", "rounds_until_rest"]

#: Rebalances after which a group that is still not at rest is taken never to come to rest.
MAX_ROUNDS = 50


#: Told the name of the assignor, what it was asked and what came of it.
Tell = Callable[[str, Rebalance, ConnectOutcome], None]


@attrs.frozen
class Competitor:
    """An assignor of the run, or why this process does not have it."""

    name: str
    found: FoundConnectAssignor | None
    failure: Failure | None = None


def connect_contest(spec: JobSpec) -> ConnectContest:
    """The contest that ``spec`` describes, with the plugins of this process."""
    config = spec.config.effective()
    registry = discover(config.policy())
    competitors = []
    for name in spec.assignors:
        try:
            competitors.append(Competitor(name, registry.connect_assignor(name, may_run_code=spec.may_run_code)))
        except PluginError as error:
            competitors.append(Competitor(name, None, failure_of(error)))
    isolation = Isolation(Limits.of(config), config.policy())
    families = families_of(registry, spec.families)
    complaints = Complaints()

    def tell(name: str, rebalance: Rebalance, outcome: ConnectOutcome) -> None:
        failure = None if outcome.failure is None else outcome.failure.message
        complaints.say(registry.notify_connect_assignment_computed(name, rebalance, outcome.assignment, failure))

    plugins = _plugins(spec, registry)
    return ConnectContest(tuple(competitors), spec.config, assignors_from(registry), isolation, families, tell, plugins)


def _plugins(spec: JobSpec, registry: Registry) -> dict[str, MetricPlugin]:
    """Those metrics of the run that are not the lab's own; one that this process lacks fails in each row."""
    own = {metric.name for metric in CONNECT_METRICS} | {metric.name for metric in EPISODE_METRICS}
    plugins = {}
    for name in spec.metrics:
        if name not in own:
            try:
                plugins[name] = registry.metric(name).plugin
            except PluginError as error:
                plugins[name] = MetricPlugin(name.replace(":", "-"), "", "none", "", _raising(error), kind="connect")
    return plugins


def _raising(error: PluginError) -> Callable[..., float | None]:
    def compute(*_state: object) -> float | None:
        raise error

    return compute


@attrs.frozen(eq=False)
class ConnectContest:
    """The assignors of a run.

    Args:
        competitors: Who competes.
        config: Configuration around each scenario's own.
        builtin: Kafka's own assignors, which lead where a competitor cannot: eager groups of an episode.
        isolation: Who runs in a process of its own, and those processes; ``None``: nobody does.
        families: Name to family, for items that are histories of one.
        tell: Told of every answer, in an episode of each rebalance's.
        plugins: Column to metric, of those that plugins bring.
    """

    competitors: Sequence[Competitor]
    config: ConfigSources
    builtin: AssignorFactory
    isolation: Isolation | None = None
    families: Mapping[str, ScenarioFamily] = attrs.field(factory=dict)
    tell: Tell = lambda _name, _rebalance, _outcome: None
    plugins: Mapping[str, MetricPlugin] = attrs.field(factory=dict)

    def rows(self, item: WorkItem) -> Iterator[dict[str, Any]]:
        """The rows of :meth:`answers`."""
        return (connect_row(answer, self.plugins) for answer in self.answers(item))

    def pictures(
        self, item: WorkItem, wanted: Mapping[tuple[int, int], str | None]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and picture (:func:`~assignor_lab.groups.connect.pictures.group_picture`) of the wanted rounds.

        Args:
            item: What is answered once more.
            wanted: Pairs of item and round, each with the assignor whose state is to be shown where they differ.
        """
        by_round: dict[int, list[ConnectAnswer]] = {}
        for answer in self.answers(item):
            if (item.number, answer.round) in wanted:
                by_round.setdefault(answer.round, []).append(answer)
        for number, answers in by_round.items():
            yield number, group_picture(answers, wanted[item.number, number])

    def answers(self, item: WorkItem) -> Iterator[ConnectAnswer]:
        """One for each round and assignor, whatever fails; only ``KeyboardInterrupt`` passes."""
        if item.family is not None:
            for competitor in self.competitors:
                yield from self._generated(item, self.families[item.family], competitor)
            return
        scenario = scenario_from_document(json.loads(item.document or "null"), Place(item.file or "-", item.line))
        for competitor in self.competitors:
            if scenario.kind == "connect":
                yield from self._history(item, written_rounds(scenario), competitor)
            else:
                yield self._episode(item, scenario, competitor)

    def _generated(self, item: WorkItem, family: ScenarioFamily, competitor: Competitor) -> Iterator[ConnectAnswer]:
        number = 0
        try:
            for answer in self._history(item, generated_rounds(family, item.seed or 0), competitor):
                yield answer
                number += 1
        except Exception as error:  # noqa: BLE001 - a family is a plugin and may raise anything
            failure = failure_of(error)
            for missing in range(number, family.rounds):
                yield ConnectAnswer(item, None, missing, competitor.name, failure)

    def _history(self, item: WorkItem, rounds: Rounds, competitor: Competitor) -> Iterator[ConnectAnswer]:
        found, failure = competitor.found, competitor.failure
        leading: Leading | None = None
        exclusions = Exclusions(item.excluded)
        scenario = next(rounds, None)
        if scenario is None:
            return
        protocol, configs = scenario.connect_history.protocol, {}
        if found is not None:
            try:
                config = self.config.effective(scenario.config, str(scenario.place))
                protocol = spoken_protocol(found, ConnectProtocol.from_config(config[CONNECT_PROTOCOL].value))
                configs = dict(config.values_for(found.name))
            except AssignorLabError as error:
                failure = failure_of(error)
        for number in count():
            start = perf_counter_ns()
            history = scenario.connect_history
            each, rebalance = history.rounds[number], history.rebalance(number, protocol)
            outcome = ConnectOutcome(None, failure)
            refusal = exclusions.refusal(competitor.name)
            if refusal is not None:
                outcome = ConnectOutcome(None, failure_of(refusal))
            elif found is not None and failure is None:
                if leading is None or each.new_leader:
                    leading = leading_assignor(found, configs, self.isolation)
                outcome = leading.assign(rebalance)
                exclusions.note(competitor.name, outcome.loss)
                self.tell(competitor.name, rebalance, outcome)
            decision: Decision | None = None
            if outcome.assignment is not None and leading is not None:
                before = {worker.member_id: worker.owned for worker in each.workers}
                decision = _decision(rebalance, before, outcome.assignment, leading)
            yield ConnectAnswer(
                item,
                scenario,
                number,
                competitor.name,
                outcome.failure,
                size=(len(each.workers), sum(each.configured.task_counts.values())),
                rebalance=rebalance,
                assignment=outcome.assignment,
                decision=decision,
                assign_ns=outcome.assign_ns,
                other_ns=perf_counter_ns() - start - outcome.assign_ns,
            )
            try:
                scenario = rounds.send(None if decision is None else decision.after)
            except StopIteration:
                return

    def _episode(self, item: WorkItem, scenario: Scenario, competitor: Competitor) -> ConnectAnswer:
        start = perf_counter_ns()
        spent = [0]
        failure = competitor.failure
        size: tuple[int, int] | None = None
        played: Played | None = None
        if competitor.found is not None:
            try:
                episode = _led_by(read_episode(scenario), competitor.found, self._settings(competitor.found))
                size = len(episode.workers), sum(episode.connectors.values())
                played = simulate(episode, self._factory(competitor.found, spent))
            except _NoAnswerError as error:
                failure = error.failure
            except Exception as error:  # noqa: BLE001 - whatever an answer leads the simulation to is a row
                failure = failure_of(error)
        return ConnectAnswer(
            item,
            scenario,
            0,
            competitor.name,
            failure,
            size=size,
            played=played,
            assign_ns=spent[0],
            other_ns=perf_counter_ns() - start - spent[0],
        )

    def _settings(self, found: FoundConnectAssignor) -> dict[str, Any]:
        # What Kafka's keys say, each worker of an episode has been told by the episode.
        values = self.config.effective().values_for(found.name)
        return {key: value for key, value in values.items() if is_setting(key)}

    def _factory(self, found: FoundConnectAssignor, spent: list[int]) -> AssignorFactory:
        def make(protocol: ConnectProtocol) -> ConnectAssignor:
            leads = found.plugin.protocols
            if not leads or protocol.value in leads or protocol.is_incremental:
                return _Watched(found, spent, self.isolation, self.tell)
            return self.builtin(protocol)

        return make


class _NoAnswerError(Exception):
    """An assignor failed while it led a simulated group."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Watched(ConnectAssignor):
    """An assignor in a simulated group, checked and timed as everywhere else."""

    def __init__(self, found: FoundConnectAssignor, spent: list[int], isolation: Isolation | None, tell: Tell) -> None:
        self._found = found
        self._spent = spent
        self._isolation = isolation
        self._tell = tell
        self._leading = leading_assignor(found, {}, isolation)

    def configure(self, configs: Mapping[str, Any]) -> None:
        self._leading = leading_assignor(self._found, configs, self._isolation)

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        outcome = self._leading.assign(rebalance)
        self._spent[0] += outcome.assign_ns
        self._tell(self._found.name, rebalance, outcome)
        if outcome.assignment is None:
            raise _NoAnswerError(outcome.failure or Failure("InternalError", None, "neither an answer nor a failure"))
        return outcome.assignment


def _led_by(episode: ConnectEpisode, found: FoundConnectAssignor, configs: Mapping[str, Any]) -> ConnectEpisode:
    """The episode with the settings of the run; one that leads eager groups only is given an eager group."""
    eager = found.plugin.protocols == (ConnectProtocol.EAGER.value,)
    workers = {
        name: (
            attrs.evolve(
                settings,
                protocol=ConnectProtocol.EAGER if eager else settings.protocol,
                configs={**settings.configs, **configs},
            ),
            owned,
        )
        for name, (settings, owned) in episode.workers.items()
    }
    if not eager:
        return attrs.evolve(episode, workers=workers)
    events = tuple(
        attrs.evolve(event, details={**event.details, "protocol": ConnectProtocol.EAGER.value})
        if "protocol" in event.details
        else event
        for event in episode.events
    )
    return attrs.evolve(episode, workers=workers, events=events)


def rounds_until_rest(leading: Leading, rebalance: Rebalance, answer: ConnectAssignment) -> int | None:
    """Rebalances until nothing more follows from ``answer``, the one that it answers included.

    Args:
        leading: The assignor; it is not touched, a copy of it goes on.
        rebalance: What was answered.
        answer: The answer.

    Returns:
        The number, or ``None`` if the group does not come to rest or the assignor cannot go on.
    """
    if not _asks_for_another(answer):
        return 1
    try:
        going_on = leading.copied()
    except Exception:  # noqa: BLE001 - a plugin may hold what cannot be copied
        return None
    for rounds in range(2, MAX_ROUNDS + 1):
        at_once = answer.has_revocations or answer.rejoin
        after = _after(rebalance, answer)
        rebalance = attrs.evolve(
            rebalance,
            workers=[attrs.evolve(worker, owned=_reported(rebalance, after[worker.member_id]))
                     for worker in rebalance.workers],
            time_ms=rebalance.time_ms + (0 if at_once else answer.delay_ms),
            generation=rebalance.generation + 1,
            last_completed_generation=rebalance.generation,
            previous_protocol=rebalance.protocol,
        )  # fmt: skip
        following = going_on.assign(rebalance).assignment
        if following is None:
            return None
        if not _asks_for_another(following):
            return rounds
        answer = following
    return None


def _reported(rebalance: Rebalance, owned: Jobs) -> Jobs:
    return owned if rebalance.protocol.is_incremental else NO_JOBS


def _asks_for_another(answer: ConnectAssignment) -> bool:
    return answer.has_revocations or answer.rejoin or answer.delay_ms > 0


def _after(rebalance: Rebalance, answer: ConnectAssignment) -> dict[str, Jobs]:
    """Member id to what it runs then; who is told nothing goes on as before."""
    told = {worker.member_id: answer.workers.get(worker.member_id, WorkerAssignment()) for worker in rebalance.workers}
    return attrs.evolve(answer, workers=told).owned_after(rebalance)


def _decision(
    rebalance: Rebalance, before: Mapping[str, Jobs], answer: ConnectAssignment, leading: Leading
) -> Decision:
    return Decision(
        configured=rebalance.configured,
        before=before,
        after=_after(rebalance, answer),
        stops_all=not rebalance.protocol.is_incremental,
        followup=_asks_for_another(answer),
        rounds=rounds_until_rest(leading, rebalance, answer),
    )
