"""Explanations of the moves that a report shows: the third step of a run, with a bounded number of further calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from time import perf_counter

import attrs

from assignment_api import AssignorLabError
from assignor_lab.documents.wording import figure, plural
from assignor_lab.explain import Budget, Explained, ExplainError, Explanation, explain, question_of, words
from assignor_lab.groups.variants import overridden
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.explanations import ExplainedRule, Explanations, MoveExplained, MovesLeftOut, UnavoidableMoves
from assignor_lab.model.pictures import ClientTasks, SnapshotPlacement
from assignor_lab.model.run_summary import Results
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.plugins import Isolation
from assignor_lab.scenarios import Scenario
from assignor_lab.scoring.contenders import ScoredContender
from assignor_lab.scoring.terms import ScoringRun

__all__ = ["Bounds", "explanations_of"]


@attrs.frozen
class Bounds:
    """Limits for explaining the pictures of a run.

    Args:
        calls: Calls with one change, for one move.
        seconds: Seconds for all of them together.
        each: Most explained moves for one answer to one state.
        moves: Most explained moves of all answers together.
    """

    calls: int = 60
    seconds: float = 5.0
    each: int = 100
    moves: int = 1_000


#: Enough for each decision of a day, and short compared with the start of Spark.
BOUNDS = Bounds()


def explanations_of(run: ScoringRun, results: Results, bounds: Bounds = BOUNDS) -> Explanations:
    """Why each task moves in the pictures of recorded states and files.

    Generated histories are not explained: their tasks mean nothing to the user, and there may be thousands.

    Args:
        bounds: Limits; answers left out because of them are listed.
    """
    wanted = _wanted(run, results.placements)
    policy = run.config.effective()
    isolation = Isolation(Limits.of(policy), policy.policy())
    try:
        explaining = _Explaining(run, bounds, isolation)
        # All moves of the first contender come before the second one's.
        for contender in run.competing.assignors:
            for picture, scenario in wanted:
                explaining.explain(contender, picture, scenario)
    finally:
        isolation.close()
    return Explanations(
        tuple(explaining.found), tuple(explaining.left_out), explaining.rules, tuple(explaining.unavoidable)
    )


class _Explaining:
    def __init__(self, run: ScoringRun, bounds: Bounds, isolation: Isolation) -> None:
        self._run = run
        self._bounds = bounds
        self._isolation = isolation
        self._end = perf_counter() + bounds.seconds
        self.found: list[MoveExplained] = []
        self.left_out: list[MovesLeftOut] = []
        self.rules: dict[str, str] = {}
        self.unavoidable: list[UnavoidableMoves] = []

    def explain(self, contender: ScoredContender, picture: SnapshotPlacement, scenario: Scenario | None) -> None:
        moved = _moved(picture, contender.name)
        if not moved:
            return
        place = _AnswerPlace(picture.scenario, picture.round, contender.name)
        try:
            found = list(self._explained(contender, place, scenario, moved))
            why = "a second call of this assignor decided otherwise"
        except AssignorLabError as error:
            found, why = [], str(error)
        if len(moved) > self._bounds.each and len(found) == self._bounds.each:
            why = f"of one answer {self._bounds.each} are"
        self.found += found
        if len(found) < len(moved):
            self.left_out.append(
                MovesLeftOut(place.scenario, place.round, place.assignor, len(moved) - len(found), why)
            )

    def _explained(
        self,
        contender: ScoredContender,
        place: _AnswerPlace,
        scenario: Scenario | None,
        moved: Mapping[str, str | None],
    ) -> Iterator[MoveExplained]:
        if scenario is None:
            raise ExplainError("several states of the run have its id")
        if perf_counter() >= self._end:
            raise ExplainError(f"the {figure(self._bounds.seconds)} s for explanations were over")
        if len(self.found) >= self._bounds.moves:
            raise ExplainError(f"{plural(self._bounds.moves, 'move')} were explained already")
        run, variant = self._run, contender.variant
        sources = overridden(run.config, variant.overrides) if variant.overrides else run.config
        question = question_of(scenario, place.round, variant.assignor, run.registry, sources, self._isolation)
        only = frozenset(islice(moved, self._bounds.each))
        explained = explain(question, None, None, self._budget, only)
        unavoidable = words.gap_sentence(explained)
        if unavoidable is not None and set(moved) == set(explained.moved):
            self.unavoidable.append(UnavoidableMoves(place.scenario, place.round, place.assignor, unavoidable))
        for each in explained.explanations:
            # Only drawn moves are explained, because others are not shown.
            if moved[each.task] == each.after:
                applied = {step.rule for step in each.steps}
                self.rules |= {rule: text for rule, text in explained.rules.items() if rule in applied}
                yield _move(explained, each, place)

    def _budget(self) -> Budget:
        return Budget(self._bounds.calls, self._end - perf_counter())


@attrs.frozen
class _AnswerPlace:
    scenario: str
    round: int
    assignor: str


def _wanted(run: ScoringRun, pictures: Iterable[SnapshotPlacement]) -> list[tuple[SnapshotPlacement, Scenario | None]]:
    """Each picture of a state that was read, with the state; ``None`` if several have its id."""
    shown = list(pictures)
    if not shown or all(source.generated is not None for source in run.plan.sources):
        return []
    ids = {picture.scenario for picture in shown}
    states: dict[str, Scenario] = {}
    seen: Counter[str] = Counter()
    for scenario in run.plan.scenarios():
        if scenario.id in ids:
            seen[scenario.id] += 1
            states[scenario.id] = scenario
    return [
        (picture, states[picture.scenario] if seen[picture.scenario] == 1 else None)
        for picture in shown
        if seen[picture.scenario]
    ]


def _moved(picture: SnapshotPlacement, assignor: str) -> dict[str, str | None]:
    answers = {each.assignor: each for each in picture.after}
    answer = drawn = answers.get(assignor)
    if answer is not None and answer.not_comparable:
        # It is not drawn, but may explain Kafka's decision.
        drawn = answers.get(OBSERVED)
    if drawn is None or drawn.assignment is None:
        return {}
    before, after = _owners(picture.before), _owners(drawn.assignment)
    return {task: after[task] for task, owner in before.items() if after.get(task, owner) != owner}


def _owners(held: Mapping[str, ClientTasks]) -> dict[str, str]:
    return {task: client for client, tasks in held.items() for task in tasks.active}


def _move(explained: Explained, each: Explanation, place: _AnswerPlace) -> MoveExplained:
    stand_in = words.stand_in_sentence(explained)
    return MoveExplained(
        scenario=place.scenario,
        round=place.round,
        assignor=place.assignor,
        task=each.task,
        to=each.after,
        facts=tuple(" · ".join(part for part in row if part) for row in words.client_rows(each)),
        rules=tuple(ExplainedRule(rule, sentence) for rule, sentence in words.step_sentences(explained, each)),
        would=tuple(words.counterfactual_sentences(explained, each)),
        remarks=() if stand_in is None else (stand_in,),
        tried=words.tried_sentence(each),
    )
