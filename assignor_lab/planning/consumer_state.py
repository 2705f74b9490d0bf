"""The present consumer group of a captured state, as plays begin with it, and the same under other settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerSubscription,
    ConsumerTopic,
    PartitionAssignment,
    SubscribedGroup,
    SubscribedMember,
)
from assignment_api.plugins import Registry
from assignor_lab.clients.plugins import client_assignor, client_library, has_driver
from assignor_lab.groups.consumer.assignor_calls import CONSUMER_CALLS, CONSUMER_GROUP_CALLS, PartitionCalls
from assignor_lab.groups.consumer.kind import PartitionKind
from assignor_lab.groups.entries import kind_named
from assignor_lab.planning.making import Options, PlanError
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.formats.consumer import strategies_of
from assignor_lab.simulation.consumer.client_libraries import LIBRARIES_WITH_RULES, rules_of
from assignor_lab.simulation.consumer.consumers import (
    CLASSIC,
    CONSUMER,
    TIMINGS_OF_CONSUMERS,
    ConsumerSettings,
    ConsumerTimings,
)
from assignor_lab.simulation.consumer.simulate import ConsumerEpisode

__all__ = [
    "ConsumerState", "consumer_state", "decider", "is_consumer_state", "under_protocol", "under_members",
    "under_assignor", "under_strategy",
]  # fmt: skip

_CALLS: Mapping[str, PartitionCalls] = {CLASSIC: CONSUMER_CALLS, CONSUMER: CONSUMER_GROUP_CALLS}
_DEFAULTS: Mapping[str, str] = {CLASSIC: "range", CONSUMER: "uniform"}
#: The defaults that an answer assumes, and the option or key that replaces each.
_ASSUMED: Mapping[str, Sequence[str]] = {
    CLASSIC: ("heartbeat.interval.ms", "session.timeout.ms"),
    CONSUMER: ("group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms"),
}


def is_consumer_state(scenario: Scenario) -> bool:
    return isinstance(kind_named(scenario.kind), PartitionKind)


@attrs.frozen(eq=False)
class ConsumerState:
    """A consumer group.

    Args:
        episode: An episode without events that begins with the group.
        client: Client library whose strategies decide; ``None``: Java.
        assumptions: Sentences on unknown facts.
    """

    episode: ConsumerEpisode
    client: str | None
    assumptions: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.episode.consumers)

    @property
    def protocol(self) -> str:
        return next(iter(self.episode.consumers.values())).protocol

    @property
    def strategy(self) -> str:
        return next(iter(self.episode.consumers.values())).decides


def consumer_state(scenario: Scenario, terms: Terms, options: Options) -> ConsumerState:
    """The group of a state.

    Raises:
        PlanError: if the group has no members, or is a share group, or has partitions of an unknown topic.
        InconsistentProtocolsError: if the members have no strategy in common.
    """
    document, kind, group = scenario.document, kind_named(scenario.kind), scenario.content
    protocol = CONSUMER if isinstance(group, SubscribedGroup) else CLASSIC
    if isinstance(kind, PartitionKind) and kind.is_shared:
        raise PlanError(f"{scenario.place}: members of a share group share partitions, so none waits for an owner")
    if not group.members:
        raise PlanError(f"{scenario.place}: the group has no members, so there is nothing to plan")
    topics = {
        topic.name: ConsumerTopic(topic.name, topic.partitions or 0, getattr(topic, "racks", None))
        for topic in group.topics.values()
    }
    lists = {} if terms.assignor is not None or protocol == CONSUMER else strategies_of(document)
    observed = scenario.observed or {}
    library = None if terms.client is None else client_library(terms.client)
    wanted = terms.assignor or kind.usual(scenario) or observed.get("assignor")
    strategy = str(wanted or _DEFAULTS[protocol])
    consumers, present = {}, {}
    for (name, client), (identity, member) in zip(_names(document, group), group.members.items(), strict=True):
        consumers[name] = ConsumerSettings(
            _topics(group, member),
            lists.get(identity, (strategy,)),
            client,
            member.instance_id,
            member.rack_id,
            None,
            protocol,
            identity,
            strategy if protocol == CONSUMER else None,
            rules_of(library),
        )
        held = member.owned if isinstance(member, ConsumerSubscription) else member.assigned
        held = held if scenario.observed is None else observed.get("members", {}).get(identity, {})
        _check_described(scenario, group, held)
        present[name] = {group.topics[topic].name: numbers for topic, numbers in held.items() if topic in group.topics}
    settings = {**document.get("settings", {}), **terms.settings}
    assumptions = [*document.get("assumptions", ()), *_assumed(protocol, settings, options)]
    if library is not None:
        assumptions += _assumed_of(library, protocol)
    if not any(present.values()):
        assumptions.append("the state has no partitions of members: the group begins as its assignor decides")
    timings = ConsumerTimings(
        **{timing: int(settings[key]) for key, timing in TIMINGS_OF_CONSUMERS.items() if key in settings}
    )
    given = {"start_ms": options.start_ms, "poll_ms": options.poll_ms, "revoke_ms": options.revoke_ms}
    timings = attrs.evolve(timings, **{name: value for name, value in given.items() if value is not None})
    generation = int((scenario.source or {}).get("generation") or 0)
    episode = ConsumerEpisode(
        scenario.id, topics, consumers, timings, present if any(present.values()) else None, generation=generation
    )
    return ConsumerState(episode, terms.client, tuple(dict.fromkeys(assumptions)))


def _check_described(
    scenario: Scenario, group: ConsumerGroupState | SubscribedGroup, held: Mapping[str, Sequence[int]]
) -> None:
    for topic, numbers in held.items():
        known = group.topics.get(topic)
        if numbers and (known is None or known.partitions is None):
            raise PlanError(
                f"{scenario.place}: members have partitions of topic {topic if known is None else known.name}, and the "
                "state does not describe it: give it in `topics` with its number of partitions"
            )


def _names(document: Mapping[str, Any], group: ConsumerGroupState | SubscribedGroup) -> list[tuple[str, str]]:
    """Name and client id of each member; a name is an instance id, a client id of its own, or the member id."""
    clients = [str(each.get("client_id") or "") for each in document["members"]]
    counts = Counter(clients)
    members: Mapping[str, ConsumerSubscription | SubscribedMember] = group.members
    return [
        (member.instance_id or (client if client and counts[client] == 1 else identity), client or identity)
        for client, (identity, member) in zip(clients, members.items(), strict=True)
    ]


def _topics(
    group: ConsumerGroupState | SubscribedGroup, member: ConsumerSubscription | SubscribedMember
) -> tuple[str, ...]:
    if isinstance(group, SubscribedGroup) and isinstance(member, SubscribedMember):
        return group.subscribed_names(member)
    return member.topics


def _assumed(protocol: str, settings: Mapping[str, object], options: Options) -> list[str]:
    usual = ConsumerTimings()
    found = [
        f"{key} is taken as {getattr(usual, TIMINGS_OF_CONSUMERS[key])}, Kafka's default (give it with --config or -c)"
        for key in _ASSUMED[protocol]
        if key not in settings
    ]
    if options.start_ms is None:
        found.append(f"a consumer is taken to join {usual.start_ms / 1000:g} s after its start (give --start-seconds)")
    if options.poll_ms is None:
        found.append(
            f"the poll loop is taken to poll every {usual.poll_ms} ms: slow loops delay each rebalance (give "
            "--poll-seconds, the records of a poll times the time of each)"
        )
    return found


def _assumed_of(library: str, protocol: str) -> list[str]:
    if protocol == CONSUMER:
        return [f"the broker decides in this group: {library} is played as Java's client"]
    found = []
    if not has_driver(library):
        found.append(f"{library} is taken to decide as Java's client (give a driver of its strategies with --driver)")
    if library not in LIBRARIES_WITH_RULES:
        found.append(f"{library} is taken to join and to beat as Java's client: its own rules are not known here")
    return found


# --- under other settings -----------------------------------------------------------------------------------


def _with_each(state: ConsumerState, change: Callable[[str, ConsumerSettings], ConsumerSettings]) -> ConsumerState:
    consumers = {name: change(name, each) for name, each in state.episode.consumers.items()}
    return attrs.evolve(state, episode=attrs.evolve(state.episode, consumers=consumers))


def under_assignor(settings: ConsumerSettings, name: str) -> ConsumerSettings:
    """The strategy of a classic consumer, or the broker's assignor."""
    if settings.protocol == CLASSIC:
        return attrs.evolve(settings, strategies=(name,))
    return attrs.evolve(settings, assignor=name)


