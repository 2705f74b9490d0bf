"""The families of Streams groups by event (docs, "Generated groups")."""

from __future__ import annotations

from collections.abc import Mapping

from assignor_lab.scenarios.families.blueprint import Blueprint, draw_blueprint
from assignor_lab.scenarios.families.draws import DrawnFamily, Draws
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

__all__ = ["drawn"]

_WITH_STANDBYS = ((20, 0), (50, 1), (30, 2))
_ANY_STRATEGY = ((70, "none"), (20, "min_traffic"), (10, "balance_subtopology"))


_FAMILIES: Mapping[str, tuple[Blueprint, Schedule]] = {
    "steady_state": (Blueprint(), nothing),
    "scale_out": (Blueprint(), scaling_out),
    "scale_in": (Blueprint(), scaling_in),
    "rolling_restart": (Blueprint(), restarting(4)),
    "rack_loss": (Blueprint(racks=100, tags=60, standbys=_WITH_STANDBYS, strategies=_ANY_STRATEGY), losing_a_rack),
    "topology_growth": (Blueprint(added=3, named=25), growing_topology),
    "skewed_workloads": (Blueprint(skewed=True), join_and_leave),
    "mixed_threads": (Blueprint(mixed_threads=100), join_and_leave),
    "client_tags": (Blueprint(tags=100, tag_gaps=4, standbys=_WITH_STANDBYS), join_and_leave),
    "racks_partly_missing": (
        Blueprint(racks=100, rackless_clients=8, rackless_partitions=4, strategies=_ANY_STRATEGY),
        join_and_leave,
    ),
}


def drawn(name: str, _kind: str, rounds: int) -> DrawnFamily:
    """The family of that name."""
    if name == "adversarial":
        return DrawnFamily(drawn_once(lambda seed: adversarial_history(seed, rounds)))
    blueprint, schedule = _FAMILIES[name]

    def history(seed: int) -> StreamsFamilyHistory:
        group = draw_blueprint(Draws(name, seed, "group"), blueprint)
        return StreamsFamilyHistory(
            f"{name}-{seed}", group, run_schedule(group, Draws(name, seed, "events"), rounds, schedule)
        )

    # The number of clients is the first draw of a group.
    return DrawnFamily(drawn_once(history), lambda seed: work_with(draw_clients(Draws(name, seed, "group"))))
