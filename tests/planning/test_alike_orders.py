"""Orders of alike instances, orders that grow from their beginnings, and orders of many instances."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from assignor_lab.planning.orders.aims import aims_of
from assignor_lab.planning.orders.alike import batches_in_order
from assignor_lab.planning.orders.answer import best_order
from assignor_lab.planning.orders.beginnings import grown_orders
from assignor_lab.planning.orders.members import MemberOrders
from assignor_lab.planning.orders.neighbours import slow_together
from assignor_lab.planning.orders.order import Conditions, Order
from assignor_lab.planning.orders.played import PlayedOrder
from assignor_lab.planning.orders.search import OrderSearch, search
from assignor_lab.planning.orders.words import best_sentence, proof_sentence
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predicted import Prediction, predicted
from tests.planning.ordered_groups import group_document, ordered, ordered_of_kind


def in_order(keys: Sequence[str]) -> list[tuple[tuple[int, ...], ...]]:
    """All orders in which alike instances restart in their natural order."""

    def begun(rest: tuple[int, ...]) -> list[tuple[tuple[int, ...], ...]]:
        if not rest:
            return [()]
        return [
            (batch, *others)
            for batch in batches_in_order(rest, keys)
            for others in begun(tuple(each for each in rest if each not in batch))
        ]

    return begun(tuple(range(len(keys))))


def test_instances_that_are_not_alike_have_every_batch() -> None:
    rest = (0, 2, 3)
    every = {batch for size in (1, 2, 3) for batch in combinations(rest, size)}
    assert set(batches_in_order(rest, "abcd")) == every


def test_alike_instances_restart_in_their_order() -> None:
    assert sorted(batches_in_order((0, 1, 2, 3), "aaab")) == [
        (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3), (0, 1, 3), (0, 3), (3,),
    ]  # fmt: skip


@pytest.mark.parametrize(("keys", "count"), [("abc", 13), ("aaa", 4), ("aab", 8), ("a" * 12, 2_048)])
def test_alike_instances_have_few_orders(keys: str, count: int) -> None:
    found = in_order(keys)
    assert len(found) == len(set(found)) == count


def test_instances_with_state_are_not_alike_and_those_without_are() -> None:
    assert len(set(ordered(group_document([2, 2, 2])).alike.values())) == 3
    stateless = group_document([2, 2, 1], neighbour=0)
    for task in stateless["tasks"]:
        task |= {"stateful": False, "logged": False, "stores": [], "partitions": task["partitions"][:1]}
    first, second, third = ordered({**stateless, "workload": {"tasks": {}}}).alike.values()
    assert first == second != third
    assert len(set(ordered_of_kind("connect", 3).alike.values())) == 1
    assert len(set(ordered_of_kind("consumer", 3).alike.values())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["consumer", "connect", "classic"])
def test_the_best_sizes_of_batches_are_those_of_all_orders_of_alike_instances(kind: str) -> None:
    group = ordered_of_kind(kind, 5)
    # Without plays for all orders.
    how = OrderSearch(draws=1, plays=60, tolerance=0.0)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), how)
    orders = [
        Order(tuple(tuple(group.names[each] for each in batch) for batch in batches), Conditions())
        for batches in in_order("aaaaa")
    ]
    figures = [group.trial(order, 0).figures for order in orders]
    least = min(each["duration_seconds"] for each in figures if found.aims.allows(each))
    assert found.best is not None
    assert found.best.figures["duration_seconds"] <= least
    assert found.is_proved or found.alike_bound is not None
    assert (found.bound if found.alike_bound is None else found.alike_bound) <= least


@pytest.mark.slow
def test_orders_grow_from_the_beginnings_that_keep_the_limits() -> None:
    group = ordered_of_kind("consumer", 4)
    aims = aims_of("duration_seconds", ["tasks_at_once=4"])
    begun: list[Order] = []

    def play(orders: Sequence[Order]) -> list[PlayedOrder]:
        begun.extend(orders)
        return [PlayedOrder(order, (group.trial(order, 0),)) for order in orders]

    found = list(grown_orders(group, Conditions(), aims, play))
    assert found
    assert all(sum(map(len, each.order.batches)) == 4 for each in found)
    lengths = [len(each.batches) for each in begun]
    assert lengths == sorted(lengths)


def test_slow_instances_restart_together_and_the_limit_ends_a_batch() -> None:
    group = ordered(group_document([2, 2, 2, 2], static=True))
    aims = aims_of("duration_seconds", ["tasks_at_once=4"])
    floors = [{"d1": 1.0, "d2": 9.0, "d3": 2.0, "d4": 5.0}]
    (order,) = slow_together(group, Conditions(), aims, floors)
    assert order.batches == (("d2", "d4"), ("d1", "d3"))
    (surge,) = slow_together(group, Conditions(surge=1), aims, floors)
    assert surge.batches == (("d2",), ("d4",), ("d3",), ("d1",))


@pytest.mark.slow
def test_more_instances_have_an_order_near_the_bound() -> None:
    group = ordered(group_document([1] * 16, static=True))
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=3))
    # One by one is estimated with the slowest instance of each draw, so that its worst task limits no other order.
    assert found.best is not None
    assert found.bound >= 0.95 * found.best.figures["duration_seconds"]


@pytest.mark.slow
def test_an_answer_says_that_the_best_order_of_the_search_exceeds_a_limit_in_more_plays() -> None:
    group = ordered_of_kind("consumer", 4)
    assert isinstance(group, MemberOrders)
    how = OrderSearch(draws=1, plays=80)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), how)
    assert found.best is not None
    together = Order((group.names,), Conditions())

    def predict(order: Order, plan: Plan) -> Prediction:
        # More plays of the best order are as bad as those of all members together.
        played = together if found.best is not None and order == found.best.order else order
        plays = [group.played(played, group.plan(played), number) for number in range(2)]
        return predicted(plays, [step.name for step in plan.steps])

    answer = best_order(group, found, how, predict)
    assert answer.order != found.best.order
    assert not answer.is_best_found
    assert proof_sentence(answer).startswith("The best order of the search (")
    assert "Proved" not in proof_sentence(answer)
    assert "order is better" not in best_sentence(answer)


@pytest.mark.parametrize("kind", ["classic-static", "consumer-static"])
def test_a_closed_static_consumer_keeps_its_partitions_from_others(kind: str) -> None:
    group = ordered_of_kind(kind, 30)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=1, plays=40))
    assert found.keeps_owners
    assert not found.is_estimated
    assert found.best is not None
    # Half of the partitions may be away at once: no single step restarts all.
    assert found.bound > 0.95 * found.best.figures["duration_seconds"]


def test_many_consumers_keep_the_limits_of_one_by_one_as_a_whole() -> None:
    group = ordered_of_kind("consumer", 30)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=1, plays=40))
    assert len(found.one_by_one.order.batches) == len(found.one_by_one.trials[0].step_seconds) == 30
    assert found.best is not None
    assert found.best.figures["duration_seconds"] < found.one_by_one.figures["duration_seconds"]
