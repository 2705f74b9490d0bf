"""``assignor plan`` for groups whose members keep no state: workers of Connect, and consumers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from assignment_api import AssignorLabError
from assignment_api.releases import RELEASE_KEY
from assignor_lab.groups.deciding_release import release_sentence
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.variants import variants_of
from assignor_lab.kafka.coordinator.session_timeout import allowed_session
from assignor_lab.opened.reading import ReadGroup
from assignor_lab.planning.connect_intervals import connect_calibrated, shipped_connect_widenings
from assignor_lab.planning.connect_plan import (
    ConnectContender,
    connect_plan,
    given_connect_variant,
    played_connect_plan,
    usual_connect_variants,
)
from assignor_lab.planning.connect_state import connect_state
from assignor_lab.planning.consumer_plan import (
    ConsumerContender,
    consumer_plan,
    given_consumer_variant,
    played_consumer_plan,
    usual_consumer_variants,
)
from assignor_lab.planning.consumer_state import consumer_state
from assignor_lab.planning.intervals import adjusted_by_past
from assignor_lab.planning.making import Options
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.naive import Naive
from assignor_lab.planning.past_record import PastRecord
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predicted import Prediction
from assignor_lab.planning.words import Answer
from assignor_lab.simulation.consumer.consumers import CLASSIC
from assignor_lab.verification.decisions import recorded_assignor

__all__ = ["connect_answer", "consumer_answer"]

_DRAWS = "they hold the draws of the leader, of member ids, and of"
_UNCALIBRATED_CONSUMERS = (
    f"no recorded change of a consumer group corrects these intervals: {_DRAWS} heartbeats, polls and starts"
)
#: Predicts a plan from the play of each number.
Predict = Callable[[Callable[[int], PlayedPlan], Plan], Prediction]


class _Named(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def plan(self) -> Plan: ...


C = TypeVar("C", bound=_Named)


def connect_answer(
    source: str,
    read: ReadGroup,
    plan_name: str,
    subject: str | None,
    options: Options,
    texts: Sequence[str] | None,
    seed: int,
    predict: Predict,
    past: PastRecord | None = None,
) -> Answer:
    """The answer to a plan of a Connect group.

    Args:
        texts: Variants of the command line; empty: the usual ones; ``None``: none.
        past: The group's own past changes, which widen or narrow the intervals.

    Raises:
        AssignorLabError: a subclass, if the options contradict the state.
    """
    state = connect_state(read.scenario, read.terms, options)
    plan = connect_plan(plan_name, subject, state, options)
    present = ConnectContender("as it is", state, plan, read.terms)
    variants: Iterable[ConnectContender] = ()
    if texts:
        variants = [given_connect_variant(each, state, plan, read.terms) for each in variants_of((), texts)]
    elif texts is not None:
        variants = usual_connect_variants(state, options, plan, read.terms, subject)

    def calibrated(work: Callable[[int], PlayedPlan], plan: Plan) -> Prediction:
        made = predict(work, plan)
        return adjusted_by_past(made, connect_calibrated(made), plan, past)

    return _answer(
        source,
        present,
        variants,
        [*state.assumptions, *allowed_session(state.episode.timings.session_timeout_ms), _ground()],
        seed,
        played_connect_plan,
        calibrated,
        _releases(read),
        past,
    )


def _ground() -> str:
    steps = sum(each.steps for each in shipped_connect_widenings().values())
    return (
        "the leader, member ids and the workers' starts are drawn; starts and stops of tasks, and the errors of the "
        f"intervals, are those of {steps} recorded steps of FileStream connectors (docs, 'Accuracy of plans')"
    )


def consumer_answer(
    source: str,
    read: ReadGroup,
    plan_name: str,
    subject: str | None,
    options: Options,
    texts: Sequence[str] | None,
    seed: int,
    predict: Predict,
    past: PastRecord | None = None,
) -> Answer:
    """The answer to a plan of a consumer group; arguments and errors as for :func:`connect_answer`."""
    state = consumer_state(read.scenario, read.terms, options)
    plan = consumer_plan(plan_name, subject, state, options)
    present = ConsumerContender("as it is", state, plan, read.terms)
    variants: Iterable[ConsumerContender] = ()
    if texts:
        variants = [given_consumer_variant(each, state, plan, read.terms) for each in variants_of((), texts)]
    elif texts is not None:
        variants = usual_consumer_variants(state, options, plan, read.terms)
    is_corrected = past is not None and bool(past.changes)
    is_classic = state.protocol == CLASSIC
    sessions = allowed_session(state.episode.timings.session_timeout_ms) if is_classic else []
    assumptions = [
        *state.assumptions,
        *plan.assumptions,
        *sessions,
        *([] if is_corrected else [_UNCALIBRATED_CONSUMERS]),
    ]

    def calibrated(work: Callable[[int], PlayedPlan], plan: Plan) -> Prediction:
        made = predict(work, plan)
        return adjusted_by_past(made, made, plan, past)

    return _answer(
        source, present, variants, assumptions, seed, played_consumer_plan, calibrated, _releases(read), past
    )


def _releases(read: ReadGroup) -> list[str]:
    """The sentence on the release of the assignor's answers; empty for an assignor of a plugin."""
    scenario, terms = read.scenario, read.terms
    name = terms.assignor or recorded_assignor(scenario)
    found = kind_named(scenario.kind).find(terms.registry, name, may_run_code=True)
    config = terms.sources.effective(scenario.config, str(scenario.place))
    sentence = release_sentence(found.name, found, config)
    held = config.entries.get(RELEASE_KEY)
    if sentence is None and held is not None and held.origin.layer.is_explicit:
        sentence = f"{found.name}: no own answers of Kafka {held.value} are known, so --release changes nothing here"
    return [] if sentence is None else [sentence]


def _answer(
    source: str,
    present: C,
    variants: Iterable[C],
    assumptions: Sequence[str],
    seed: int,
    played: Callable[[C, str], PlayedPlan],
    predict: Predict,
    releases: Sequence[str],
    past: PastRecord | None,
) -> Answer:
    chosen = list(variants)
    prediction = predict(partial(_play, played, present, seed), present.plan)
    found: dict[str, Prediction | str] = {}
    for each in chosen:
        try:
            found[each.name] = predict(partial(_play, played, each, seed), each.plan)
        except AssignorLabError as error:
            found[each.name] = str(error)
    plays = len(prediction.plays)
    return Answer(source, present.plan, plays, seed, prediction, Naive(None, None), found, assumptions, releases, past)


def _play(played: Callable[[C, str], PlayedPlan], variant: C, seed: int, number: int) -> PlayedPlan:
    return played(variant, f"{seed}-{number}")
