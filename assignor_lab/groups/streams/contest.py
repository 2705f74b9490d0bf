"""One scenario or history put to all assignors. Pure: no Spark, no files; the unit that executors work on.

In a single state all assignors see the same input. In a history they meet the same events, and each goes on from its
own previous answer; the first round is the same state for all. After a failure everybody keeps what it had, as in a
group whose rebalance failed, and the history goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter_ns
from typing import Any

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignorLabError,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskId,
)
from assignment_api.plugins import History, ScenarioFamily
from assignment_api.plugins.selection import ConfigSources, EffectiveConfig
from assignor_lab.groups.streams.isolation import Asked, ask
from assignor_lab.groups.work import NO_CONFIG, WorkItem
from assignor_lab.runtime.invocation import Failure, Outcome, failure_of
from assignor_lab.runtime.isolation.exclusion import Exclusions
from assignor_lab.scenarios import Place, Scenario, SimilarDocuments

__all__ = ["OBSERVED", "Answer", "Competitor", "Contest", "observed_assignment"]

#: Name under which Kafka's own decision is filed; no plugin may take it.
OBSERVED = "kafka"


@attrs.frozen(eq=False)
class Answer:
    """What one assignor made of one state.

    Args:
        item: The work item.
        round: Round of the history; 0 for a single state.
        assignor: Name of the assignor, or ``OBSERVED``.
        scenario: The state, or ``None`` where it could not be made.
        application: The same as the SPI sees it, or ``None`` where Kafka would refuse it.
        outcome: What came of the call.
        followup: Whether a follow-up rebalance is asked for; ``None`` = unknown, or there is no answer.
        build_ns: Time that making the state took, shared among those who answered the same one.
        asked: Who was asked, or ``None`` where nobody was.
        configs: The configuration that it was given.
    """

    item: WorkItem
    round: int
    assignor: str
    scenario: Scenario | None
    application: ApplicationMetadata | None
    outcome: Outcome
    followup: bool | None
    build_ns: int
    asked: Asked | None = None
    configs: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen(eq=False)
class _Built:
    """A state, or why there is none."""

    scenario: Scenario | None
    application: ApplicationMetadata | None
    config: EffectiveConfig | None
    failure: Failure | None
    build_ns: int


@attrs.frozen
class Competitor:
    """One assignor of a contest.

    Args:
        assignor: Who is asked, and under whose name the answer is filed.
        without_lags: Who is asked where the end offsets could not be fetched; ``None``: the same.
    """

    assignor: Asked
    without_lags: Asked | None = None

    @property
    def name(self) -> str:
        """Name under which the answers are filed."""
        return self.assignor.name

    def asked_about(self, application: ApplicationMetadata) -> Asked:
        """Who really answers: Kafka's leader replaces some assignors where it knows no lags (reference 6.3)."""
        if self.without_lags is None or all(
            client.has_lags() for client in application.streams_client_states().values()
        ):
            return self.assignor
        return self.without_lags


