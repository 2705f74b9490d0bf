"""Plugin of the built-ins, which uses the same hooks as any other plugin.

An algorithm is imported when one of its assignors is created, so that listing plugins is cheap.
"""

from __future__ import annotations

from assignment_api import connect, consumer, group
from assignment_api.plugins import (
    ConnectAssignorPlugin,
    GroupAssignorPlugin,
    PartitionAssignorPlugin,
    Setting,
    TaskAssignorPlugin,
    hookimpl,
)
from assignment_api.releases import KafkaRelease, release_named
from builtin_assignors.streams_catalogue import TASK_ASSIGNORS

__all__ = [
    "assignor_lab_connect_assignors",
    "assignor_lab_consumer_assignors",
    "assignor_lab_consumer_group_assignors",
    "assignor_lab_group_assignors",
    "assignor_lab_share_group_assignors",
    "assignor_lab_task_assignors",
]

_COORDINATOR = "org.apache.kafka.coordinator.group.assignor"


@hookimpl
def assignor_lab_task_assignors() -> list[TaskAssignorPlugin]:
    """Kafka's own assignors, Kafka's default first."""
    return [
        TaskAssignorPlugin(
            name=each.name,
            aliases=each.aliases,
            factory=each.create,
            java_classes=each.java_classes,
            summary=each.summary,
            settings=each.settings,
            at_release=each.create_at if each.has_releases else None,
        )
        for each in TASK_ASSIGNORS
    ]


@hookimpl
def assignor_lab_connect_assignors() -> list[ConnectAssignorPlugin]:
    """Kafka's two assignors for Connect, and the one that KIP-987 proposes."""
    return [
        ConnectAssignorPlugin(
            name="connect_incremental",
            factory=_connect_incremental,
            protocols=("compatible", "sessioned", "static"),
            summary="Kafka Connect's default: workers keep their jobs, and lost jobs wait for their workers (KIP-415).",
        ),
        ConnectAssignorPlugin(
            name="connect_eager",
            factory=_connect_eager,
            protocols=("eager",),
            summary="Kafka Connect before 2.3: everything stops, and all jobs are dealt in turn.",
            settings=(
                Setting(
                    "assignor.connect_eager.downgrade",
                    "text",
                    "kafka",
                    "First eager round after an incremental one: kafka assigns, kip415 revokes all jobs first.",
                ),
            ),
        ),
        ConnectAssignorPlugin(
            name="connect_static",
            factory=_connect_static,
            protocols=("compatible", "sessioned", "static"),
            summary="Jobs that workers list for themselves (KIP-987); the default assignor places the rest.",
        ),
    ]


@hookimpl
def assignor_lab_consumer_assignors() -> list[PartitionAssignorPlugin]:
    """Kafka's client-side assignors, in the order of its documentation."""
    package = "org.apache.kafka.clients.consumer"
    return [
        PartitionAssignorPlugin(
            name="consumer_range",
            factory=_consumer_range,
            aliases=("range", "RangeAssignor"),
            java_classes=(f"{package}.RangeAssignor",),
            protocols=("eager",),
            summary="The consumer's default: each topic in contiguous ranges, near racks first (KIP-881).",
        ),
        PartitionAssignorPlugin(
            name="consumer_roundrobin",
            factory=_consumer_roundrobin,
            aliases=("roundrobin", "RoundRobinAssignor"),
            java_classes=(f"{package}.RoundRobinAssignor",),
            protocols=("eager",),
            summary="All partitions dealt in turn to the members.",
        ),
        PartitionAssignorPlugin(
            name="consumer_sticky",
            factory=_consumer_sticky,
            aliases=("sticky", "StickyAssignor"),
            java_classes=(f"{package}.StickyAssignor",),
            protocols=("eager",),
            summary="Even numbers, members keep what they had; everything stops meanwhile (KIP-54).",
        ),
        PartitionAssignorPlugin(
            name="consumer_cooperative_sticky",
            factory=_consumer_cooperative_sticky,
            aliases=("cooperative-sticky", "CooperativeStickyAssignor"),
            java_classes=(f"{package}.CooperativeStickyAssignor",),
            protocols=("cooperative", "eager"),
            summary="The same, and only partitions that move stop, in two rebalances (KIP-429).",
        ),
    ]


