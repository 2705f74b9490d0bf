"""Infers a group's topology where no description is given.

Assignments show which topics the tasks of a sub-topology read. They do not show whose a changelog topic is: numbers of
partitions do, where they leave no choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from assignor_lab.capture.errors import StateUnknownError
from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import GroupTopology, Store, SubTopology, by_subtopology, names_of
from assignor_lab.capture.topology.internal_topics import CHANGELOG, REPARTITION, is_of_longer_name, prefix_of
from assignor_lab.capture.topology.offset_sums import contradicted, fitting
from assignor_lab.capture.topology.sharing import Candidate, shared_by_sums

__all__ = ["inferred"]


def inferred(application_id: str, members: Members, brokers: Brokers) -> GroupTopology:
    """The topology of a group, from the members and the numbers of partitions.

    Raises:
        StateUnknownError: if no member has reported state yet, and topics do not show which sub-topologies have any.
    """
    counts = {key: len(tasks) for key, tasks in by_subtopology(members.tasks).items()}
    return _Inference(application_id, members, brokers, counts).topology()


@attrs.define
class _Inference:
    application_id: str
    members: Members
    brokers: Brokers
    #: Sub-topology to its number of tasks.
    counts: Mapping[SubTopologyKey, int]
    assumptions: list[str] = attrs.field(factory=list)
    #: Name to number of partitions of the topics that may be changelogs.
    changelogs: Mapping[str, int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.changelogs = dict(self._changelogs())

    def _changelogs(self) -> Iterator[tuple[str, int]]:
        application, groups = self.application_id, self.brokers.groups
        for name in sorted(self.brokers.names):
            is_own = name.startswith(f"{application}-") and not is_of_longer_name(name, application, groups)
            topic = self.brokers.topic(name) if is_own and name.endswith(CHANGELOG) else None
            if topic is not None:
                yield name, topic.partitions

    def topology(self) -> GroupTopology:
        stateful = [key for key in self.counts if key in self._with_state()]
        stores = self._shared_out(stateful)
        found = {
            key: SubTopology(self.members.sources.get(key), stores.get(key, ()), is_logged=key in stores)
            for key in self.counts
        }
        if unseen := [key for key, sub in found.items() if sub.sources is None]:
            self.assumptions.append(
                f"source topics of {names_of(unseen)} are in no recorded assignment: partitions of those tasks are "
                "unknown"
            )
        self.assumptions.append("stores that are not logged are unknown (give the topology with --topology)")
        return GroupTopology(found, tuple(self.assumptions))

    def _with_state(self) -> set[SubTopologyKey]:
        """Sub-topologies that have a changelog.

        If members show none, as in a first generation, numbers of partitions do, or the name that Kafka gives to a
        store's changelog and to the repartition topic before it.
        """
        shown = {key for key, is_logged in self.members.logged.items() if is_logged}
        if shown or any(key in self.members.logged for key in self.counts):
            return shown
        for name, partitions in self.changelogs.items():
            fitting_ones = [key for key, count in self.counts.items() if count == partitions]
            before = name.removesuffix(CHANGELOG) + REPARTITION
            fitting_ones = [key for key in fitting_ones if before in self.members.sources.get(key, ())] or fitting_ones
            if len(fitting_ones) != 1:
                raise StateUnknownError(
                    f"no member has reported state yet, and changelog {name} fits {len(fitting_ones)} sub-topologies: "
                    "give the topology with --topology, or try again after the next rebalance"
                )
            shown.update(fitting_ones)
        return shown

    def _shared_out(self, stateful: list[SubTopologyKey]) -> dict[SubTopologyKey, tuple[Store, ...] | None]:
        """Stateful sub-topologies to the changelog topics with as many partitions as they alone have tasks."""
        shared: dict[SubTopologyKey, list[Store]] = {key: [] for key in stateful}
        ambiguous: dict[SubTopologyKey, None] = {}
        refuted: dict[SubTopologyKey, None] = {}
        for name, partitions in self.changelogs.items():
            prefixes = {key: prefix_of(self.application_id, key[0]) for key in stateful}
            candidates = [key for key in stateful if self.counts[key] == partitions and name.startswith(prefixes[key])]
            if len(candidates) == 1:
                (key,) = candidates
                shared[key].append(Store(name[len(prefixes[key]) : -len(CHANGELOG)], name))
            elif candidates:
                ambiguous.update(dict.fromkeys(candidates))
                self.assumptions.append(
                    f"changelog {name} has {partitions} partitions, as many as {names_of(candidates)} have tasks: "
                    "whose it is cannot be told"
                )
            else:
                self.assumptions.append(
                    f"changelog {name} has {partitions} partitions, as many as no stateful sub-topology has tasks: "
                    "left out"
                )
        for key, stores in shared.items():
            if key not in ambiguous and stores and contradicted(stores, self._sums(key), self.brokers.ends):
                refuted[key] = None
                held = ", ".join(str(store.changelog) for store in stores)
                self.assumptions.append(
                    f"members report more of {names_of([key])} than {held} holds: it is not all of its changelogs"
                )
            if key in ambiguous or stores:
                continue
            own = self._table_topic(key)
            if own is not None:
                stores.append(Store(own, own))
                self.assumptions.append(
                    f"no changelog topic has as many partitions as {names_of([key])} has tasks: its source topic {own} "
                    "counts as the changelog, as with topology.optimization=all"
                )
            else:
                ambiguous[key] = None
                self.assumptions.append(f"no changelog topic has as many partitions as {names_of([key])} has tasks")
        self._share_by_sums(shared, ambiguous)
        # Its changelog is another topic, and no name shows which one.
        ambiguous |= refuted
        self._say(shared, ambiguous)
        return {key: None if key in ambiguous else tuple(stores) for key, stores in shared.items()}

    def _share_by_sums(self, shared: dict[SubTopologyKey, list[Store]], ambiguous: dict[SubTopologyKey, None]) -> None:
        """Moves sub-topologies with as many tasks each from ``ambiguous`` to ``shared``, where offset sums decide."""
        for count in sorted({self.counts[key] for key in ambiguous}):
            keys = [key for key in ambiguous if self.counts[key] == count]
            candidates = {key: Candidate(self._whole_sources(key), self._sums(key)) for key in keys}
            changelogs = [name for name, partitions in self.changelogs.items() if partitions == count]
            found = shared_by_sums(candidates, changelogs, self.brokers.ends)
            if found is None:
                continue
            shares, is_only = found
            for key, topics in shares.items():
                prefix = prefix_of(self.application_id, key[0])
                shared[key] = [
                    Store(topic[len(prefix) : -len(CHANGELOG)] if topic in changelogs else topic, topic)
                    for topic in topics
                ]
                del ambiguous[key]
                others = "" if is_only else "; other topics that end at the same offsets fit as well"
                self.assumptions.append(
                    f"the offset sums of members fit {', '.join(topics)} as the changelog of {names_of([key])}{others}"
                )

    def _whole_sources(self, key: SubTopologyKey) -> tuple[str, ...]:
        """Source topics with a partition for each task."""
        sources = self.members.sources.get(key, ())
        return tuple(topic for topic in sources if self.brokers.has(topic, self.counts[key]))

    def _table_topic(self, key: SubTopologyKey) -> str | None:
        """The source topic that a table may read back: the only one, or the one that offset sums fit."""
        sources = self.members.sources.get(key, ())
        enough = [topic for topic in sources if self.brokers.has(topic, self.counts[key])]
        if len(sources) == 1:
            return enough[0] if enough else None
        choices = [Store("", None, is_known=False), *(Store(topic, topic) for topic in enough)]
        (found,) = fitting([choices], self._sums(key), self.brokers.ends)
        return found.changelog

    def _sums(self, key: SubTopologyKey) -> dict[int, tuple[int, ...]]:
        tasks = [task for task in self.members.tasks if (task.topology_name, task.subtopology) == key]
        return {task.partition: self.members.sums[task] for task in tasks if task in self.members.sums}

    def _say(self, shared: Mapping[SubTopologyKey, list[Store]], ambiguous: Mapping[SubTopologyKey, None]) -> None:
        if any(shared.values()):
            given = [f"{store.changelog} to {key[1]}" for key, stores in shared.items() for store in stores]
            self.assumptions.append(
                f"changelogs are assigned to sub-topologies by their numbers of partitions: {', '.join(given)} (give "
                "the topology with --topology)"
            )
        if ambiguous:
            self.assumptions.append(f"stores and partitions of the tasks of {names_of(ambiguous)} are unknown")
