"""Resolves a description with the brokers' topics and the members' evidence.

The text does not name changelogs. A table may read its source topic back (``topology.optimization``), a read-only store
always does (KIP-813), and logging may be off. A topic of the store's name and offset sums show its changelog. If the
sources differ, the members are right about topics that are read and about tasks that are logged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.topology.description import (
    DescribedStore,
    SubTopologyKey,
    SubTopologyText,
    TopologyDescription,
)
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import (
    GroupSubTopology,
    GroupTopology,
    TopologyStore,
    by_subtopology,
    names_of,
)
from assignor_lab.capture.topology.inference import inferred
from assignor_lab.capture.topology.internal_topics import CHANGELOG, REPARTITION, prefix_of
from assignor_lab.capture.topology.offset_sums import fitting
from assignor_lab.capture.topology.patterns import matching_topics
from assignor_lab.scenarios.topology_provenance import DESCRIPTION_NOT_USED, MEMBERS_TOPICS_USED, STORES_UNKNOWN

__all__ = ["no_description_of", "resolved", "topology_of"]

_MOST_POSSIBLE = 64


def topology_of(
    text: TopologyDescription | None,
    application_id: str,
    members: Members,
    brokers: Brokers,
    *,
    optimized: bool | None = None,
) -> GroupTopology:
    """A text that lacks one of the sub-topologies is not used; without a text, the topology is inferred."""
    if text is None:
        return inferred(application_id, members, brokers, optimized=optimized)
    found = resolved(text, application_id, members, brokers, optimized=optimized)
    if found is not None:
        return found
    without = inferred(application_id, members, brokers, optimized=optimized)
    return attrs.evolve(without, conflicts=(no_description_of(text, members.tasks),))


def no_description_of(text: TopologyDescription, tasks: Iterable[TaskId]) -> str:
    missing = [key for key in by_subtopology(tasks) if key not in text.subtopologies]
    return f"members have tasks of {names_of(missing)}, which {text.name} does not have: {DESCRIPTION_NOT_USED}"


def resolved(
    text: TopologyDescription, application_id: str | None, members: Members, brokers: Brokers, *, optimized: bool | None
) -> GroupTopology | None:
    """``None`` if the text lacks a sub-topology with tasks."""
    counts = {key: len(tasks) for key, tasks in by_subtopology(members.tasks).items()}
    if not counts.keys() <= text.subtopologies.keys():
        return None
    return _Resolution(text, application_id, members, brokers, optimized, counts).topology()


@attrs.define
class _Resolution:
    text: TopologyDescription
    application_id: str | None
    members: Members
    brokers: Brokers
    optimized: bool | None
    counts: Mapping[SubTopologyKey, int]
    conflicts: list[str] = attrs.field(factory=list)
    assumptions: list[str] = attrs.field(factory=list)
    sees: bool = False

    def topology(self) -> GroupTopology:
        self.sees = self.brokers.see(self.members)
        subs = {key: self.text.subtopologies[key] for key in self.counts}
        sources = {key: self._sources(key, sub) for key, sub in subs.items()}
        logged = {key: self._is_logged(key) for key in subs}
        if self.optimized is None:
            self.optimized = self._shown_optimization(subs, logged)
        found = {key: self._sub_topology(key, sub, sources[key], logged=logged[key]) for key, sub in subs.items()}
        return GroupTopology(found, tuple(dict.fromkeys(self.assumptions)), tuple(dict.fromkeys(self.conflicts)))

    # --- sources --------------------------------------------------------------------------------------

    def _sources(self, key: SubTopologyKey, sub: SubTopologyText) -> tuple[str, ...] | None:
        named = {self._actual(key, topic) for topic in sub.topics}
        seen = set(self.members.sources.get(key, ()))
        if sub.patterns:
            return self._matched(key, sub, named, seen)
        if not seen or seen == named:
            return tuple(sorted(named)) or None
        # An unassigned topic is no contradiction: it may be new.
        if extra := seen - named:
            self.conflicts.append(
                f"members read {_listed(extra)} as {names_of([key])}, {self.text.name} has {_listed(named)} there: "
                f"{MEMBERS_TOPICS_USED}"
            )
            return tuple(sorted(seen))
        if self.sees and (gone := {topic for topic in named - seen if topic not in self.brokers.names}):
            self.conflicts.append(
                f"{self.text.name} has {_listed(gone)} in {names_of([key])}, which brokers do not have and members do "
                "not read: left out"
            )
            return tuple(sorted(named - gone))
        return tuple(sorted(named))

    def _matched(
        self, key: SubTopologyKey, sub: SubTopologyText, named: set[str], seen: set[str]
    ) -> tuple[str, ...] | None:
        elsewhere = {topic for each in self.text.subtopologies.values() for topic in each.topics} | named
        found: set[str] = set()
        unmatched = seen - named
        for pattern in sub.patterns:
            matches = matching_topics(pattern, (self.brokers.names or self.members.subscribed) - elsewhere)
            unread = set(matches or ()) - seen if seen else set()
            if unread:
                self.conflicts.append(
                    f"pattern {pattern} matches {_listed(unread)} too, which no member reads yet: not used"
                )
            found.update(set(matches or ()) - unread)
            # Any topic may match a pattern that cannot be read here.
            matched = matching_topics(pattern, unmatched)
            unmatched -= unmatched if matched is None else set(matched)
        if unmatched:
            self.conflicts.append(
                f"members read {_listed(unmatched)} as {names_of([key])}, {self.text.name} has pattern "
                f"{', '.join(sub.patterns)} there: {MEMBERS_TOPICS_USED}"
            )
        read = seen - named if seen else found
        if not read and not named:
            self.assumptions.append(
                f"topics of pattern {', '.join(sub.patterns)} are unknown: so are the partitions of {names_of([key])}"
            )
            return None
        self.assumptions.append(f"pattern {', '.join(sub.patterns)} reads {_listed(read)} ({names_of([key])})")
        return tuple(sorted(named | read))

    def _actual(self, key: SubTopologyKey, topic: str) -> str:
        """A topic that the application writes itself may be internal."""
        decorated = prefix_of(self.application_id, key[0]) + topic
        if topic not in self.text.written or decorated == topic:
            return topic
        read = self.members.subscribed.union(*self.members.sources.values())
        for known in (read, self.brokers.names):
            if (topic in known) is not (decorated in known):
                return topic if topic in known else decorated
        if topic in self.text.internal:
            return decorated
        if topic.endswith(REPARTITION):
            self.assumptions.append(
                f"topic {topic} counts as the application's own, by the names of the nodes that write and read it"
            )
        return topic

    # --- stores ---------------------------------------------------------------------------------------

    def _is_logged(self, key: SubTopologyKey) -> bool | None:
        """``None``: unknown."""
        shown = self.members.logged.get(key)
        if shown is not None or key not in self.members.silent:
            return shown
        # Members may have joined before any task was ready: existing topics decide.
        if not any(self.members.logged.values()) and self.sees and self._any_changelog():
            return None
        return False

    def _any_changelog(self) -> bool:
        return any(
            self._own(key, store.name) in self.brokers.names
            for key in self.counts
            for store in self.text.subtopologies[key].stores
        )

    def _own(self, key: SubTopologyKey, store: str) -> str:
        return f"{prefix_of(self.application_id, key[0])}{store}{CHANGELOG}"

    def _has_own(self, key: SubTopologyKey, store: str) -> bool | None:
        """``None``: topics are unknown."""
        own = self._own(key, store)
        if self.brokers.has(own, self.counts[key]):
            return True
        if own in self.brokers.names:
            self.conflicts.append(
                f"topic {own} has fewer partitions than {names_of([key])} has tasks: it is not the changelog of store "
                f"{store}"
            )
        return False if self.sees else None

    def _shown_optimization(
        self, subs: Mapping[SubTopologyKey, SubTopologyText], logged: Mapping[SubTopologyKey, bool | None]
    ) -> bool | None:
        """One setting for the whole application."""
        tables = [(key, store.name) for key, sub in subs.items() for store in sub.stores if store.is_table]
        if any(logged[key] is False for key, _ in tables):
            return False
        is_without = all(self._has_own(key, name) is False for key, name in tables)
        if is_without and any(logged[key] for key, _ in tables):
            self.assumptions.append(
                "no table has a changelog topic of its own, and members report state: topology.optimization counts as "
                "reading their source topics back"
            )
            return True
        return None

    def _sub_topology(
        self, key: SubTopologyKey, sub: SubTopologyText, sources: tuple[str, ...] | None, *, logged: bool | None
    ) -> GroupSubTopology:
        if logged and not sub.stores:
            self.conflicts.append(
                f"members report state of {names_of([key])}, in which {self.text.name} has no store: {STORES_UNKNOWN}"
            )
            return GroupSubTopology(sources, None, is_logged=True)
        if logged is False:
            for store in sub.stores:
                if self._has_own(key, store.name):
                    self.conflicts.append(
                        f"topic {self._own(key, store.name)} is there, and members report no state of {names_of([key])}"
                        f": store {store.name} counts as not logged"
                    )
            return GroupSubTopology(
                sources, tuple(TopologyStore(store.name, None) for store in sub.stores), is_logged=False
            )
        choices = [list(dict.fromkeys(self._choices(key, sub, store, logged=logged))) for store in sub.stores]
        stores = self._chosen(key, choices)
        if logged and not any(store.changelog is not None or not store.is_known for store in stores):
            self.conflicts.append(
                f"members report state of {names_of([key])}, of which no store has a changelog topic: changelogs of "
                f"{', '.join(store.name for store in stores)} are unknown"
            )
            stores = [TopologyStore(store.name, None, is_known=False) for store in stores]
        has_changelog = any(store.changelog is not None for store in stores)
        self._say_of_unknown(key, stores)
        possible = () if all(store.is_known for store in stores) else _possible(choices)
        return GroupSubTopology(sources, tuple(stores), bool(logged) or has_changelog, possible)

    def _choices(
        self, key: SubTopologyKey, sub: SubTopologyText, store: DescribedStore, *, logged: bool | None
    ) -> Iterator[TopologyStore]:
        """The most likely first; an unknown one before two equally likely ones."""
        own = TopologyStore(store.name, self._own(key, store.name))
        none = TopologyStore(store.name, None)
        back = [TopologyStore(store.name, self._actual(key, topic)) for topic in store.filled_from]
        if (restored := self.members.restored.get(store.name)) is not None:
            if restored not in (own.changelog, *(each.changelog for each in back)):
                self.conflicts.append(
                    f"members restored store {store.name} from {restored}, which {self.text.name} does not show: used"
                )
            yield TopologyStore(store.name, restored)
            return
        has_own = self._has_own(key, store.name)
        if back and store.is_table and self.optimized is True:
            if has_own:
                self.conflicts.append(
                    f"topic {own.changelog} is there, and with topology.optimization store {store.name} is logged to "
                    f"{back[0].changelog}: the former counts as left from before"
                )
            yield from (*back, own if has_own else none)
        elif has_own is None and self._is_left_out(sub, store):
            yield none
        elif has_own is None:
            self._say_of_assumed()
            yield own
        elif has_own:
            yield from (own, *back)
        elif len(back) == 1 and logged and self._explains_alone(key, sub, store):
            self.assumptions.append(
                f"{back[0].changelog} counts as the changelog of store {store.name}, which has no other"
            )
            yield from back
        elif not back or (store.is_table and self.optimized is False):
            yield none
        else:
            yield from (TopologyStore(store.name, None, is_known=False), *back, none)

    def _is_left_out(self, sub: SubTopologyText, store: DescribedStore) -> bool:
        """Members restored other stores: a task restores all its logged stores."""
        restored = self.members.restored.keys()
        return store.name not in restored and not restored.isdisjoint(other.name for other in sub.stores)

    def _explains_alone(self, key: SubTopologyKey, sub: SubTopologyText, store: DescribedStore) -> bool:
        """No other store of a logged sub-topology can be logged."""
        return all(
            other is store or (not other.filled_from and self._has_own(key, other.name) is False)
            for other in sub.stores
        )

    def _chosen(self, key: SubTopologyKey, choices: list[list[TopologyStore]]) -> list[TopologyStore]:
        """The likeliest without a contradicting offset sum."""
        tasks = [task for task in self.members.tasks if (task.topology_name, task.subtopology) == key]
        sums = {task.partition: self.members.sums[task] for task in tasks if task in self.members.sums}
        found = fitting(choices, sums, self.brokers.ends)
        if found != [each[0] for each in choices] and all(each[0].is_known for each in choices):
            for first, used in zip((each[0] for each in choices), found, strict=True):
                if first != used:
                    self.conflicts.append(
                        f"the offset sums that members report of {names_of([key])} fit "
                        f"{used.changelog or 'no changelog'} "
                        f"and not {first.changelog}: the former is used for store {used.name}"
                    )
        return found

    def _say_of_assumed(self) -> None:
        self.assumptions.append(
            "every store of a task with a changelog counts as logged: a table in its topic if topology.optimization "
            "is given with --config, else in a changelog topic of its own"
        )

    def _say_of_unknown(self, key: SubTopologyKey, stores: list[TopologyStore]) -> None:
        for store in stores:
            if not store.is_known:
                numbers = [task for task in self.members.tasks if (task.topology_name, task.subtopology) == key]
                self.assumptions.append(
                    f"the changelog of store {store.name} is unknown (give topology.optimization with --config): "
                    f"partitions of tasks {numbers[0]} to {numbers[-1]} are unknown"
                )


def _possible(choices: Sequence[Sequence[TopologyStore]]) -> tuple[tuple[str, ...], ...]:
    """The likeliest first."""
    known = [[store for store in each if store.is_known] for each in choices]
    ways = islice(product(*known), _MOST_POSSIBLE)
    listed = (tuple(sorted({store.changelog for store in way if store.changelog is not None})) for way in ways)
    return tuple(dict.fromkeys(topics for topics in listed if topics))


def _listed(topics: set[str]) -> str:
    return ", ".join(sorted(topics)) or "no topic"
