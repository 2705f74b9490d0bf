"""The metrics of an answer to a Streams group: the shared ones, and those of brokers' groups alone."""

from assignor_lab.groups.metrics.balance import ON_PROCESSES
from assignor_lab.groups.metrics.definition import plugins_of
from assignor_lab.groups.metrics.life_cycle import LIFE_CYCLE
from assignor_lab.groups.metrics.movement import MOVEMENT
from assignor_lab.groups.metrics.spread import BY_TAGS, replicas_in_one_rack
from assignor_lab.groups.streams_group.metrics.balance import ON_MEMBERS
from assignor_lab.groups.streams_group.metrics.coverage import COVERAGE
from assignor_lab.groups.streams_group.metrics.movement import BY_MEMBERS
from assignor_lab.groups.streams_group.placement import placement_of

__all__ = ["GROUP_METRICS"]

GROUP_METRICS = plugins_of(
    (
        *MOVEMENT,
        *BY_MEMBERS,
        *BY_TAGS,
        replicas_in_one_rack,
        *ON_MEMBERS,
        *ON_PROCESSES,
        *COVERAGE,
        *LIFE_CYCLE,
    ),
    placement_of,
    "streams-group",
)
