"""Families of generated scenarios, which are determined by a seed."""

from assignor_lab.scenarios.families.connect_groups import CONNECT_FAMILIES
from assignor_lab.scenarios.families.consumer_groups import CONSUMER_FAMILIES
from assignor_lab.scenarios.families.streams_by_event import EVENT_FAMILIES
from assignor_lab.scenarios.families.streams_episodes import EPISODE_FAMILIES
from assignor_lab.scenarios.families.streams_groups import STREAMS_GROUP_FAMILIES
from assignor_lab.scenarios.families.streams_histories import streams_4x40, streams_histories

__all__ = [
    "CONNECT_FAMILIES",
    "CONSUMER_FAMILIES",
    "EPISODE_FAMILIES",
    "EVENT_FAMILIES",
    "STREAMS_GROUP_FAMILIES",
    "streams_4x40",
    "streams_histories",
]
