"""``assignor plan`` for the workers of a Connect group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from assignment_api import AssignorLabError
from assignor_lab.cli.present_group import ReadGroup
from assignor_lab.groups.variants import variants_of
from assignor_lab.planning.connect_plan import (
    ConnectContender,
    connect_plan,
    given_connect_variant,
    played_connect_plan,
    usual_connect_variants,
)
from assignor_lab.planning.connect_state import connect_state
from assignor_lab.planning.making import Options
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.naive import Naive
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predicted import Prediction
from assignor_lab.planning.words import Answer

__all__ = ["connect_answer"]

_UNCALIBRATED = (
    "no recorded change of a Connect group corrects these intervals: they hold the draws of the leader, of member ids, "
    "and of the workers' starts"
)


def connect_answer(
    source: str,
    read: ReadGroup,
    plan_name: str,
    subject: str | None,
    options: Options,
    texts: Sequence[str] | None,
    seed: int,
    predict: Callable[[Callable[[int], PlayedPlan], Plan], Prediction],
) -> Answer:
    """The answer to a plan of a Connect group.

    Args:
        texts: Variants of the command line; empty: the usual ones; ``None``: none.
        predict: Predicts a plan from the play of each number.

    Raises:
        AssignorLabError: a subclass, if the options contradict the state.
    """
    state = connect_state(read.scenario, read.terms, options)
    plan = connect_plan(plan_name, subject, state, options)
    present = ConnectContender("as it is", state, plan, read.terms)
    variants: list[ConnectContender] = []
    if texts:
        variants = [given_connect_variant(each, state, plan, read.terms) for each in variants_of((), texts)]
    elif texts is not None:
        variants = list(usual_connect_variants(state, options, plan, read.terms, subject))
    prediction = predict(_work(present, seed), plan)
    found: dict[str, Prediction | str] = {}
    for each in variants:
        try:
            found[each.name] = predict(_work(each, seed), each.plan)
        except AssignorLabError as error:
            found[each.name] = str(error)
    plays, nothing = len(prediction.plays), Naive(None, None)
    return Answer(source, plan, plays, seed, prediction, nothing, found, [*state.assumptions, _UNCALIBRATED])


def _work(variant: ConnectContender, seed: int) -> Callable[[int], PlayedPlan]:
    return partial(_play, variant, seed)


def _play(variant: ConnectContender, seed: int, number: int) -> PlayedPlan:
    return played_connect_plan(variant, f"{seed}-{number}")
