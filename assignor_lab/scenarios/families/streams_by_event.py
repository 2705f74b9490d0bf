"""The families of Streams groups by event (docs, "Generated groups")."""

from __future__ import annotations

from collections.abc import Callable

from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios.families.blueprint import Blueprint, draw_blueprint
from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.schedules import (
    Schedule,
    growing_topology,
    join_and_leave,
    losing_a_rack,
    nothing,
    restarting,
    run_schedule,
    scaling_in,
    scaling_out,
)
from assignor_lab.scenarios.families.sizes import draw_clients, work_with
from assignor_lab.scenarios.families.streams_history import StreamsFamilyHistory, drawn_once
from assignor_lab.scenarios.families.streams_traps import adversarial_history

__all__ = ["EVENT_FAMILIES"]

_WITH_STANDBYS = ((20, 0), (50, 1), (30, 2))
_ANY_STRATEGY = ((70, "none"), (20, "min_traffic"), (10, "balance_subtopology"))


def _family(name: str, summary: str, rounds: int, blueprint: Blueprint, schedule: Schedule) -> ScenarioFamily:
    return ScenarioFamily(
        name,
        summary,
        rounds,
        drawn_once(_history_of(name, rounds, blueprint, schedule)),
        # The number of clients is the first draw of a group.
        lambda seed: work_with(draw_clients(Draws(name, seed, "group"))),
    )


def _history_of(
    name: str, rounds: int, blueprint: Blueprint, schedule: Schedule
) -> Callable[[int], StreamsFamilyHistory]:
    def history(seed: int) -> StreamsFamilyHistory:
        group = draw_blueprint(Draws(name, seed, "group"), blueprint)
        return StreamsFamilyHistory(
            f"{name}-{seed}", group, run_schedule(group, Draws(name, seed, "events"), rounds, schedule)
        )

    return history


EVENT_FAMILIES: tuple[ScenarioFamily, ...] = (
    _family("steady_state", "A calm group: only probing rebalances.", 4, Blueprint(), nothing),
    _family("scale_out", "Instances join a settled group, at most as many again.", 8, Blueprint(), scaling_out),
    _family("scale_in", "Up to half of the instances leave a settled group for good.", 6, Blueprint(), scaling_in),
    _family(
        "rolling_restart",
        "All instances restart in four parts, some groups without persistent disks.",
        8,
        Blueprint(),
        restarting(4),
    ),
    _family(
        "rack_loss",
        "All instances of a rack fail at once and return later.",
        8,
        Blueprint(racks=100, tags=60, standbys=_WITH_STANDBYS, strategies=_ANY_STRATEGY),
        losing_a_rack,
    ),
    _family(
        "topology_growth",
        "A new version of the application brings one to three further sub-topologies.",
        6,
        Blueprint(added=3, named=25),
        growing_topology,
    ),
    _family(
        "skewed_workloads",
        "A few tasks do most of the work and hold most of the state.",
        6,
        Blueprint(skewed=True),
        join_and_leave,
    ),
    _family(
        "mixed_threads",
        "Instances of 1 to 32 threads; one joins, one crashes and returns.",
        6,
        Blueprint(mixed_threads=100),
        join_and_leave,
    ),
    _family(
        "client_tags",
        "Client tags on all instances, some with gaps; one joins, one crashes and returns.",
        6,
        Blueprint(tags=100, tag_gaps=4, standbys=_WITH_STANDBYS),
        join_and_leave,
    ),
    _family(
        "racks_partly_missing",
        "Some clients and some partitions have no rack.",
        6,
        Blueprint(racks=100, rackless_clients=8, rackless_partitions=4, strategies=_ANY_STRATEGY),
        join_and_leave,
    ),
    ScenarioFamily(
        "adversarial",
        "Groups at known weak spots: equal lags, edges of limits, one huge client, hash orders and more.",
        5,
        drawn_once(lambda seed: adversarial_history(seed, 5)),
    ),
)
