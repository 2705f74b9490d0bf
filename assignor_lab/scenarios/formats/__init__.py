"""The shapes of the documents of each kind."""

from assignor_lab.scenarios.formats.connect import read_connect
from assignor_lab.scenarios.formats.other_kinds import check_connect_episode, check_streams_episode
from assignor_lab.scenarios.formats.streams import read_streams
from assignor_lab.scenarios.formats.streams_group import read_streams_group

__all__ = ["check_connect_episode", "check_streams_episode", "read_connect", "read_streams", "read_streams_group"]