@attrs.frozen
class Contest:
    """The assignors of a run, and the configuration around each scenario's own.

    Args:
        assignors: Who competes.
        families: Name to family, for items that are histories.
        config: Configuration below and above a scenario's own.
        observed: Yield what Kafka really decided, too, where it is known.
    """

    assignors: Sequence[Competitor]
    families: Mapping[str, ScenarioFamily]
    config: ConfigSources = NO_CONFIG
    observed: bool = True
    #: Configuration above a scenario's own, in the types of the keys.
    _explicit: Mapping[str, Any] = attrs.field(init=False)

    @_explicit.default
    def _explicit_values(self) -> Mapping[str, Any]:
        return self.config.explicit_values()

    def answers(self, item: WorkItem) -> Iterator[Answer]:
        """Every answer to ``item``: by round, then in the order of the assignors, Kafka's own decision last.

        There is an answer for each round and assignor, whatever fails; only ``KeyboardInterrupt`` passes.
        """
        exclusions = Exclusions(item.excluded)
        if item.family is None:
            yield from self._single_state(item, exclusions)
        else:
            yield from self._history(item, self.families[item.family], exclusions)

    def _single_state(self, item: WorkItem, exclusions: Exclusions) -> Iterator[Answer]:
        place = Place(item.file or "-", item.line)
        document = partial(json.loads, item.document or "null")
        built = self._built(document, place)
        for assignor in self.assignors:
            answer = self._asked(item, 0, assignor, built, exclusions)
            yield answer
            if answer.outcome.input_mutated:
                built = self._built(document, place)
        if self.observed and built.scenario is not None and built.scenario.observed is not None:
            yield _observed(item, built, built.scenario.observed)

    def _history(self, item: WorkItem, family: ScenarioFamily, exclusions: Exclusions) -> Iterator[Answer]:
        seed = item.seed or 0
        histories: list[History[TaskAssignment] | None] = [None] * len(self.assignors)
        previous: list[TaskAssignment | None] = [None] * len(self.assignors)
        place = Place(f"family {family.name}, seed {seed}")
        documents = SimilarDocuments()
        for number in range(family.rounds):
            first: _Built | None = None
            for index, assignor in enumerate(self.assignors):

                def document(index: int = index, number: int = number) -> Any:
                    history = histories[index] = histories[index] or family.history(seed)
                    return history.round(number, previous[index])

                built = self._built(document, place, documents, None if number else first)
                answer = self._asked(item, number, assignor, built, exclusions)
                yield answer
                # The first round is the same for all, so it is read once, and again only if somebody changed it.
                first = built
                if answer.outcome.input_mutated:
                    first, documents = None, SimilarDocuments()
                previous[index] = answer.outcome.assignment

    def _built(
        self,
        document: Callable[[], Any],
        place: Place,
        documents: SimilarDocuments | None = None,
        known: _Built | None = None,
    ) -> _Built:
        """The state in a document; ``known`` if that is what an equal document was already made to."""
        start = perf_counter_ns()
        scenario: Scenario | None = None
        try:
            found = document()
            if known is not None:
                return attrs.evolve(known, build_ns=perf_counter_ns() - start)
            scenario = (documents or SimilarDocuments()).scenario(found, place)
            application = scenario.application_with(self._explicit)
            config = self.config.effective(scenario.config, str(place))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a family is a plugin and may raise anything
            return _Built(scenario, None, None, failure_of(error), perf_counter_ns() - start)
        return _Built(scenario, application, config, None, perf_counter_ns() - start)

    def _asked(
        self, item: WorkItem, number: int, competitor: Competitor, built: _Built, exclusions: Exclusions
    ) -> Answer:
        asked: Asked | None = None
        configs: Mapping[str, Any] = {}
        if built.application is None or built.config is None:
            outcome = Outcome(None, built.failure)
        else:
            asked = competitor.asked_about(built.application)
            refusal = exclusions.refusal(asked.name)
            if refusal is None:
                configs = built.config.values_for(asked.name)
                outcome = ask(asked, built.application, configs, strict=True)
                exclusions.note(asked.name, outcome.loss)
            else:
                outcome = Outcome(None, failure_of(refusal), loss=refusal)
        followup = None if outcome.assignment is None else outcome.followup
        return Answer(
            item,
            number,
            competitor.name,
            built.scenario,
            built.application,
            outcome,
            followup,
            built.build_ns,
            asked,
            configs,
        )


def _observed(item: WorkItem, built: _Built, observed: Mapping[str, Any]) -> Answer:
    failure: Failure | None = built.failure
    assignment: TaskAssignment | None = None
    if built.application is not None:
        try:
            assignment = observed_assignment(observed)
        except AssignorLabError as error:
            failure = failure_of(error)
    followup = observed.get("followup") if assignment is not None else None
    return Answer(
        item, 0, OBSERVED, built.scenario, built.application, Outcome(assignment, failure), followup, built.build_ns
    )


def observed_assignment(observed: Mapping[str, Any]) -> TaskAssignment:
    """The assignment in the ``observed`` entry of a scenario."""
    return TaskAssignment(
        tuple(
            StreamsClientAssignment(
                ProcessID.parse(process),
                (
                    *(AssignedTask.active(TaskId.parse(task)) for task in tasks["active"]),
                    *(AssignedTask.standby(TaskId.parse(task)) for task in tasks["standby"]),
                ),
            )
            for process, tasks in observed["assignment"].items()
        )
    )
