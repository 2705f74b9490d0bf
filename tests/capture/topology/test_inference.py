"""Whose a changelog topic is."""

from __future__ import annotations

from collections.abc import Mapping

from assignment_api import TaskId
from assignor_lab.capture.topology import Brokers, GroupTopology, Members, Store, SubTopology, Topic
from assignor_lab.capture.topology import inferred as inferred_topology


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

    assert topology.subtopologies[None, 0].stores == (Store("a", "app-a-changelog"), Store("c", "app-c-changelog"))
    assert topology.subtopologies[None, 1].stores == (Store("b", "app-b-changelog"),)
    assert topology.subtopologies[None, 2] == SubTopology(("in-2",), (), is_logged=False)


def test_where_two_subtopologies_have_as_many_tasks_their_stores_are_unknown() -> None:
    topology = inferred(tasks(s0=3, s1=3, s2=2), {0, 1, 2}, topics(a_changelog=3, b_changelog=3, c_changelog=2))

    assert topology.subtopologies[None, 0].stores is None
    assert topology.subtopologies[None, 1].stores is None
    assert topology.subtopologies[None, 2].stores == (Store("c", "app-c-changelog"),)
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

    assert topology.subtopologies["first", 0].stores == (Store("s", "app-first-s-changelog"),)
    assert topology.subtopologies["second", 0].stores == (Store("t", "app-second-t-changelog"),)
