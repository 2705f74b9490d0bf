from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignment_api import TaskId
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import GroupSubTopology, GroupTopology, Topic, TopologyStore
from assignor_lab.capture.topology.inference import inferred as inferred_topology


def tasks(**counts: int) -> list[TaskId]:
    """``s0=3``: sub-topology 0 has three tasks."""
    return [TaskId(int(name[1:]), number) for name, count in counts.items() for number in range(count)]


def topics(**counts: int) -> Mapping[str, Topic]:
    return {
        f"app-{name}": Topic(dict.fromkeys(range(count), ("r1",)))
        for name, count in ((name.replace("_", "-"), count) for name, count in counts.items())
    }


def inferred(all_tasks: list[TaskId], stateful: set[int], known: Mapping[str, Topic]) -> GroupTopology:
    numbers = dict.fromkeys(task.subtopology for task in all_tasks)
    members = Members(
        tuple(all_tasks),
        {(None, number): (f"in-{number}",) for number in numbers},
        logged={(None, number): number in stateful for number in numbers},
    )
    return inferred_topology("app", members, Brokers(known.get, frozenset(known)))


def test_a_changelog_belongs_to_the_only_stateful_subtopology_with_as_many_tasks() -> None:
    topology = inferred(tasks(s0=3, s1=2, s2=3), {0, 1}, topics(a_changelog=3, b_changelog=2, c_changelog=3))

    assert topology.subtopologies[None, 0].stores == (
        TopologyStore("a", "app-a-changelog"),
        TopologyStore("c", "app-c-changelog"),
    )
    assert topology.subtopologies[None, 1].stores == (TopologyStore("b", "app-b-changelog"),)
    assert topology.subtopologies[None, 2] == GroupSubTopology(("in-2",), (), is_logged=False)


def test_where_two_subtopologies_have_as_many_tasks_their_stores_are_unknown() -> None:
    topology = inferred(tasks(s0=3, s1=3, s2=2), {0, 1, 2}, topics(a_changelog=3, b_changelog=3, c_changelog=2))

    assert topology.subtopologies[None, 0].stores is None
    assert topology.subtopologies[None, 1].stores is None
    assert topology.subtopologies[None, 2].stores == (TopologyStore("c", "app-c-changelog"),)
    assert "stores and partitions of the tasks of sub-topologies 0, 1 are unknown" in topology.assumptions


def test_a_stateful_subtopology_without_a_fitting_changelog_is_unknown() -> None:
    topology = inferred(tasks(s0=3), {0}, topics(a_changelog=4, b_repartition=3))

    assert topology.subtopologies[None, 0].stores is None
    assert any("app-a-changelog has 4 partitions" in sentence for sentence in topology.assumptions)


def test_source_topics_that_nobody_was_seen_to_read_are_unknown() -> None:
    topology = inferred_topology("app", Members(tuple(tasks(s0=1))), Brokers())

    assert topology.subtopologies[None, 0].sources is None
    assert any("sub-topology 0 are in no recorded assignment" in sentence for sentence in topology.assumptions)


def test_changelogs_of_a_named_topology_carry_its_name() -> None:
    named = [TaskId(0, 0, "first"), TaskId(0, 0, "second")]
    known = {
        "app-first-s-changelog": Topic({0: ()}),
        "app-second-t-changelog": Topic({0: ()}),
    }

    members = Members(tuple(named), logged={("first", 0): True, ("second", 0): True})
    topology = inferred_topology("app", members, Brokers(known.get, frozenset(known)))

    assert topology.subtopologies["first", 0].stores == (TopologyStore("s", "app-first-s-changelog"),)
    assert topology.subtopologies["second", 0].stores == (TopologyStore("t", "app-second-t-changelog"),)


def test_brokers_are_not_asked_for_partitions_that_do_not_exist() -> None:
    asked: list[tuple[str, int]] = []

    def ends(partitions: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
        asked.extend(partitions)
        return dict.fromkeys(asked, 5)

    known = {
        **topics(a_changelog=3, b_changelog=3),
        "in-0": Topic({0: (), 1: ()}),
        "in-1": Topic({0: (), 1: (), 2: ()}),
    }
    all_tasks = tasks(s0=3, s1=3)
    read: dict[tuple[str | None, int], tuple[str, ...]] = {(None, 0): ("gone", "in-0"), (None, 1): ("in-1",)}
    members = Members(tuple(all_tasks), read, logged={(None, 0): True, (None, 1): True})
    inferred_topology("app", members, Brokers(known.get, frozenset(known), ends=ends))
    assert ("in-0", 1) in asked
    assert not [each for each in asked if each == ("in-0", 2) or each[0] == "gone"]


def test_an_empty_changelog_is_left_over_though_several_subtopologies_have_as_many_tasks() -> None:
    known = {
        **topics(table_changelog=2, counts_changelog=2, counts_repartition=2),
        "users": Topic({0: (), 1: ()}),
    }
    ends = {(topic, number): 0 if topic == "app-table-changelog" else 9 for topic in known for number in (0, 1)}
    members = Members(
        tuple(tasks(s0=2, s1=2)),
        {(None, 0): ("users",), (None, 1): ("app-counts-repartition",)},
        logged={(None, 0): True, (None, 1): True},
    )
    brokers = Brokers(known.get, frozenset(known), ends=lambda asked: {each: ends[each] for each in asked})
    topology = inferred_topology("app", members, brokers, optimized=True)
    assert topology.subtopologies[None, 0].changelogs == ("users",)
    assert topology.subtopologies[None, 1].changelogs == ("app-counts-changelog",)
    assert any("app-table-changelog is empty" in sentence for sentence in topology.assumptions)


def test_an_empty_changelog_behind_an_empty_topic_is_in_use() -> None:
    known = {**topics(counts_changelog=1, words_repartition=1), "users": Topic({0: ()})}
    members = Members(
        tuple(tasks(s0=1, s1=1)),
        {(None, 0): ("users",), (None, 1): ("app-words-repartition",)},
        logged={(None, 0): True, (None, 1): True},
    )
    ends = {(topic, 0): 9 if topic == "users" else 0 for topic in known}
    brokers = Brokers(known.get, frozenset(known), ends=lambda asked: {each: ends[each] for each in asked})
    topology = inferred_topology("app", members, brokers, optimized=True)
    assert not any("left from before" in sentence for sentence in topology.assumptions)


def test_a_source_that_is_called_as_a_changelog_is_a_topic_of_the_users() -> None:
    known = topics(prices_changelog=2, list_changelog=2)
    members = Members(tuple(tasks(s0=2)), {(None, 0): ("app-prices-changelog",)}, logged={(None, 0): True})
    topology = inferred_topology("app", members, Brokers(known.get, frozenset(known)))
    assert topology.subtopologies[None, 0].stores == (TopologyStore("list", "app-list-changelog"),)

    alone = topics(prices_changelog=2)
    read_back = inferred_topology("app", members, Brokers(alone.get, frozenset(alone)))
    assert read_back.subtopologies[None, 0].changelogs == ("app-prices-changelog",)
