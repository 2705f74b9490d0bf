"""Limits of an isolated plugin."""

from __future__ import annotations

import attrs

from assignment_api.plugins.keys import (
    CALL_TIMEOUT_MS,
    ENVIRONMENT,
    MEMORY_MB,
    OUTPUT_KB,
    START_TIMEOUT_MS,
    read_value,
)
from assignment_api.plugins.selection import EffectiveConfig

__all__ = ["Limits"]

#: Longest answer in bytes; one for 500 clients with 100,000 tasks and standbys has about 2 MB.
MAX_ANSWER_BYTES = 8 * 2**20


@attrs.frozen
class Limits:
    """Limits of one call and its process.

    Args:
        start_ms: The same for the start of a process with the import; by default at least the deadline.
        output_kb: Kibibytes of output in one call.
        more_time: Key of ``deadline_ms`` in messages.
        or_leave_out: Last remedy in messages; empty if the plugin is indispensable.
    """

    deadline_ms: int = 10_000
    start_ms: int = 30_000
    memory_mb: int = 1_024
    output_kb: int = 1_024
    environment: tuple[str, ...] = ()
    more_time: str = CALL_TIMEOUT_MS
    or_leave_out: str = ", or leave it out (assignor.plugins.block)"

    @classmethod
    def of(cls, config: EffectiveConfig) -> Limits:
        """The limits in ``config``, with defaults.

        Raises:
            ConfigError: if a value is out of its range.
        """
        names = {
            CALL_TIMEOUT_MS: "deadline_ms",
            START_TIMEOUT_MS: "start_ms",
            MEMORY_MB: "memory_mb",
            OUTPUT_KB: "output_kb",
            ENVIRONMENT: "environment",
        }
        given = {name: read_value(key, config[key].value) for key, name in names.items() if key in config}
        limits = cls(**{name: value for name, value in given.items() if value is not None})
        if given.get("start_ms") is not None:
            return limits
        return attrs.evolve(limits, start_ms=max(limits.start_ms, limits.deadline_ms))
