"""Loops of plain consumer groups."""

from __future__ import annotations

import attrs
import pytest

from assignor_lab.model.history import PARTITIONS
from assignor_lab.watching.findings import unusual_rebalances
from assignor_lab.watching.known_loops import named_loop
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import WatchedGroup
from tests.watching.groups import past, rebalance


def looping(assignor: str) -> WatchedGroup:
    """200 rebalances in ten minutes: a partition goes from one member to the other and back."""
    rounds = [
        rebalance(
            3 * number,
            {"a-0": "c1"} | ({"a-1": "c1" if number % 4 == 1 else "c2"} if number % 2 else {}),
            unowned=() if number % 2 else ("a-1",),
            since_s=3,
            assignor=assignor,
        )
        for number in range(200)
    ]
    return attrs.evolve(past(*rounds), moves=PARTITIONS)


def test_the_loop_of_cooperative_sticky_has_its_ticket_and_a_remedy() -> None:
    group = looping("cooperative-sticky")
    assert named_loop(group, group.rebalances) == "KAFKA-15106"
    found = unusual_rebalances(group, WatchLimits())
    assert any(each.known == "KAFKA-15106" for each in found)


@pytest.mark.parametrize("assignor", ["sticky", "range"])
def test_the_loop_of_another_strategy_of_consumers_is_no_loop_of_streams(assignor: str) -> None:
    group = looping(assignor)
    assert named_loop(group, group.rebalances) is None
