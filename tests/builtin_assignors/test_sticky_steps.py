"""The fast steps against a literal version of the reference, with colliding hash codes and odd sizes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api import AssignorLabError
from builtin_assignors._sticky_steps import PreviousOwners, StickyPlacement, StickyProblem
from builtin_assignors.fallback_prior import algorithm as fallback
from builtin_assignors.legacy_sticky import algorithm as legacy
from builtin_assignors.sticky import algorithm as public
from builtin_assignors.sticky import kafka_4_3, kafka_4_4
from builtin_assignors.sticky.share import ShareRule
from tests.builtin_assignors.plain_sticky import PlainSticky, Result
from tests.builtin_assignors.sticky_problems import sticky_problem

SEEDS = st.integers(0, 2**32)


def outcome(call: Callable[[], Result]) -> Result | str | None:
    try:
        return call()
    except AssignorLabError as error:
        return error.java_type


def result_of(placement: StickyPlacement) -> Result:
    return placement.owner, [sorted(tasks) for tasks in placement.standbys]


def public_result(problem: StickyProblem, rule: ShareRule) -> Result:
    previous = PreviousOwners(problem)
    placement = public.place_actives(problem, previous, rule)
    public.place_standbys(problem, previous, placement)
    return result_of(placement)


def legacy_result(problem: StickyProblem) -> Result:
    previous = PreviousOwners(problem)
    placement = legacy.place_actives(problem, previous)
    legacy.place_standbys(problem, previous, placement)
    return result_of(placement)


@settings(deadline=None)
@given(SEEDS)
def test_public_sticky_is_its_literal_play(seed: int) -> None:
    problem = sticky_problem(seed)
    for rule in (kafka_4_3.RULE, kafka_4_4.RULE):
        literal = outcome(PlainSticky(problem, public=True, rounds_up=rule is kafka_4_4.RULE).run)
        assert outcome(partial(public_result, problem, rule)) == literal


@settings(deadline=None)
@given(SEEDS)
def test_legacy_sticky_is_its_literal_play(seed: int) -> None:
    problem = sticky_problem(seed)
    literal = outcome(PlainSticky(problem, public=False).run)
    assert outcome(lambda: legacy_result(problem)) == literal


@settings(deadline=None)
@given(SEEDS)
def test_fallback_prior_is_its_literal_play(seed: int) -> None:
    problem = sticky_problem(seed)
    literal = outcome(PlainSticky(problem, public=False, preserve=True).run)
    assert outcome(lambda: result_of(fallback.place_all(problem))) == literal


@settings(deadline=None)
@given(SEEDS)
def test_tasks_that_an_optimiser_brought_together_have_not_met(seed: int) -> None:
    problem = sticky_problem(seed)
    dice = random.Random(seed)
    clients = len(problem.capacities)
    moves = [(task, dice.randrange(clients)) for task in problem.tasks if dice.random() < 0.3]

    def quick() -> Result:
        previous = PreviousOwners(problem)
        placement = legacy.place_actives(problem, previous)
        placement.replace_active(moves)
        legacy.place_standbys(problem, previous, placement)
        return result_of(placement)

    def literal() -> Result:
        play = PlainSticky(problem, public=False)
        play.place_actives()
        play.move_actives(moves)
        play.place_standbys()
        return play.result()

    assert outcome(quick) == outcome(literal)
