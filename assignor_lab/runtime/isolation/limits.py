"""Limits of a plugin in a process of its own."""

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

#: Bytes of one answer that are read; one for 500 clients with 100,000 tasks and standbys has about 2 MB.
MAX_ANSWER_BYTES = 8 * 2**20


@attrs.frozen
class Limits:
    """Limits of one call, and of the process that it is made in.

    Args:
        deadline_ms: Milliseconds from the question to the complete answer.
        start_ms: The same for starting a process and importing the plugin there; by default not less than the
            deadline.
        memory_mb: Mebibytes of data that the process may hold, Python itself included.
        output_kb: Kibibytes that may be printed in one call.
        environment: Names of variables that the process gets besides the few that it always has.
    """

    deadline_ms: int = 10_000
    start_ms: int = 30_000
    memory_mb: int = 1_024
    output_kb: int = 1_024
    environment: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: EffectiveConfig) -> Limits:
        """The limits in ``config``, and the defaults of what it does not say.

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