def under_strategy(state: ConsumerState, strategy: str) -> ConsumerState:
    return _with_each(state, lambda _, each: under_assignor(each, strategy))


def under_protocol(state: ConsumerState, protocol: str) -> ConsumerState:
    """The group under another protocol, with its default strategy."""
    return _with_each(
        state,
        lambda _, each: attrs.evolve(each, protocol=protocol, strategies=("range",), assignor=_DEFAULTS[CONSUMER]),
    )


def under_members(state: ConsumerState, *, are_static: bool) -> ConsumerState:
    """The group with a ``group.instance.id`` for each consumer, or none."""
    return _with_each(
        state,
        lambda name, each: attrs.evolve(each, instance_id=(each.instance_id or name) if are_static else None),
    )


@attrs.frozen
class _Decider:
    registry: Registry
    client: str | None

    def __call__(self, protocol: str, strategy: str, group: Any) -> PartitionAssignment:
        name = strategy
        if self.client is not None and protocol == CLASSIC and has_driver(self.client):
            name = client_assignor(self.client, strategy)
        calls = _CALLS[protocol]
        made: Any = calls.created(calls.select(self.registry, name, may_run_code=True))
        answer: PartitionAssignment = made.assign(group)
        return answer


def decider(registry: Registry, client: str | None) -> _Decider:
    """Calls the assignors of installed plugins."""
    return _Decider(registry, client)
