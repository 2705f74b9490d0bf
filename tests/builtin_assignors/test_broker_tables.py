"""Lazy tables of the coordinator's assignors beside the exact ones, step by step."""

from __future__ import annotations

from random import Random

import pytest

from assignment_api.java import JavaHashTable
from builtin_assignors._broker_consumer_steps import IntegerSet, MemberTarget, TopicKeys

SEEDS = range(60)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_set_of_integers_has_javas_order(seed: int) -> None:
    chance = Random(seed)
    step = chance.choice((1, 1, 7, 16, 64))
    most = chance.choice((8, 20, 200))
    slots = chance.choice((1, 16, 16, 64))
    lazy = IntegerSet(slots)
    exact: JavaHashTable[int, None] = JavaHashTable(int, initial_capacity=slots)
    for _ in range(chance.choice((5, 30, 300))):
        number = step * chance.randrange(most)
        if chance.random() < chance.choice((0.0, 0.3)):
            lazy.remove(number)
            exact.remove(number)
        else:
            lazy.add_all((number,))
            exact.put(number, None)
        assert lazy.in_order() == list(exact)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_target_has_its_topics_in_javas_order(seed: int) -> None:
    chance = Random(seed)
    count = chance.choice((3, 12, 40))
    # Some topics share a slot, some a hash code.
    hashes = [chance.choice((chance.getrandbits(31), 64 * chance.randrange(50), 5)) for _ in range(count)]
    keys = TopicKeys(hashes, [(number, 0) for number in range(count)])
    previous = [(topic, (0, 1)) for topic in chance.sample(range(count), chance.randrange(count + 1))]
    lazy = MemberTarget(previous, keys)
    exact: JavaHashTable[int, set[int]] = JavaHashTable(hashes.__getitem__, keys.sort_keys.__getitem__, len(previous))
    for topic, partitions in previous:
        exact.put(topic, set(partitions))
    for number in range(chance.choice((4, 60))):
        topic = chance.randrange(count)
        if chance.random() < 0.25:
            lazy.drop(topic)
            exact.remove(topic)
        else:
            added = tuple(range(2 + number, 3 + number + chance.randrange(3)))
            lazy.add(topic, added)
            for partition in added:
                exact.compute_if_absent(topic, set())
                exact[topic].add(partition)
        assert [topic for topic, _ in lazy.in_order()] == list(exact)
        assert all(set(partitions) == exact[topic] for topic, partitions in lazy.in_order())
