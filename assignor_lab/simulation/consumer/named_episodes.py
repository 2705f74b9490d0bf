"""Published incidents and measurements of consumer groups, each with its figure and its assumptions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from assignment_api.consumer import ConsumerTopic, PartitionAssignment
from assignor_lab.model.events import MemberFenced
from assignor_lab.simulation.consumer.consumers import CLASSIC, CONSUMER, ConsumerSettings, ConsumerTimings
from assignor_lab.simulation.consumer.simulate import ConsumerEpisode, ConsumerEvent, ConsumerPlay
from assignor_lab.simulation.consumer.world import Decide, flat, grouped

__all__ = ["CONSUMER_EPISODES", "NamedConsumerEpisode"]

_MINUTE_MS = 60_000


@attrs.frozen
class NamedConsumerEpisode:
    """An episode.

    Args:
        published: The figure of the source.
        unit: Its unit; ``... or more`` if it is a bound.
        missing: The fact that the source lacks, without which the figure is a draw; empty: none.
        decide: The answer of the assignor, if it is none of Kafka's; gets Kafka's own.
    """

    name: str
    summary: str
    source: str
    report: str
    published: float
    unit: str
    figure: Callable[[ConsumerPlay], float]
    episode: Callable[[], ConsumerEpisode]
    missing: str = ""
    decide: Callable[[Decide], Decide] = lambda decide: decide

    def is_met(self, found: float) -> bool:
        """True within a quarter of the published figure, or within the bound."""
        if self.unit.endswith(" or more"):
            return found >= self.published
        return abs(found - self.published) <= self.published / 4


# --- figures ------------------------------------------------------------------------------------------------


def _until_all_polled(play: ConsumerPlay) -> float:
    """Seconds from the growth of a topic until each new partition is polled."""
    new = [each for each in play.world.ledger.over if each.cause == "new partition" and each.begin_ms > play.begin_ms]
    return max(((each.end_ms or 0) - each.begin_ms for each in new), default=0) / 1000


def _rebalances(play: ConsumerPlay) -> float:
    return sum(each >= play.begin_ms for each in play.world.begun_ms)


def _still_minutes(play: ConsumerPlay) -> float:
    """Minutes in which no partition at all is polled."""
    lasting = play.world.ledger.lasting
    if len(lasting) < len(play.world.tasks()):
        return 0.0
    return (play.world.now - max(each.begin_ms for each in lasting)) / _MINUTE_MS


def _uneven(play: ConsumerPlay) -> float:
    """Most partitions of one topic on one consumer."""
    counts: dict[tuple[str, str], int] = {}
    for consumer in play.world.consumers.values():
        for topic, _ in consumer.held:
            counts[consumer.name, topic] = counts.get((consumer.name, topic), 0) + 1
    return max(counts.values(), default=0)


def _fenced(play: ConsumerPlay) -> float:
    return sum(isinstance(each, MemberFenced) for each in play.world.events)


# --- groups -------------------------------------------------------------------------------------------------


def _consumers(
    names: Iterable[str], topics: tuple[str, ...], strategy: str, **more: Any
) -> dict[str, ConsumerSettings]:
    return {name: ConsumerSettings(topics, (strategy,), name, **more) for name in names}


def _numbered(count: int) -> list[str]:
    return [f"c{number}" for number in range(count)]


def _topics(**partitions: int) -> dict[str, ConsumerTopic]:
    return {name: ConsumerTopic(name, count) for name, count in partitions.items()}


def _grown(protocol: str) -> ConsumerEpisode:
    """Kafka's defaults; ``topic.metadata.refresh.interval.ms`` of librdkafka is as long as ``metadata.max.age.ms``."""
    strategy = "cooperative-sticky" if protocol == CLASSIC else "uniform"
    assignor = None if protocol == CLASSIC else "uniform"
    consumers = _consumers(_numbered(10), ("events",), strategy, protocol=protocol, assignor=assignor)
    grows = ConsumerEvent(10_000, "grow", "events", partitions=1_000)
    return ConsumerEpisode(
        f"karafka-900-partitions-{protocol}", _topics(events=100), consumers, events=(grows,), until_ms=400_000
    )


def _loop() -> ConsumerEpisode:
    consumers = _consumers(_numbered(4), ("a", "b"), "cooperative-sticky")
    started = ConsumerEvent(1, "grow", "a", partitions=9)
    timings = ConsumerTimings(metadata_max_age_ms=1)
    return ConsumerEpisode(
        "sticky-loop", _topics(a=8, b=8), consumers, timings, events=(started,), until_ms=10 * _MINUTE_MS
    )


