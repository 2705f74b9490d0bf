"""Families of generated scenarios, which are determined by a seed.

This is their catalogue; the module of a family is imported with its first history, so that listing families is cheap.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from assignment_api.plugins.entries import History, ScenarioFamily

if TYPE_CHECKING:
    from assignor_lab.scenarios.families.draws import DrawnFamily

__all__ = [
    "CONNECT_FAMILIES",
    "CONSUMER_FAMILIES",
    "EPISODE_FAMILIES",
    "EVENT_FAMILIES",
    "STREAMS_GROUP_FAMILIES",
    "streams_4x40",
    "streams_histories",
]


class _Later:
    """The functions of a family, from ``drawn`` of its module."""

    def __init__(self, module: str, *words: Any) -> None:
        self._module, self._words = module, words

    @cached_property
    def _drawn(self) -> DrawnFamily:
        drawn: DrawnFamily = import_module(f"{__name__}.{self._module}").drawn(*self._words)
        return drawn

    def history(self, seed: int) -> History[Any]:
        return self._drawn.history(seed)

    def size(self, seed: int) -> float:
        size = self._drawn.size
        return 1.0 if size is None else size(seed)


def _families(
    module: str, kind: str, *rows: tuple[str, int, str], is_even: bool = False, options: tuple[str, ...] = ()
) -> tuple[ScenarioFamily, ...]:
    """Families of a module from their names, rounds and summaries; the seeds of even ones need about equal work."""

    def family(name: str, rounds: int, summary: str) -> ScenarioFamily:
        later = _Later(module, name, kind, rounds, *options)
        size = None if is_even else later.size
        return ScenarioFamily(name, summary, rounds, later.history, size, kind)  # type: ignore[arg-type]

    return tuple(family(*row) for row in rows)


def streams_histories(strategy: str = "none") -> ScenarioFamily:
    """Groups of all sizes that grow, shrink, crash and return.

    Args:
        strategy: Value of ``rack.aware.assignment.strategy`` in every state.
    """
    summary = "Streams groups of realistic sizes over 8 rounds of joins, leaves, crashes and returns."
    (family,) = _families("streams_histories", "streams", ("streams_histories", 8, summary), options=(strategy,))
    return family


def streams_4x40(strategy: str = "none") -> ScenarioFamily:
    """Groups of exactly 4 clients and 40 tasks in every round, for figures that must not depend on size.

    Args:
        strategy: Value of ``rack.aware.assignment.strategy`` in every state.
    """
    summary = "Streams groups of 4 clients and 40 tasks over 8 rounds of replacements, restarts and lost disks."
    row = ("streams_4x40", 8, summary)
    (family,) = _families("streams_histories", "streams", row, options=(strategy,), is_even=True)
    return family


EVENT_FAMILIES = (
    *_families(
        "streams_by_event", "streams",
        ("steady_state", 4, "A calm group: only probing rebalances."),
        ("scale_out", 8, "Instances join a settled group, at most as many again."),
        ("scale_in", 6, "Up to half of the instances leave a settled group for good."),
        ("rolling_restart", 8, "All instances restart in four parts, some groups without persistent disks."),
        ("rack_loss", 8, "All instances of a rack fail at once and return later."),
        ("topology_growth", 6, "A new version of the application brings one to three further sub-topologies."),
        ("skewed_workloads", 6, "A few tasks do most of the work and hold most of the state."),
        ("mixed_threads", 6, "Instances of 1 to 32 threads; one joins, one crashes and returns."),
        ("client_tags", 6, "Client tags on all instances, some with gaps; one joins, one crashes and returns."),
        ("racks_partly_missing", 6, "Some clients and some partitions have no rack."),
    ),
    *_families(
        "streams_by_event", "streams",
        ("adversarial", 5, "Groups at known weak spots: equal lags, edges of limits, one huge client, hash "
         "orders and more."),
        is_even=True,
    ),
)  # fmt: skip

EPISODE_FAMILIES = _families(
    "streams_episodes", "streams-episode",
    ("episode_rolling_restart", 1, "One instance after the other is restarted."),
    ("episode_static_rolling_restart", 1, "The same for static members."),
    ("episode_crash", 1, "An instance is killed, and in most groups comes back."),
    ("episode_scale_out", 1, "Up to half as many further instances start at once."),
    ("episode_scale_in", 1, "Up to half of the instances are closed, and leave or do not."),
    ("episode_lost_zone", 1, "All instances of a rack are killed, and in most groups come back."),
    ("episode_lost_disks", 1, "One or two instances are killed and come back without their disks."),
    ("episode_slow_joiners", 1, "Instances are started one after the other, 20 s or more apart."),
    ("episode_steady", 1, "An instance has joined, and no other event follows: the group probes."),
)  # fmt: skip

STREAMS_GROUP_FAMILIES = (
    *_families(
        "streams_groups", "streams-group",
        ("group_histories", 8, "Broker-assigned groups of realistic sizes, with joins, leaves, crashes and returns."),
        ("group_steady_state", 5, "A calm group is assigned again."),
        ("group_scale_out", 7, "Instances join a settled group, at most as many again."),
        ("group_scale_in", 6, "Up to half of the instances leave a settled group for good."),
        ("group_rolling_restart", 8, "All instances restart in four parts; half of the groups have static members."),
        ("group_full_restart", 6, "The whole application is stopped and started again: no targets are left, only "
         "state on disks."),
        ("group_zone_loss", 8, "All instances of a zone fail at once and return later."),
        ("group_growing_topics", 6, "Source topics of sub-topologies without state are given more partitions."),
        ("group_mixed_processes", 7, "Processes of 1 to 32 members; one joins, one crashes and returns."),
        ("group_client_tags", 7, "Client tags on all instances, some with gaps; one joins, one crashes and returns."),
    ),
    *_families(
        "streams_groups", "streams-group",
        ("group_adversarial", 6, "Groups at known weak spots of the brokers' sticky assignor: shared quotas, "
         "overlooked standbys and more."),
        is_even=True,
    ),
)  # fmt: skip

CONNECT_FAMILIES = _families(
    "connect_groups", "connect",
    ("connect_histories", 11, "Connect groups whose workers and connectors come and go."),
    ("connect_scale_out", 11, "Connect groups that workers join, up to a third as many at a time."),
    ("connect_rolling_restart", 11, "Connect groups whose workers restart, a third at a time."),
    ("connect_reconfiguration", 11, "Connect groups whose connectors are created, deleted and given other numbers "
     "of tasks."),
    is_even=True,
)  # fmt: skip

CONSUMER_FAMILIES = (
    *_families(
        "consumer_groups", "consumer",
        ("consumer_histories", 10, "Consumer groups with joins, leaves, restarts and growing topics."),
        ("consumer_scale_out", 10, "Members join, up to half as many again at a time."),
        ("consumer_rolling_restart", 10, "Members restart, a third at a time; half of the groups are static."),
        ("consumer_unequal_subscriptions", 10, "Half of the members subscribe some of the topics only."),
        ("consumer_racks", 10, "Members and replicas are in two or three racks."),
        is_even=True,
    ),
    *_families(
        "consumer_groups", "consumer-group",
        ("consumer_group_histories", 10, "Groups of KIP-848 with joins, leaves, restarts and growing topics."),
        ("consumer_group_rolling_restart", 10, "Members of groups of KIP-848 restart, a third at a time; half of "
         "the groups are static."),
        is_even=True,
    ),
    *_families(
        "consumer_groups", "share-group",
        ("share_group_histories", 10, "Share groups with joins, leaves, restarts and growing topics."),
        is_even=True,
    ),
)  # fmt: skip
