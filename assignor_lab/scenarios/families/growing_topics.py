"""Topics with additional partitions, the only growth of a Streams group's tasks.

Brokers refuse another topology in a non-empty group (Kafka 4.4: "Topology updates are not supported yet"). If a source
topic grows, its sub-topology has more tasks, but changelogs do not grow with it. So only stateless sub-topologies grow;
a group without any gets one.
"""

from __future__ import annotations

import attrs

from assignor_lab.scenarios.families.draws import Draws
from assignor_lab.scenarios.families.events import DrawnMembership
from assignor_lab.scenarios.families.schedules import FIRST_EVENT, ScheduledStep
from assignor_lab.scenarios.families.shape import GroupShape, SubTopology
from assignor_lab.scenarios.families.sizes import draw_partitions
from assignor_lab.scenarios.state_parts import StateTask

__all__ = ["growing_topics", "partitions_that_come_later", "with_growing_topics"]

#: Later partitions are separate sub-topologies in the group's plan, with numbers from here on.
_LATER = 1_000


def with_growing_topics(draws: Draws, group: GroupShape) -> GroupShape:
    plain = {item.number: item for item in group.subtopology_of if not item.changelogs}
    if not plain:
        number = max(item.number for item in group.subtopology_of) + 1
        partitions = draw_partitions(draws, min(group.clients, 16), 1)
        plain[number] = SubTopology(number, partitions, (f"topic-{number}",), (), (), draws.spread(1, 2_000), 0)
        group = _with(group, plain[number], number, 0)
    for number, item in plain.items():
        more = item.partitions * draws.pick((3, 4)) // 2 if item.partitions > 1 else 2
        later = attrs.evolve(item, number=_LATER + number, partitions=more)
        group = _with(group, later, number, item.partitions)
    return group


def _with(group: GroupShape, item: SubTopology, number: int, first: int) -> GroupShape:
    """The group with the partitions of ``item`` from ``first`` on, as tasks of sub-topology ``number``."""
    new = [
        StateTask(f"{number}_{partition}", stateful=False, logged=False, stores=(), partitions=())
        for partition in range(first, item.partitions)
    ]
    rates = [group.rate(task) for task in range(len(group.tasks))]
    return attrs.evolve(
        group,
        tasks=[*group.tasks, *new],
        subtopology_of=[*group.subtopology_of, *([item] * len(new))],
        rates=[*rates, *([item.writes_per_s] * len(new))],
    )


def partitions_that_come_later(group: GroupShape) -> list[int]:
    """Their numbers in the group's plan, to be hidden until they exist."""
    return sorted({item.number for item in group.subtopology_of if item.number >= _LATER})


def growing_topics(group: GroupShape, draws: Draws) -> ScheduledStep:
    """All topics grow in one round, or one in this and the others in the next round."""
    later = partitions_that_come_later(group)
    second = frozenset(later[1:]) if draws.percent(50) else frozenset[int]()

    def happen(number: int, _membership: DrawnMembership) -> frozenset[int]:
        if number < FIRST_EVENT:
            return frozenset(later)
        return second if number == FIRST_EVENT else frozenset()

    return happen