@hookimpl
def assignor_lab_consumer_group_assignors() -> list[PartitionAssignorPlugin]:
    """The brokers' assignors for consumer groups (KIP-848), Kafka's default first."""
    return [
        PartitionAssignorPlugin(
            name="consumer_group_uniform",
            factory=_consumer_group_uniform,
            aliases=("uniform", "UniformAssignor"),
            java_classes=(f"{_COORDINATOR}.UniformAssignor",),
            summary="The brokers' default for consumer groups (KIP-848): even shares, partitions stay if they fit.",
        ),
        PartitionAssignorPlugin(
            name="consumer_group_range",
            factory=_consumer_group_range,
            aliases=("range", "RangeAssignor"),
            java_classes=(f"{_COORDINATOR}.RangeAssignor",),
            summary="The brokers' range assignor for consumer groups (KIP-848): contiguous ranges of each topic.",
        ),
    ]


@hookimpl
def assignor_lab_share_group_assignors() -> list[PartitionAssignorPlugin]:
    """The brokers' only assignor for share groups (KIP-932)."""
    return [
        PartitionAssignorPlugin(
            name="share_simple",
            factory=_share_simple,
            aliases=("simple", "SimpleAssignor"),
            java_classes=(f"{_COORDINATOR}.SimpleAssignor",),
            summary="The brokers' assignor for share groups (KIP-932): even shares of shared partitions.",
        ),
    ]


@hookimpl
def assignor_lab_group_assignors() -> list[GroupAssignorPlugin]:
    """Kafka's only broker-side assignor, under its own name and as Kafka 4.4 decides."""
    return [
        GroupAssignorPlugin(
            name="group_sticky",
            factory=_group_sticky,
            summary="The brokers' sticky assignor for Streams groups (KIP-1071).",
            at_release=_group_sticky,
        ),
        GroupAssignorPlugin(
            name="group_sticky_4_4",
            factory=_group_sticky_4_4,
            summary="The same as Kafka 4.4 decides: members that report offsets keep their state (KIP-1357).",
        ),
    ]


def _group_sticky(release: KafkaRelease | None = None) -> group.TaskAssignor:
    from builtin_assignors.group_sticky import GroupStickyTaskAssignor

    return GroupStickyTaskAssignor(release)


def _group_sticky_4_4() -> group.TaskAssignor:
    return _group_sticky(release_named("4.4"))


def _consumer_range() -> consumer.ConsumerPartitionAssignor:
    from builtin_assignors.consumer_range import RangeAssignor

    return RangeAssignor()


def _consumer_roundrobin() -> consumer.ConsumerPartitionAssignor:
    from builtin_assignors.consumer_roundrobin import RoundRobinAssignor

    return RoundRobinAssignor()


def _consumer_sticky() -> consumer.ConsumerPartitionAssignor:
    from builtin_assignors.consumer_sticky import StickyAssignor

    return StickyAssignor()


def _consumer_cooperative_sticky() -> consumer.ConsumerPartitionAssignor:
    from builtin_assignors.consumer_cooperative_sticky import CooperativeStickyAssignor

    return CooperativeStickyAssignor()


def _consumer_group_uniform() -> consumer.ConsumerGroupPartitionAssignor:
    from builtin_assignors.consumer_group_uniform import ConsumerGroupUniformAssignor

    return ConsumerGroupUniformAssignor()


def _consumer_group_range() -> consumer.ConsumerGroupPartitionAssignor:
    from builtin_assignors.consumer_group_range import ConsumerGroupRangeAssignor

    return ConsumerGroupRangeAssignor()


def _share_simple() -> consumer.ShareGroupPartitionAssignor:
    from builtin_assignors.share_simple import ShareSimpleAssignor

    return ShareSimpleAssignor()


def _connect_incremental() -> connect.ConnectAssignor:
    from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor

    return IncrementalCooperativeAssignor()


def _connect_eager() -> connect.ConnectAssignor:
    from builtin_assignors.connect_eager import EagerAssignor

    return EagerAssignor()


def _connect_static() -> connect.ConnectAssignor:
    from builtin_assignors.connect_static import StaticConnectAssignor

    return StaticConnectAssignor()
