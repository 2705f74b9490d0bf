"""Cluster files of a recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import attrs

from assignor_lab.capture.live.cluster import DESCRIBE_STREAMS_GROUP, ConnectedCluster
from assignor_lab.capture.live.errors import LiveClusterError
from assignor_lab.capture.live.group_recording import GroupRecording
from assignor_lab.scenarios.settings import group_settings

__all__ = ["ClusterFiles"]

#: Time between two reads: with new records, and without.
_WITH_NEWS_S, _CALM_S = 2.0, 30.0


@attrs.define
class ClusterFiles:
    """Writes the cluster's metadata beside the records of each group, so that a killed recording has it, too.

    Args:
        groups: The caller may add others later.
        on_trouble: Called once if the cluster does not respond; the recording continues.
    """

    cluster: ConnectedCluster
    groups: Mapping[str, GroupRecording]
    on_trouble: Callable[[str], None] = lambda _: None
    _latest: float = -float("inf")
    _in_trouble: bool = False

    def write_if_due(self, *, has_news: bool) -> None:
        if time.monotonic() - self._latest >= (_WITH_NEWS_S if has_news else _CALM_S):
            self.write()

    def write(self) -> None:
        self._latest = time.monotonic()
        try:
            topics = self.cluster.topics()
            version = self.cluster.latest_version(DESCRIBE_STREAMS_GROUP)
            release = self.cluster.release()
            known = {each.id for each in self.cluster.groups()} | {each.original for each in self.groups.values()}
            streams = [each.original for each in self.groups.values() if each.history.is_streams]
            configs = self.cluster.group_configs(streams)
        except LiveClusterError as error:
            if not self._in_trouble:
                self.on_trouble(f"racks and topics are not up to date: {error}")
            self._in_trouble = True
            return
        self._in_trouble = False
        for each in self.groups.values():
            if each.is_there:
                settings = group_settings(configs.get(each.original, {}))
                each.write_cluster(topics, known, version, settings, release)
