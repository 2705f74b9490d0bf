"""Source and changelog topics of a group's sub-topologies, from what members hold and what brokers have.

The bytes say which source partitions a task has. They do not say which sub-topology a changelog topic belongs to: a
description of the topology does, and without one the numbers of partitions do where they leave no choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.errors import TopologyTextError
from assignor_lab.capture.logs.topology_text import SubTopologyText
from assignor_lab.capture.recorded.broker_answers import GroupAnswer, MemberAnswer, TopicPartition
from assignor_lab.capture.recorded.recording import Topic

__all__ = ["GroupTopology", "Store", "SubTopology", "SubTopologyKey", "source_topics"]

#: Name of the topology, or ``None``, and number of the sub-topology.
SubTopologyKey = tuple[str | None, int]
TopicLookup = Callable[[str], Topic | None]

_CHANGELOG = "-changelog"


@attrs.frozen
class Store:
    """A state store.

    Args:
        name: Its name.
        changelog: Topic that its state is logged to, or ``None``: it is not logged.
    """

    name: str
    changelog: str | None


@attrs.frozen
class SubTopology:
    """One sub-topology.

    Args:
        sources: Topics that it reads, sorted; ``None`` if they are unknown.
        stores: Its stores; ``None`` if it is not known which ones are its own.
    """

    sources: tuple[str, ...] | None
    stores: tuple[Store, ...] | None


@attrs.frozen
class GroupTopology:
    """All sub-topologies of a group.

    Args:
        subtopologies: Their keys to what is known.
        assumptions: Sentences about what was inferred, or left open.
    """

    subtopologies: Mapping[SubTopologyKey, SubTopology]
    assumptions: tuple[str, ...]

    @classmethod
    def described(
        cls,
        text: Mapping[SubTopologyKey, SubTopologyText],
        tasks: Iterable[TaskId],
        logged: frozenset[TaskId],
        application_id: str,
        topic: TopicLookup,
        name: str,
    ) -> GroupTopology:
        """From the text of Java's ``Topology#describe``.

        Args:
            text: What the description says.
            tasks: All tasks.
            logged: Those that Kafka computed a lag for.
            application_id: Name of the group.
            topic: A topic by its name, as brokers know it.
            name: Name of the description's file, for messages.

        Raises:
            TopologyTextError: if the description does not have a task's sub-topology.
        """
        assumptions: list[str] = []
        found: dict[SubTopologyKey, SubTopology] = {}
        for key, members in _by_subtopology(tasks).items():
            described = text.get(key)
            if described is None:
                raise TopologyTextError(
                    name, None, f"no sub-topology for task {members[0]}: is this that application's description?"
                )
            is_logged = not logged.isdisjoint(members)
            found[key] = _described(key, described, application_id, topic, assumptions, is_logged=is_logged)
        return cls(found, tuple(assumptions))

    @classmethod
    def inferred(
        cls,
        sources: Mapping[SubTopologyKey, tuple[str, ...]],
        tasks: Iterable[TaskId],
        logged: frozenset[TaskId],
        application_id: str,
        topics: Mapping[str, Topic],
    ) -> GroupTopology:
        """From the numbers of partitions: a changelog has as many as its sub-topology has tasks.

        Args:
            sources: What :func:`source_topics` found.
            tasks: All tasks.
            logged: Those that Kafka computed a lag for.
            application_id: Name of the group.
            topics: All topics that brokers know.
        """
        grouped = _by_subtopology(tasks)
        stateful = {key: len(members) for key, members in grouped.items() if not logged.isdisjoint(members)}
        stores, assumptions = _shared_out(stateful, application_id, topics, sources)
        found = {key: SubTopology(sources.get(key), stores[key] if key in stateful else ()) for key in grouped}
        if topologies := [key for key, sub in found.items() if sub.sources is None]:
            assumptions.append(
                f"source topics of {_names(topologies)} are in no recorded assignment: partitions of those tasks are "
                "unknown"
            )
        assumptions.append("stores that are not logged are unknown (give the topology with --topology)")
        return cls(found, tuple(assumptions))


def source_topics(answers: Iterable[GroupAnswer]) -> dict[SubTopologyKey, tuple[str, ...]]:
    """Sub-topology to the topics that its tasks were seen to read, sorted.

    An active task stands beside its partition, a standby task before its partitions.
    """
    seen: dict[SubTopologyKey, dict[str, None]] = {}
    for answer in answers:
        for task, partition in _held(answer.members):
            seen.setdefault((task.topology_name, task.subtopology), {})[partition[0]] = None
    return {key: tuple(sorted(topics)) for key, topics in seen.items()}


def _held(members: Iterable[MemberAnswer]) -> Iterator[tuple[TaskId, TopicPartition]]:
    for member in members:
        if member.assignment is None:
            continue
        yield from zip(member.assignment.info.active_tasks, member.assignment.partitions, strict=False)
        for task, partitions in member.assignment.info.standby_tasks.items():
            yield from ((task, (topic, number)) for topic, number in partitions if topic is not None)


def _by_subtopology(tasks: Iterable[TaskId]) -> dict[SubTopologyKey, list[TaskId]]:
    grouped: dict[SubTopologyKey, list[TaskId]] = {}
    for task in tasks:
        grouped.setdefault((task.topology_name, task.subtopology), []).append(task)
    return grouped


def _prefix(application_id: str, topology_name: str | None) -> str:
    return f"{application_id}-" if topology_name is None else f"{application_id}-{topology_name}-"


def _described(
    key: SubTopologyKey,
    text: SubTopologyText,
    application_id: str,
    topic: TopicLookup,
    assumptions: list[str],
    *,
    is_logged: bool,
) -> SubTopology:
    sources = tuple(f"{application_id}-{name}" if name in text.internal_topics else name for name in text.source_topics)
    known_sources = None if text.pattern or not sources else tuple(sorted(sources))
    stores = []
    without_topic = []
    for name in text.stores:
        changelog = f"{_prefix(application_id, key[0])}{name}{_CHANGELOG}"
        if is_logged and topic(changelog) is not None:
            stores.append(Store(name, changelog))
        else:
            stores.append(Store(name, None))
            without_topic.append(name)
    if is_logged and len(without_topic) == len(stores):
        # With topology.optimization the source topic of a table is its changelog.
        if known_sources is None or len(known_sources) != 1 or len(stores) != 1:
            assumptions.append(f"no changelog topic of {_names([key])} is known: partitions of its tasks are unknown")
            return SubTopology(known_sources, None)
        assumptions.append(f"{known_sources[0]} counts as the changelog of store {stores[0].name}, which has no other")
        return SubTopology(known_sources, (Store(stores[0].name, known_sources[0]),))
    if is_logged and without_topic:
        assumptions.append(f"stores without a changelog topic count as not logged: {', '.join(without_topic)}")
    return SubTopology(known_sources, tuple(stores))


def _shared_out(
    stateful: Mapping[SubTopologyKey, int],
    application_id: str,
    topics: Mapping[str, Topic],
    sources: Mapping[SubTopologyKey, tuple[str, ...]],
) -> tuple[dict[SubTopologyKey, tuple[Store, ...] | None], list[str]]:
    """Changelog topics among stateful sub-topologies, each of which is known by its number of tasks."""
    assumptions: list[str] = []
    shared: dict[SubTopologyKey, list[Store]] = {key: [] for key in stateful}
    ambiguous: dict[SubTopologyKey, None] = {}
    for name, topic in topics.items():
        if not (name.startswith(f"{application_id}-") and name.endswith(_CHANGELOG)):
            continue
        candidates = [
            key
            for key, tasks in stateful.items()
            if tasks == topic.partitions and name.startswith(_prefix(application_id, key[0]))
        ]
        if len(candidates) == 1:
            (key,) = candidates
            shared[key].append(Store(name[len(_prefix(application_id, key[0])) : -len(_CHANGELOG)], name))
        elif candidates:
            ambiguous.update(dict.fromkeys(candidates))
            assumptions.append(
                f"changelog {name} has {topic.partitions} partitions, as many as {_names(candidates)} have tasks: "
                "whose it is cannot be told"
            )
        else:
            assumptions.append(
                f"changelog {name} has {topic.partitions} partitions, as many as no stateful sub-topology has tasks: "
                "left out"
            )
    for key, stores in shared.items():
        if key not in ambiguous and not stores and (own := _table_topic(key, stateful, sources, topics)) is not None:
            # With topology.optimization the topic of a table is its changelog.
            stores.append(Store(own, own))
            assumptions.append(
                f"no changelog topic has as many partitions as {_names([key])} has tasks: its source topic {own} "
                "counts as the changelog, as with topology.optimization=all"
            )
        elif key not in ambiguous and not stores:
            ambiguous[key] = None
            assumptions.append(f"no changelog topic has as many partitions as {_names([key])} has tasks")
    if any(shared.values()):
        told = [f"{store.changelog} to {key[1]}" for key, stores in shared.items() for store in stores]
        assumptions.append(
            f"changelogs are assigned to sub-topologies by their numbers of partitions: {', '.join(told)} (give the "
            "topology with --topology)"
        )
    if ambiguous:
        assumptions.append(f"stores and partitions of the tasks of {_names(ambiguous)} are unknown")
    return {key: None if key in ambiguous else tuple(stores) for key, stores in shared.items()}, assumptions


def _table_topic(
    key: SubTopologyKey,
    stateful: Mapping[SubTopologyKey, int],
    sources: Mapping[SubTopologyKey, tuple[str, ...]],
    topics: Mapping[str, Topic],
) -> str | None:
    """The only source topic of a sub-topology, if it has as many partitions as there are tasks."""
    known = sources.get(key, ())
    topic = topics.get(known[0]) if len(known) == 1 else None
    return known[0] if topic is not None and topic.partitions == stateful[key] else None


def _names(keys: Iterable[SubTopologyKey]) -> str:
    listed = [str(number) if name is None else f"{name}__{number}" for name, number in keys]
    return ("sub-topology " if len(listed) == 1 else "sub-topologies ") + ", ".join(listed)
