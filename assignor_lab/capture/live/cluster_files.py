"""Files of a recording about the cluster: racks, topics and versions, written at once and kept up to date."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import attrs

from assignor_lab.capture.live.cluster import DESCRIBE_STREAMS_GROUP, Cluster
from assignor_lab.capture.live.errors import LiveClusterError
from assignor_lab.capture.live.group_recording import GroupRecording

__all__ = ["ClusterFiles"]

#: Seconds between two looks at the cluster: with new records, and without.
_WITH_NEWS_S, _CALM_S = 2.0, 30.0


@attrs.define
class ClusterFiles:
    """Writes what the cluster reports beside the records of each group, so that a killed recording has it, too.

    Args:
        cluster: The cluster.
        groups: The groups; others may be added later.
        on_trouble: Called once with the reason if the cluster does not answer; the recording continues.
    """

    cluster: Cluster
    groups: Mapping[str, GroupRecording]
    on_trouble: Callable[[str], None] = lambda _: None
    _latest: float = -float("inf")
    _in_trouble: bool = False

    def write_if_due(self, *, has_news: bool) -> None:
        """Writes the files if it is time.

        Raises:
            OutputFileError: if one cannot be written.
        """
        if time.monotonic() - self._latest >= (_WITH_NEWS_S if has_news else _CALM_S):
            self.write()

    def write(self) -> None:
        """Writes the files of each group that differ from what is there.

        Raises:
            OutputFileError: if one cannot be written.
        """
        self._latest = time.monotonic()
        try:
            topics = self.cluster.topics()
            version = self.cluster.latest_version(DESCRIBE_STREAMS_GROUP)
            known = {each.id for each in self.cluster.groups()} | {each.original for each in self.groups.values()}
        except LiveClusterError as error:
            if not self._in_trouble:
                self.on_trouble(f"racks and topics are not up to date: {error}")
            self._in_trouble = True
            return
        self._in_trouble = False
        for each in self.groups.values():
            each.write_cluster(topics, known, version)