def _goes_round(decide: Decide) -> Decide:
    """An assignor that never finds its own answer balanced: each call takes a partition from the next member."""
    calls = [0]

    def moving(protocol: str, strategy: str, group: Any) -> PartitionAssignment:
        answer = decide(protocol, strategy, group).members
        kept = {identity: flat(answer[identity]) & flat(each.owned) for identity, each in group.members.items()}
        owners = [identity for identity, held in kept.items() if held]
        if not owners:
            return PartitionAssignment(answer)
        calls[0] += 1
        gives = owners[calls[0] % len(owners)]
        return PartitionAssignment({**answer, gives: grouped(flat(answer[gives]) - {min(kept[gives])})})

    return moving


def _uneven_topics() -> ConsumerEpisode:
    starts = tuple(
        ConsumerEvent(1_000 + 20_000 * number, "start", name, settings=settings)
        for number, (name, settings) in enumerate(
            _consumers(_numbered(9)[1:], ("x", "y"), "cooperative-sticky").items()
        )
    )
    first = _consumers(["c0"], ("x", "y"), "cooperative-sticky")
    return ConsumerEpisode("uneven-by-topic", _topics(x=18, y=18), first, events=starts, until_ms=300_000)


def _still() -> ConsumerEpisode:
    """Twelve processes with a consumer for each of seven topics; the leader's assignor does not answer in an hour."""
    topics = [f"topic{number}" for number in range(7)]
    consumers = {
        f"p{process}-{topic}": ConsumerSettings((topic,), ("sticky",), f"p{process}")
        for process in range(12)
        for topic in topics
    }
    present = {
        name: {settings.topics[0]: [int(name[1 : name.index("-")])]} for name, settings in consumers.items()
    }  # fmt: skip
    timings = ConsumerTimings(max_poll_interval_ms=900_000, assign_ms=3_600_000)
    begins = ConsumerEvent(1, "start", "new", settings=ConsumerSettings(("topic0",), ("sticky",), "new"))
    return ConsumerEpisode(
        "sticky-still", _topics(**dict.fromkeys(topics, 12)), consumers, timings, present, (begins,),
        until_ms=46 * _MINUTE_MS,
    )  # fmt: skip


def _replica_set() -> ConsumerEpisode:
    same = ConsumerSettings(("orders",), instance_id="orders-app")
    second = ConsumerEvent(5_000, "start", "replica-2", settings=same)
    return ConsumerEpisode(
        "fenced-replicas", _topics(orders=12), {"replica-1": same}, events=(second,), until_ms=10 * _MINUTE_MS,
        restarts_fenced=True,
    )  # fmt: skip


_KARAFKA = "https://karafka.io/docs/Kafka-New-Rebalance-Protocol"

CONSUMER_EPISODES: Mapping[str, NamedConsumerEpisode] = {
    each.name: each
    for each in (
        NamedConsumerEpisode(
            "karafka-900-partitions-consumer", "900 partitions are added to 10 consumers of KIP-848", _KARAFKA,
            "the rebalance takes 5 s", 5.0, "s until all are polled", _until_all_polled, lambda: _grown(CONSUMER),
        ),
        NamedConsumerEpisode(
            "karafka-900-partitions-classic", "900 partitions are added to 10 classic consumers", _KARAFKA,
            "the rebalance takes 103 s", 103.0, "s until all are polled", _until_all_polled, lambda: _grown(CLASSIC),
            "when the leader reads the topic's metadata again: at any time within 300 s",
        ),
        NamedConsumerEpisode(
            "sticky-loop", "a cooperative assignor finds no balance and moves a partition in every rebalance",
            "https://github.com/apache/kafka/pull/13920", "at least 200 rebalances in 10 minutes, one each 3 s", 200.0,
            "rebalances", _rebalances, _loop, decide=_goes_round,
        ),
        NamedConsumerEpisode(
            "uneven-by-topic", "9 consumers of 2 topics with 18 partitions start one by one, cooperative-sticky",
            "https://github.com/confluentinc/librdkafka/issues/4044",
            "members hold unequal numbers of each topic's partitions (an even share is 2)", 3.0,
            "partitions of one topic on a consumer or more", _uneven, _uneven_topics,
        ),
        NamedConsumerEpisode(
            "sticky-still", "84 members of 7 topics rebalance, and the leader's assignor does not answer",
            "https://github.com/aio-libs/aiokafka/issues/1176", "no record for about 45 minutes", 45.0,
            "minutes or more", _still_minutes, _still,
        ),
        NamedConsumerEpisode(
            "fenced-replicas", "a ReplicaSet gives two pods one group.instance.id",
            "https://github.com/bitnami/charts/issues/3141", "pods fence one another again and again", 2.0,
            "fencings in 10 minutes or more", _fenced, _replica_set,
        ),
    )
}  # fmt: skip
