"""The families of Streams groups of the streams protocol, by event (docs, "Generated groups")."""

from __future__ import annotations

from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios.families.blueprint import Blueprint, draw_blueprint
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.growing_topics import growing_topics, with_growing_topics
from assignor_lab.scenarios.families.schedules import (
    Schedule,
    everybody_restarts,
    join_and_leave,
    losing_a_rack,
    nothing,
    random_events,
    restarting,
    run_schedule,
    scaling_in,
    scaling_out,
)
from assignor_lab.scenarios.families.sizes import draw_clients, work_with
from assignor_lab.scenarios.families.streams_group_history import StreamsGroupHistory, as_brokers_have_it
from assignor_lab.scenarios.families.streams_group_traps import trap_history
from assignor_lab.scenarios.families.streams_history import drawn_once

__all__ = ["STREAMS_GROUP_FAMILIES"]

_WITH_STANDBYS = ((20, 0), (50, 1), (30, 2))
#: Percentage of groups whose members have a ``group.instance.id``.
_STATIC = 25


def _family(
    name: str,
    summary: str,
    rounds: int,
    blueprint: Blueprint,
    schedule: Schedule,
    *,
    static: int = _STATIC,
    topics_grow: bool = False,
) -> ScenarioFamily:
    def history(seed: int) -> StreamsGroupHistory:
        draws = Draws(name, seed, "group")
        group = draw_blueprint(draws, blueprint)
        if topics_grow:
            group = with_growing_topics(draws, group)
        steps = run_schedule(group, Draws(name, seed, "events"), rounds, schedule)
        is_static = Draws(name, seed, "members").percent(static)
        return StreamsGroupHistory(f"{name}-{seed}", as_brokers_have_it(group), steps, is_static=is_static)

    return ScenarioFamily(
        name,
        summary,
        rounds,
        drawn_once(history),
        # The number of clients is the first draw of a group.
        lambda seed: work_with(draw_clients(Draws(name, seed, "group"))),
        kind="streams-group",
    )


STREAMS_GROUP_FAMILIES: tuple[ScenarioFamily, ...] = (
    _family(
        "group_histories",
        "Broker-assigned groups of realistic sizes, with joins, leaves, crashes and returns.",
        8,
        Blueprint(),
        random_events(),
    ),
    _family("group_steady_state", "A calm group is assigned again.", 5, Blueprint(), nothing),
    _family("group_scale_out", "Instances join a settled group, at most as many again.", 7, Blueprint(), scaling_out),
    _family(
        "group_scale_in", "Up to half of the instances leave a settled group for good.", 6, Blueprint(), scaling_in
    ),
    _family(
        "group_rolling_restart",
        "All instances restart in four parts; half of the groups have static members.",
        8,
        Blueprint(),
        restarting(4),
        static=50,
    ),
    _family(
        "group_full_restart",
        "The whole application is stopped and started again: no targets are left, only state on disks.",
        6,
        Blueprint(),
        everybody_restarts,
        static=0,
    ),
    _family(
        "group_zone_loss",
        "All instances of a zone fail at once and return later.",
        8,
        Blueprint(racks=100, tags=60, standbys=_WITH_STANDBYS),
        losing_a_rack,
    ),
    _family(
        "group_growing_topics",
        "Source topics of sub-topologies without state are given more partitions.",
        6,
        Blueprint(),
        growing_topics,
        topics_grow=True,
    ),
    _family(
        "group_mixed_processes",
        "Processes of 1 to 32 members; one joins, one crashes and returns.",
        7,
        Blueprint(mixed_threads=100),
        join_and_leave,
    ),
    _family(
        "group_client_tags",
        "Client tags on all instances, some with gaps; one joins, one crashes and returns.",
        7,
        Blueprint(tags=100, tag_gaps=4, standbys=_WITH_STANDBYS),
        join_and_leave,
    ),
    ScenarioFamily(
        "group_adversarial",
        "Groups at known weak spots of the brokers' sticky assignor: shared quotas, overlooked standbys and more.",
        6,
        drawn_once(lambda seed: trap_history(seed, 6)),
        kind="streams-group",
    ),
)
