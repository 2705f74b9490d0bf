"""Infers a group's topology without a description.

Assignments show the topics that a sub-topology reads, but not the owner of a changelog topic: numbers of partitions do,
if only one sub-topology fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from assignor_lab.capture.errors import StateUnknownError
from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import (
    GroupSubTopology,
    GroupTopology,
    TopologyStore,
    by_subtopology,
    names_of,
)
from assignor_lab.capture.topology.internal_topics import (
    CHANGELOG,
    feeds_store,
    is_internal_of,
    is_of_longer_name,
    prefix_of,
)
from assignor_lab.capture.topology.offset_sums import contradicted
from assignor_lab.capture.topology.sharing import Candidate, Share, shared_out

__all__ = ["inferred"]


def inferred(
    application_id: str, members: Members, brokers: Brokers, *, optimized: bool | None = None
) -> GroupTopology:
    counts = {key: len(tasks) for key, tasks in by_subtopology(members.tasks).items()}
    return _Inference(application_id, members, brokers, optimized, counts).topology()


@attrs.define
class _Inference:
    application_id: str
    members: Members
    brokers: Brokers
    optimized: bool | None
    counts: Mapping[SubTopologyKey, int]
    assumptions: list[str] = attrs.field(factory=list)
    #: Of earlier applications, without a writer.
    left_over: list[str] = attrs.field(factory=list)
    changelogs: Mapping[str, int] = attrs.field(init=False)
    #: Possible changelogs of sub-topologies without known stores, the likeliest first.
    possible: dict[SubTopologyKey, tuple[tuple[str, ...], ...]] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.changelogs = dict(self._changelogs())

    def _changelogs(self) -> Iterator[tuple[str, int]]:
        application, groups = self.application_id, self.brokers.groups
        # An application's own changelogs are no sources.
        for name in sorted(self.brokers.names - self._read()):
            is_own = name.startswith(f"{application}-") and not is_of_longer_name(name, application, groups)
            topic = self.brokers.topic(name) if is_own and name.endswith(CHANGELOG) else None
            if topic is not None:
                yield name, topic.partitions

    def _read(self) -> frozenset[str]:
        return frozenset(topic for topics in self.members.sources.values() for topic in topics)

    def topology(self) -> GroupTopology:
        stateful = [key for key in self.counts if key in self._with_state()]
        stores = self._shared_out(stateful)
        found = {
            key: GroupSubTopology(
                self.members.sources.get(key), stores.get(key, ()), key in stores, self.possible.get(key, ())
            )
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

        If members show none, as in a first generation, other signs decide: numbers of partitions, Kafka's common name
        of a changelog and the repartition topic before it, or ends that equal those of the inputs.
        """
        shown = {key for key, is_logged in self.members.logged.items() if is_logged}
        if shown or any(key in self.members.logged for key in self.counts):
            return shown
        for name, partitions in self.changelogs.items():
            fitting_ones = [key for key, count in self.counts.items() if count == partitions]
            fitting_ones = [key for key in fitting_ones if self._is_named_for(key, name)] or fitting_ones
            fitting_ones = [key for key in fitting_ones if self._ends_alike(key, name)] or fitting_ones
            if len(fitting_ones) != 1:
                raise StateUnknownError(
                    f"no member has reported state yet, and changelog {name} fits {len(fitting_ones)} sub-topologies: "
                    "give the topology with --topology, or try again after the next rebalance"
                )
            shown.update(fitting_ones)
        return shown

    def _shared_out(self, stateful: list[SubTopologyKey]) -> dict[SubTopologyKey, tuple[TopologyStore, ...] | None]:
        """Changelog topics with as many partitions as only that sub-topology has tasks."""
        shared: dict[SubTopologyKey, list[TopologyStore]] = {key: [] for key in stateful}
        ambiguous: dict[SubTopologyKey, None] = {}
        refuted: dict[SubTopologyKey, None] = {}
        for name, partitions in self.changelogs.items():
            candidates = self._owners(name, partitions, stateful)
            if read_back := self._reading_back(candidates, name):
                self.left_over.append(name)
                self.assumptions.append(
                    f"changelog {name} is empty, and topics of {names_of(read_back)} are not: with "
                    "topology.optimization it counts as left from before"
                )
                continue
            if len(candidates) == 1:
                (key,) = candidates
                shared[key].append(self._store(key, name))
            elif candidates:
                ambiguous.update(dict.fromkeys(candidates))
                self.assumptions.append(
                    f"changelog {name} has {partitions} partitions, as many as {names_of(candidates)} have "
                    "tasks: its sub-topology is ambiguous"
                )
            else:
                self.assumptions.append(
                    f"changelog {name} has {partitions} partitions, as many as no stateful sub-topology has tasks: "
                    "left out"
                )
        for key, stores in shared.items():
            if key not in ambiguous and stores and contradicted(stores, self._sums(key), self.brokers.existing_ends):
                refuted[key] = None
                held = ", ".join(str(store.changelog) for store in stores)
                self.assumptions.append(
                    f"members report more of {names_of([key])} than {held} holds: it is not all of its changelogs"
                )
            if key in ambiguous or stores:
                continue
            own = self._whole_sources(key)
            if len(own) == 1 and own == self.members.sources[key]:
                stores.append(TopologyStore(own[0], own[0]))
                self.assumptions.append(
                    f"no changelog topic has as many partitions as {names_of([key])} has tasks: its source topic "
                    f"{own[0]} counts as the changelog, as with topology.optimization=all"
                )
            else:
                ambiguous[key] = None
                self.assumptions.append(f"no changelog topic has as many partitions as {names_of([key])} has tasks")
        ambiguous |= refuted
        self._share_by_ends(shared, ambiguous, refuted)
        self._say(shared, ambiguous)
        return {key: None if key in ambiguous else tuple(stores) for key, stores in shared.items()}

    def _owners(self, name: str, partitions: int, stateful: list[SubTopologyKey]) -> list[SubTopologyKey]:
        """By partitions and names."""
        candidates = [
            key
            for key in stateful
            if self.counts[key] == partitions and name.startswith(prefix_of(self.application_id, key[0]))
        ]
        return [key for key in candidates if self._is_named_for(key, name)] or candidates

    def _is_named_for(self, key: SubTopologyKey, changelog: str) -> bool:
        prefix = prefix_of(self.application_id, key[0])
        read = [topic.removeprefix(prefix) for topic in self.members.sources.get(key, ())]
        every = [topic.removeprefix(prefix) for topics in self.members.sources.values() for topic in topics]
        store = self._store(key, changelog).name
        return any(feeds_store(topic, store, every) for topic in read)

    def _reading_back(self, keys: Iterable[SubTopologyKey], changelog: str) -> list[SubTopologyKey]:
        """Sub-topologies that may read a source topic back in place of an empty changelog.

        Empty if the changelog may be in use: by one that has read no record yet.
        """
        found = []
        for key in keys if self.optimized is True else ():
            ends = self._ends([changelog, *self.members.sources.get(key, ())], self.counts[key])
            if changelog not in ends or any(ends.pop(changelog)) or not any(map(any, ends.values())):
                return []
            if any(any(ends.get(topic, ())) for topic in self._whole_sources(key)):
                found.append(key)
        return found

    def _ends_alike(self, key: SubTopologyKey, changelog: str) -> bool:
        """True if a changelog with records ends at the same offsets as an input."""
        read = self.members.sources.get(key, ())
        ends = self._ends([changelog, *read], self.counts[key])
        own = ends.pop(changelog, ())
        return any(own) and own == tuple(map(sum, zip(*ends.values(), strict=True)))

    def _ends(self, topics: Iterable[str], count: int) -> dict[str, tuple[int, ...]]:
        listed = list(topics)
        known = self.brokers.existing_ends([(topic, number) for topic in listed for number in range(count)])
        return {
            topic: tuple(known.get((topic, number), 0) for number in range(count))
            for topic in listed
            if (topic, 0) in known
        }

    def _store(self, key: SubTopologyKey, changelog: str) -> TopologyStore:
        return TopologyStore(changelog[len(prefix_of(self.application_id, key[0])) : -len(CHANGELOG)], changelog)

    def _share_by_ends(
        self,
        shared: dict[SubTopologyKey, list[TopologyStore]],
        ambiguous: dict[SubTopologyKey, None],
        refuted: Mapping[SubTopologyKey, None],
    ) -> None:
        """Moves sub-topologies from ``ambiguous`` to ``shared`` if offset sums decide."""
        for count in sorted({self.counts[key] for key in ambiguous}):
            keys = [key for key in ambiguous if self.counts[key] == count]
            # Changelogs of refuted sub-topologies may be from an earlier application.
            own = {key: () if key in refuted else tuple(str(each.changelog) for each in shared[key]) for key in keys}
            certain = {str(each.changelog) for key, stores in shared.items() if key not in refuted for each in stores}
            certain.update(self.left_over)
            changelogs = [name for name, partitions in self.changelogs.items() if partitions == count]
            candidates = {
                key: Candidate(
                    count, self._whole_sources(key), self.members.sources.get(key, ()), own[key], self._sums(key)
                )
                for key in keys
            }
            free = [name for name in changelogs if name not in certain]
            for key, share in shared_out(candidates, free, self.brokers.existing_ends).items():
                if not share.is_certain:
                    shared[key] = []
                    self.possible[key] = share.possible
                    continue
                self._share(key, share, changelogs, shared)
                del ambiguous[key]

    def _share(
        self,
        key: SubTopologyKey,
        share: Share,
        changelogs: list[str],
        shared: dict[SubTopologyKey, list[TopologyStore]],
    ) -> None:
        shared[key] = [
            self._store(key, topic) if topic in changelogs else TopologyStore(topic, topic) for topic in share.topics
        ]
        others = "" if share.is_only else "; other topics that end at the same offsets fit as well"
        self.assumptions.append(
            f"the offset sums of members fit {', '.join(share.topics)} as the changelog of {names_of([key])}{others}"
        )

    def _whole_sources(self, key: SubTopologyKey) -> tuple[str, ...]:
        """A table may read back a topic with a partition for each task."""
        sources = self.members.sources.get(key, ())
        whole = (topic for topic in sources if self.brokers.has(topic, self.counts[key]))
        application, groups = self.application_id, self.brokers.groups
        return tuple(
            topic for topic in whole if topic.endswith(CHANGELOG) or not is_internal_of(topic, application, groups)
        )

    def _sums(self, key: SubTopologyKey) -> dict[int, tuple[int, ...]]:
        tasks = [task for task in self.members.tasks if (task.topology_name, task.subtopology) == key]
        return {task.partition: self.members.sums[task] for task in tasks if task in self.members.sums}

    def _say(
        self, shared: Mapping[SubTopologyKey, list[TopologyStore]], ambiguous: Mapping[SubTopologyKey, None]
    ) -> None:
        if any(shared.values()):
            given = [f"{store.changelog} to {key[1]}" for key, stores in shared.items() for store in stores]
            self.assumptions.append(
                f"changelogs are assigned to sub-topologies by their numbers of partitions: {', '.join(given)} (give "
                "the topology with --topology)"
            )
        if ambiguous:
            self.assumptions.append(f"stores and partitions of the tasks of {names_of(ambiguous)} are unknown")
