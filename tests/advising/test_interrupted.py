"""Ctrl-C in a race, and in its judgement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from assignor_lab.advising.advice import Advice, Effort, advise
from assignor_lab.advising.choice import AimError, Aims, Limit
from assignor_lab.advising.configurations import MEMBERS, STATIC
from assignor_lab.advising.figures import OBJECTIVES, DayCost
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.advising.race import Play
from assignor_lab.advising.space import space_of
from assignor_lab.advising.streams_group import AdvisedStreamsGroup
from assignor_lab.advising.words import advice_document, the_answer, warnings
from tests.advising.groups import recorded_group

EFFORT = Effort(configurations=8, days=4)


class Played:
    """Static members halve the downtime; Ctrl-C comes after some plays."""

    def __init__(self, most: int) -> None:
        self.left = most

    def __call__(self, plays: Sequence[Play]) -> Iterator[DayCost]:
        for each, day in plays:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            seconds = 10.0 + day % 2 - 5.0 * (each[MEMBERS] == STATIC)
            kinds = dict.fromkeys(DEFAULT_MIX.per_day, seconds)
            yield DayCost({**dict.fromkeys(OBJECTIVES, 1.0), "task_seconds": seconds}, kinds, {})


def advised(most: int, aims: Aims | None = None) -> Advice:
    group = recorded_group("P1")
    return advise(
        AdvisedStreamsGroup(group), DEFAULT_MIX, space_of(group, DEFAULT_MIX), aims or Aims(), EFFORT, Played(most)
    )


def plays_of_race() -> int:
    made = advised(100_000)
    return sum(len(each.days) for each in made.race.contenders)


def test_an_interrupted_race_gives_the_best_configuration_so_far() -> None:
    made = advised(14)
    assert made.is_interrupted
    assert made.race.days == 2
    assert made.changes == {MEMBERS: STATIC}
    assert made.front
    assert the_answer(made).startswith("Static members: ")
    assert "no unseen day judges them" in warnings(made)[0]
    assert advice_document(made, "source", "group", None, [])["interrupted"] is True


@pytest.mark.parametrize("most", [0, 1, 8])
def test_an_interruption_before_two_days_has_no_result(most: int) -> None:
    with pytest.raises(KeyboardInterrupt):
        advised(most)


@pytest.mark.parametrize(("judged", "days"), [(3, None), (4, 2), (5, 2)])
def test_an_interrupted_judgement_counts_from_two_days_of_both(judged: int, days: int | None) -> None:
    made = advised(plays_of_race() + judged)
    assert made.is_interrupted
    assert made.is_judged == (days is not None)
    assert len(made.winner.days) == (days or EFFORT.days)
    assert made.changes == {MEMBERS: STATIC}


def test_without_an_interruption_there_is_no_warning() -> None:
    made = advised(100_000)
    assert (made.is_interrupted, warnings(made)) == (False, [])


def test_constraints_that_no_configuration_meets_are_refused() -> None:
    with pytest.raises(AimError, match="no configuration meets the constraints"):
        advised(100_000, Aims(limits=(Limit("rebalances", 0.5),)))
