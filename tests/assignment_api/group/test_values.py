from __future__ import annotations

import random
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api import AssignorLabError, TaskIdFormatError, group

_IDS = st.text(max_size=4) | st.sampled_from(["0", "10", "2", "orders__1"])


def test_sub_topologies_sort_as_texts_and_partitions_as_numbers() -> None:
    tasks = [group.TaskId("2", 0), group.TaskId("10", 10), group.TaskId("10", 2), group.TaskId("", 5)]
    assert [str(task) for task in sorted(tasks)] == ["_5", "10_2", "10_10", "2_0"]


def test_texts_sort_by_utf_16_code_units_as_in_java() -> None:
    """A supplementary character begins with a surrogate, which is less than U+FF5E."""
    assert group.TaskId("\U0001f600", 0) < group.TaskId("\uff5e", 0)


@given(_IDS, st.integers(0, 2**31 - 1))
def test_the_text_of_a_task_is_read_back(subtopology: str, partition: int) -> None:
    task = group.TaskId(subtopology, partition)
    assert group.TaskId.parse(str(task)) == task


@pytest.mark.parametrize("text", ["", "0", "0_", "0_x", "0_-1", "0_²"])
def test_what_is_no_task_is_refused(text: str) -> None:
    with pytest.raises(TaskIdFormatError):
        group.TaskId.parse(text)


@given(st.dictionaries(_IDS, st.lists(st.integers(0, 9), max_size=5), max_size=5), st.randoms(use_true_random=False))
def test_tasks_are_in_order_whatever_order_they_come_in(tasks: dict[str, list[int]], dice: random.Random) -> None:
    items = list(tasks.items())
    dice.shuffle(items)
    ordered = group.tasks_by_subtopology(dict(items))
    flat = [group.TaskId(key, partition) for key, partitions in ordered.items() for partition in partitions]
    assert flat == sorted({group.TaskId(key, partition) for key, held in tasks.items() for partition in held})
    assert all(ordered.values())


@pytest.mark.parametrize(
    "held",
    [
        group.MemberAssignmentState({"0": [1]}).active_tasks,
        group.MemberAssignment({"0": [1]}).active_tasks,
        group.MemberMetadata("p", client_tags={"zone": "a"}).client_tags,
        group.MemberAssignmentState(task_offsets={group.TaskId("0", 0): 1}).task_offsets,
        group.GroupSpec({}).members,
        group.GroupAssignment({}).members,
        group.NO_TASKS,
    ],
)
def test_what_an_assignor_is_given_cannot_be_changed(held: Any) -> None:
    with pytest.raises(TypeError):
        held["x"] = "y"


def test_a_change_of_what_a_value_was_made_from_changes_nothing() -> None:
    tasks = {"0": [1]}
    state = group.MemberAssignmentState(tasks)
    tasks["0"].append(2)
    tasks["1"] = [0]
    assert state.active_tasks == {"0": (1,)}


def test_a_target_takes_tasks_as_they_come_and_is_a_value() -> None:
    target = group.MemberAssignment({"2": [1, 0], "10": iter([3]), "a": []}, standby_tasks={"0": [0]})
    assert list(target.active_tasks.items()) == [("10", (3,)), ("2", (0, 1))]
    assert target == group.MemberAssignment(target.active_tasks, target.standby_tasks)
    assert attrs.evolve(target, active_tasks={}) == group.MemberAssignment(standby_tasks={"0": [0]})
    assert repr(group.MemberAssignment(warmup_tasks={"0": [0]})).endswith("warmup_tasks=mappingproxy({'0': (0,)}))")


def test_values_are_frozen() -> None:
    for value, field in (
        (group.MemberAssignment(), "active_tasks"),
        (group.TaskId("0", 0), "partition"),
        (group.GroupMember(group.MemberMetadata("p")), "state"),
        (group.AssignmentConfigs(1), "num_standby_replicas"),
        (group.Subtopology("0", 1, False), "num_tasks"),
    ):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(value, field, None)


def test_members_keep_their_order() -> None:
    members = {name: group.GroupMember(group.MemberMetadata("p")) for name in ("b", "a", "c")}
    assert list(group.GroupSpec(members).members) == ["b", "a", "c"]


# --- configuration ----------------------------------------------------------------------------------


def test_no_configuration_means_no_standbys() -> None:
    assert group.AssignmentConfigs.from_mapping({}) == group.AssignmentConfigs(0)


@pytest.mark.parametrize("value", [2, "2", "+2"])
def test_the_number_of_standbys_may_be_a_text(value: object) -> None:
    assert group.AssignmentConfigs.from_mapping({"num.standby.replicas": value}).num_standby_replicas == 2


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (["zone", "cluster"], ("zone", "cluster")),
        ("zone,cluster", ("zone", "cluster")),
        # As in Java's split: items are not trimmed, and only empty items at the end are dropped.
        ("zone, cluster ", ("zone", " cluster ")),
        ("zone,,cluster,,", ("zone", "", "cluster")),
        ("", ()),
        (",", ()),
        ([], ()),
    ],
)
def test_tags_are_a_list_or_a_text_with_commas(value: object, tags: tuple[str, ...]) -> None:
    configs = group.AssignmentConfigs.from_mapping({"num.standby.replicas": 1, "rack.aware.assignment.tags": value})
    assert configs == group.AssignmentConfigs(1, tags)


@pytest.mark.parametrize("value", [1, None, ["zone", 2], {"zone": 1}])
def test_what_is_no_list_of_tags_is_refused(value: object) -> None:
    with pytest.raises(group.GroupConfigError, match=r"rack\.aware\.assignment\.tags: .* is no list: give keys"):
        group.AssignmentConfigs.from_mapping({"num.standby.replicas": 1, "rack.aware.assignment.tags": value})


@pytest.mark.parametrize(
    "configs",
    [
        {"other": "1"},
        {"rack.aware.assignment.tags": "zone"},
        {"num.standby.replicas": None},
        {"num.standby.replicas": " 2"},
        {"num.standby.replicas": "2.0"},
        {"num.standby.replicas": True},
        {"num.standby.replicas": 2**31},
    ],
)
def test_what_java_could_not_parse_is_its_error(configs: dict[str, object]) -> None:
    with pytest.raises(group.GroupConfigError) as caught:
        group.AssignmentConfigs.from_mapping(configs)
    assert caught.value.java_type == "java.lang.NumberFormatException"


# --- topology ---------------------------------------------------------------------------------------


def test_a_topology_tells_size_and_state_of_its_sub_topologies() -> None:
    topology = group.TopologyDescriber([group.Subtopology("2", 3, True), group.Subtopology("10", 1, False)])
    assert topology.subtopologies() == ("10", "2")
    assert [topology.max_num_input_partitions(key) for key in ("10", "2")] == [1, 3]
    assert [topology.is_stateful(key) for key in ("10", "2")] == [False, True]


def test_a_sub_topology_that_is_not_there_is_kafkas_error() -> None:
    topology = group.TopologyDescriber([])
    for ask in (topology.max_num_input_partitions, topology.is_stateful):
        with pytest.raises(group.UnknownSubtopologyError, match="'7'") as caught:
            ask("7")
        assert caught.value.java_type == "java.util.NoSuchElementException"


def test_a_negative_number_of_tasks_is_refused() -> None:
    with pytest.raises(group.InvalidGroupError):
        group.Subtopology("0", -1, False)


def test_every_error_is_one_of_this_projects() -> None:
    for name in group.__all__:
        thing = getattr(group, name)
        if isinstance(thing, type) and issubclass(thing, Exception):
            assert issubclass(thing, AssignorLabError)
            assert thing.java_type
