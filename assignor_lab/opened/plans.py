"""The answer to a plan of an opened group of any kind, with its variants and the record of its past."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import attrs

from assignment_api import AssignorLabError
from assignor_lab.documents.option_values import processes_value, seed_value, whole_value
from assignor_lab.documents.wording import plural
from assignor_lab.groups.variants import variants_of
from assignor_lab.kafka.coordinator.session_timeout import allowed_session
from assignor_lab.opened.loops import played_loop, recorded_loop
from assignor_lab.opened.member_answers import connect_answer, consumer_answer
from assignor_lab.opened.past import past_of_group
from assignor_lab.opened.reading import ReadGroup
from assignor_lab.planning.consumer_state import is_consumer_state
from assignor_lab.planning.instances import with_names
from assignor_lab.planning.making import (
    Options,
    PlanError,
    broker_roll_plan,
    check_options,
    kill_plan,
    roll_plan,
    scale_plan,
    upgrade_plan,
    upgrade_protocol_plan,
    with_times,
)
from assignor_lab.planning.naive import naive_estimate
from assignor_lab.planning.past.members import is_member_state
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predict import Runs, Terms, predict_from, predicted_by
from assignor_lab.planning.predicted import Prediction
from assignor_lab.planning.script import script_plan
from assignor_lab.planning.starts import options_with_starts
from assignor_lab.planning.state import PresentState
from assignor_lab.planning.variants import (
    Make,
    PlanVariant,
    as_accepted,
    differing_assumptions,
    given_variant,
    releases_of,
    usual_variants,
    without_effect,
)
from assignor_lab.planning.words import Answer
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.verified import Verification

__all__ = ["PlanEffort", "plan_answer"]

_OF_SUBJECT = {"kill": "the instance: plan SOURCE kill INSTANCE", "script": "its file: plan SOURCE script FILE"}


def _plays(given: object) -> int:
    return whole_value("--plays", given, least=1)


@attrs.frozen
class PlanEffort:
    """The plays of an answer, and their listeners.

    Args:
        processes: Processes that share the plays; 0: one for each core. Results do not depend on it.
        on_play: Called after each play.
        runs: Plays elsewhere; ``None``: in these processes.
        note: Receives a sentence on an interruption.

    Raises:
        OptionValueError: for a number outside the limits of its option.
    """

    plays: int = attrs.field(default=20, converter=_plays)
    seed: int = attrs.field(default=0, converter=seed_value)
    processes: int = attrs.field(default=1, converter=processes_value)
    on_play: Callable[[], None] = lambda: None
    runs: Runs | None = None
    note: Callable[[str], None] = lambda _: None


def plan_answer(
    source: str,
    read: ReadGroup,
    plan_name: str,
    subject: str | None,
    options: Options,
    texts: Sequence[str] | None,
    verification: Verification,
    effort: PlanEffort,
) -> Answer:
    """The cost of a plan for a group of any kind.

    Args:
        source: The group's source, as the answer names it.
        plan_name: ``roll``, ``scale``, ``kill``, ``upgrade``, ``upgrade-protocol``, ``broker-roll`` or ``script``.
        subject: The instance of ``kill``, or the file of ``script``.
        texts: Variants such as ``NAME=ASSIGNOR,KEY=VALUE``; empty: the usual ones; ``None``: none.
        verification: The group's recorded decisions, decided again.

    Raises:
        PlanError: if the plan contradicts the group, or itself.
        AssignorLabError: a subclass, if no play can begin with the group.
    """
    if is_member_state(read.scenario):
        predict = partial(
            predicted_by,
            plays=effort.plays,
            processes=effort.processes,
            on_play=lambda _: effort.on_play(),
            runs=effort.runs,
        )
        made = consumer_answer if is_consumer_state(read.scenario) else connect_answer
        past = past_of_group(source, read, verification, effort.processes, effort.seed, options)
        answer = made(source, read, plan_name, subject, options, texts, effort.seed, predict, past)
    else:
        answer = _streams_answer(source, read, plan_name, subject, options, texts, verification, effort)
    return _with_findings(answer, read.scenarios, keeps_all=bool(texts))


def _streams_answer(
    source: str,
    read: ReadGroup,
    plan_name: str,
    subject: str | None,
    options: Options,
    texts: Sequence[str] | None,
    verification: Verification,
    effort: PlanEffort,
) -> Answer:
    group = read.present()
    terms, seed = group.terms, effort.seed
    timings, are_known = group.state.episode.timings, bool(terms.timings)
    options = options_with_starts(options, lambda: read.past, timings, are_known=are_known)
    state, labelled = with_names(
        group.state, [*options.order, *options.leaving, *([subject] if subject and plan_name == "kill" else [])]
    )
    made = _made(plan_name, subject, state, options)
    make = partial(_made, plan_name, subject)
    chosen = [] if texts is None else _chosen(texts, state, options, made, terms, make)
    as_it_is, *chosen = map(as_accepted, [PlanVariant("as it is", state, made, terms), *chosen])
    past = past_of_group(source, read, verification, effort.processes, seed, options)
    predict = partial(
        predict_from,
        plays=effort.plays,
        seed=seed,
        processes=effort.processes,
        on_play=lambda _: effort.on_play(),
        runs=effort.runs,
        past=past,
    )
    found = dict(_predicted([as_it_is, *chosen], predict, effort))
    prediction = found.pop(as_it_is.name)
    if isinstance(prediction, str):
        raise PlanError(prediction)
    return Answer(
        source,
        made,
        len(prediction.plays),
        seed,
        prediction,
        naive_estimate(state, made),
        found,
        [
            *labelled,
            *made.assumptions,
            *_named_assignor(terms),
            *(allowed_session(as_it_is.state.episode.timings.session_timeout_ms) if state.is_classic else ()),
            *as_it_is.state.episode.assumptions,
            *differing_assumptions(as_it_is, chosen),
        ],
        releases_of(as_it_is),
        past,
        None if prediction.rest_seconds is not None else played_loop(as_it_is.state, as_it_is.plan, terms, seed),
    )


def _with_findings(answer: Answer, scenarios: Iterable[Scenario], *, keeps_all: bool) -> Answer:
    """With the loop in which the past ends, and without usual variants that change nothing."""
    answer = attrs.evolve(answer, restless=recorded_loop(scenarios) or answer.restless)
    if keeps_all or not (left_out := without_effect(answer.prediction, answer.variants)):
        return answer
    kept = {name: each for name, each in answer.variants.items() if name not in left_out}
    words = tuple(f"{name}: " for name in left_out)
    assumed = [each for each in answer.assumptions if not each.startswith(words)]
    return attrs.evolve(answer, variants=kept, without_effect=left_out, assumptions=assumed)


def _chosen(
    texts: Sequence[str], state: PresentState, options: Options, plan: Plan, terms: Terms, make: Make
) -> list[PlanVariant]:
    if texts:
        return [given_variant(each, state, options, terms, make) for each in variants_of((), texts)]
    return list(usual_variants(state, options, plan, terms, make))


def _predicted(
    variants: Sequence[PlanVariant], predict: Callable[[PresentState, Plan, Terms], Prediction], effort: PlanEffort
) -> Iterator[tuple[str, Prediction | str]]:
    """Name to the prediction of each variant, or to the reason against its play; Ctrl-C ends them."""
    for each in variants:
        try:
            made = predict(each.state, each.plan, each.terms)
        except KeyboardInterrupt:
            if each is variants[0]:
                raise
            effort.note(f"interrupted before {each.name}: the results so far follow")
            return
        except AssignorLabError as error:
            yield each.name, str(error)
        else:
            yield each.name, made
            if made.is_interrupted:
                done = f"{len(made.plays)} of {effort.plays} plays of {each.name}"
                effort.note(f"interrupted after {done}: the results so far follow")
                return


def _named_assignor(terms: Terms) -> list[str]:
    """A sentence on the assignor of all plays, if the command named one."""
    if terms.assignor is None:
        return []
    return [f"{terms.assignor} decides in every play (--assignor), whatever the group runs: 'as it is' means the rest"]


def _made(name: str, subject: str | None, state: PresentState, options: Options) -> Plan:
    if (subject is None) == (name in _OF_SUBJECT):
        message = f"{name} takes no {subject!r}" if subject is not None else f"{name} needs {_OF_SUBJECT[name]}"
        raise PlanError(message)
    check_options(name, options)
    made = with_times(_plan(name, subject, state, options), options)
    waits_ms = sum(
        each for step in made.steps if isinstance(each := made.wait if step.wait is None else step.wait, int)
    )
    if waits_ms >= state.episode.until_ms:
        raise PlanError(
            f"the waits of {plural(len(made.steps), 'step')} last {waits_ms / 1000:,.0f} s together, and a play ends "
            f"after {state.episode.until_ms / 1000:,.0f} s: give a shorter --wait"
        )
    return made


def _plan(name: str, subject: str | None, state: PresentState, options: Options) -> Plan:
    if name == "script" and subject is not None:
        return script_plan(state, Path(subject), options)
    if name == "kill" and subject is not None:
        return kill_plan(state, subject, options)
    plans = {
        "roll": roll_plan, "upgrade": upgrade_plan, "scale": scale_plan, "upgrade-protocol": upgrade_protocol_plan,
        "broker-roll": broker_roll_plan,
    }  # fmt: skip
    return plans[name](state, options)
