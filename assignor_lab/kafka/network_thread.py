"""Wakes of the network thread of a consumer under KIP-848 or KIP-1071.

Kafka: ``ConsumerNetworkThread``, ``AbstractHeartbeatRequestManager`` and ``StreamsGroupHeartbeatRequestManager``. The
thread checks ``max.poll.interval.ms`` each time it wakes, and no timer of its own ends with that interval. It wakes for
a heartbeat, for new metadata, and after its longest wait.
"""

from __future__ import annotations

__all__ = ["wakes_within_ms"]

#: ``ConsumerNetworkThread.MAX_POLL_TIMEOUT_MS``
_LONGEST_WAIT_MS = 5_000


def wakes_within_ms(since_heartbeat_ms: int) -> int:
    """Time until the longest wait is over, if nothing else has woken the thread since its last heartbeat."""
    return _LONGEST_WAIT_MS - since_heartbeat_ms % _LONGEST_WAIT_MS
