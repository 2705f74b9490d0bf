"""The families of Streams groups of the streams protocol, by event (docs, "Generated groups")."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignor_lab.scenarios.families.blueprint import Blueprint, draw_blueprint
from assignor_lab.scenarios.families.draws import DrawnFamily, Draws
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

__all__ = ["drawn"]

_WITH_STANDBYS = ((20, 0), (50, 1), (30, 2))
#: Percentage of groups whose members have a ``group.instance.id``.
_STATIC = 25


@attrs.frozen
class _Events:
    blueprint: Blueprint
    schedule: Schedule
    static: int = _STATIC
    topics_grow: bool = False


_FAMILIES: Mapping[str, _Events] = {
    "group_histories": _Events(Blueprint(), random_events()),
    "group_steady_state": _Events(Blueprint(), nothing),
    "group_scale_out": _Events(Blueprint(), scaling_out),
    "group_scale_in": _Events(Blueprint(), scaling_in),
    "group_rolling_restart": _Events(Blueprint(), restarting(4), static=50),
    "group_full_restart": _Events(Blueprint(), everybody_restarts, static=0),
    "group_zone_loss": _Events(Blueprint(racks=100, tags=60, standbys=_WITH_STANDBYS), losing_a_rack),
    "group_growing_topics": _Events(Blueprint(), growing_topics, topics_grow=True),
    "group_mixed_processes": _Events(Blueprint(mixed_threads=100), join_and_leave),
    "group_client_tags": _Events(Blueprint(tags=100, tag_gaps=4, standbys=_WITH_STANDBYS), join_and_leave),
}


def drawn(name: str, _kind: str, rounds: int) -> DrawnFamily:
    """The family of that name."""
    if name == "group_adversarial":
        return DrawnFamily(drawn_once(lambda seed: trap_history(seed, rounds)))
    events = _FAMILIES[name]

    def history(seed: int) -> StreamsGroupHistory:
        draws = Draws(name, seed, "group")
        group = draw_blueprint(draws, events.blueprint)
        if events.topics_grow:
            group = with_growing_topics(draws, group)
        steps = run_schedule(group, Draws(name, seed, "events"), rounds, events.schedule)
        is_static = Draws(name, seed, "members").percent(events.static)
        return StreamsGroupHistory(f"{name}-{seed}", as_brokers_have_it(group), steps, is_static=is_static)

    # The number of clients is the first draw of a group.
    return DrawnFamily(drawn_once(history), lambda seed: work_with(draw_clients(Draws(name, seed, "group"))))
