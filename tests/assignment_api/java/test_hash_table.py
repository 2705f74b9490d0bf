from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api.java import (
    JavaHashTable,
    JdkGeneration,
    grown_capacity,
    iteration_order,
    iteration_order_in_set_copy,
    iteration_order_of_computed,
    iteration_order_of_set_copy,
    spread,
    stays_plain,
    table_size_for,
    task_id_hash,
)

JAVA = Path(__file__).parents[2] / "data" / "java"
#: Hash codes that sometimes collide in slots.
CODES = st.one_of(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 5).map(lambda n: n * 4096),
    st.integers(0, 400).map(lambda n: 29791 + 31 * n),
)


def recorded(name: str = "hash_tables") -> list[dict[str, Any]]:
    with gzip.open(JAVA / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def replayed(row: dict[str, Any], jdk: JdkGeneration) -> list[int]:
    hashes = row["hashes"]
    if row["table"] == "set-copy":
        return iteration_order_of_set_copy(range(len(hashes)), hashes, jdk)
    if row["table"] == "map-copy":
        return iteration_order(range(len(hashes)), hashes, jdk.map_copy_capacity(len(hashes)))
    table: JavaHashTable[int, None] = JavaHashTable(hashes.__getitem__, initial_capacity=int(row["table"]))
    for operation in row["operations"]:
        key = int(operation[1:])
        if operation[0] == "p":
            table.put(key, None)
        elif operation[0] == "r":
            table.remove(key)
        else:
            table.remove_through_iterator(key)
    return list(table)


@given(st.lists(CODES, max_size=150), st.data())
def test_some_of_a_copied_set_come_in_the_order_of_all(hashes: list[int], data: st.DataObject) -> None:
    keys = range(len(hashes))
    wanted = data.draw(st.sets(st.sampled_from(keys), max_size=12)) if hashes else set()
    whole = iteration_order_of_set_copy(keys, hashes)
    assert iteration_order_in_set_copy(keys, wanted, hashes.__getitem__) == [key for key in whole if key in wanted]


@pytest.mark.parametrize(("column", "jdk"), [("jdk17", JdkGeneration.JDK_17), ("jdk25", JdkGeneration.JDK_19)])
def test_tables_iterate_as_recorded_from_a_real_jdk(column: str, jdk: JdkGeneration) -> None:
    different = [number for number, row in enumerate(recorded()) if replayed(row, jdk) != row[column]]
    assert different == []


def test_the_recorded_tables_include_tree_bins() -> None:
    assert sum(not stays_plain(row["hashes"]) for row in recorded()) > 100


def quickly_computed(calls: list[int], hashes: list[int], capacity: int) -> list[int]:
    return iteration_order_of_computed(calls, [spread(code) for code in hashes], capacity)


def literally_computed(calls: list[int], hashes: list[int], capacity: int) -> list[int]:
    table: JavaHashTable[int, None] = JavaHashTable(hashes.__getitem__, initial_capacity=capacity)
    for key in calls:
        table.compute_if_absent(key, None)
    return list(table)


def test_computed_tables_iterate_as_recorded_from_a_real_jdk() -> None:
    rows = recorded("computed_tables")
    assert [literally_computed(row["calls"], row["hashes"], row["table"]) for row in rows] == [
        row["jdk17"] for row in rows
    ]
    assert [quickly_computed(row["calls"], row["hashes"], row["table"]) for row in rows] == [
        row["jdk17"] for row in rows
    ]


@given(st.lists(st.tuples(CODES, st.lists(st.integers(0, 119), max_size=2)), max_size=120), st.integers(0, 300))
def test_the_quick_order_of_a_computed_table_is_that_of_the_literal_one(
    keys_and_repeats: list[tuple[int, list[int]]], capacity: int
) -> None:
    hashes = [code for code, _ in keys_and_repeats]
    calls: list[int] = []
    for key, (_, repeats) in enumerate(keys_and_repeats):
        calls += [key, *(number % (key + 1) for number in repeats)]
    assert quickly_computed(calls, hashes, capacity) == literally_computed(calls, hashes, capacity)


def test_three_tasks_iterate_as_kafkas_own_test_pins() -> None:
    tasks = [(0, 0), (0, 1), (0, 2)]
    assert iteration_order(tasks, [task_id_hash(*task) for task in tasks]) == [(0, 2), (0, 1), (0, 0)]


def test_fifteen_tasks_iterate_as_in_the_reference() -> None:
    tasks = [(g, p) for g in range(3) for p in range(5)]
    order = iteration_order(tasks, [task_id_hash(*task) for task in tasks])
    assert " ".join(f"{g}_{p}" for g, p in order) == "1_0 2_1 2_0 0_4 0_3 1_4 0_2 1_3 2_4 0_1 1_2 2_3 0_0 1_1 2_2"


@given(st.lists(CODES, max_size=120), st.integers(0, 300))
def test_the_quick_order_is_the_order_of_the_literal_table(hashes: list[int], capacity: int) -> None:
    table: JavaHashTable[int, None] = JavaHashTable(hashes.__getitem__, initial_capacity=capacity)
    for key in range(len(hashes)):
        table.put(key, None)
    assert iteration_order(range(len(hashes)), hashes, capacity) == list(table)


@given(st.lists(CODES, max_size=120), st.data())
def test_in_a_plain_table_a_removal_leaves_the_others_in_place(hashes: list[int], data: st.DataObject) -> None:
    keys = range(len(hashes))
    gone = data.draw(st.sets(st.sampled_from(keys))) if hashes else set()
    table = JavaHashTable.set_copy(keys, hashes.__getitem__)
    before = list(table)
    for key in sorted(gone):
        table.remove(key)
    if stays_plain(hashes, table.capacity):
        assert list(table) == [key for key in before if key not in gone]
    assert set(table) == set(keys) - gone


@given(st.lists(CODES, max_size=100))
def test_a_plain_table_has_the_capacity_that_its_size_asks_for(hashes: list[int]) -> None:
    table: JavaHashTable[int, None] = JavaHashTable(hashes.__getitem__)
    for key in range(len(hashes)):
        table.put(key, None)
    if stays_plain(hashes):
        assert table.capacity == grown_capacity(len(hashes))


def test_a_new_value_does_not_move_its_key() -> None:
    table: JavaHashTable[int, str] = JavaHashTable(int)
    for key in (17, 1, 33):
        table.put(key, "old")
    table.put(17, "new")
    assert list(table.items()) == [(17, "new"), (1, "old"), (33, "old")]
    assert table[17] == "new"


def test_removing_what_is_not_there_changes_nothing() -> None:
    table = JavaHashTable.set_copy([1, 2], int)
    assert not table.remove(3)
    assert len(table) == 2
    assert 3 not in table


@pytest.mark.parametrize("removed", [[0, 3], [0, 3, 5, 6, 7, 8]])
def test_all_of_a_collection_can_be_removed_whatever_its_size(removed: list[int]) -> None:
    table = JavaHashTable.set_copy(range(6), int)
    table.remove_all(removed, len(removed))
    assert list(table) == [key for key in range(6) if key not in removed]


@pytest.mark.parametrize(("size", "older", "newer"), [(12, 32, 16), (24, 64, 32), (13, 32, 32), (0, 16, 16)])
def test_set_copies_differ_between_jdk_generations_at_full_tables_only(size: int, older: int, newer: int) -> None:
    assert JdkGeneration.JDK_17.set_copy_capacity(size) == older
    assert JdkGeneration.JDK_19.set_copy_capacity(size) == newer


@pytest.mark.parametrize(("size", "older", "newer"), [(3, 8, 4), (6, 16, 8), (4, 8, 8), (0, 16, 16)])
def test_map_copies_differ_between_jdk_generations_at_full_tables_only(size: int, older: int, newer: int) -> None:
    assert JdkGeneration.JDK_17.map_copy_capacity(size) == older
    assert JdkGeneration.JDK_19.map_copy_capacity(size) == newer


@pytest.mark.parametrize(("capacity", "slots"), [(0, 1), (1, 1), (2, 2), (3, 4), (16, 16), (17, 32)])
def test_tables_have_a_power_of_two_of_slots(capacity: int, slots: int) -> None:
    assert table_size_for(capacity) == slots
