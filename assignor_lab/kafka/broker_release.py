"""The release of a broker, from the requests that it accepts."""

from __future__ import annotations

from collections.abc import Callable

from assignment_api.releases import KafkaRelease, read_release

__all__ = ["release_of_broker"]

#: A request, its version, and the first release whose brokers accept that; the newest release first. Read from the
#: released clients 3.8.0 to 4.4.0 (Kafka: ``ApiKeys``).
_SINCE: tuple[tuple[int, int, str], ...] = (
    (88, 1, "4.4"),  # StreamsGroupHeartbeat
    (35, 5, "4.3"),  # DescribeLogDirs
    (2, 11, "4.2"),  # ListOffsets
    (1, 18, "4.1"),  # Fetch
    (3, 13, "4.0"),  # Metadata
    (1, 17, "3.9"),  # Fetch
    (10, 5, "3.8"),  # FindCoordinator
)


def release_of_broker(latest_version: Callable[[int], int | None]) -> KafkaRelease | None:
    """The latest release with this broker's requests; ``None``: it is older than 3.8.

    Args:
        latest_version: Number of a request to its latest version; ``None``: the broker does not accept it.
    """
    for request, version, line in _SINCE:
        latest = latest_version(request)
        if latest is not None and latest >= version:
            return read_release(line)
    return None
