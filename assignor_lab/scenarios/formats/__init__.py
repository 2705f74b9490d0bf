"""The shapes of the documents of each kind."""

from assignor_lab.scenarios.formats.other_kinds import (
    check_connect,
    check_connect_episode,
    check_streams_episode,
    check_streams_group,
)
from assignor_lab.scenarios.formats.streams import read_streams

__all__ = ["check_connect", "check_connect_episode", "check_streams_episode", "check_streams_group", "read_streams"]
