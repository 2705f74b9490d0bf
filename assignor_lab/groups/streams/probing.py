"""Probing: the cost of an assignor's call, and its dependence on anything but its input.

Trusted or not, the assignor is called again in its own process with another ``PYTHONHASHSEED``. A measurement there
disturbs nothing else, and only a second process shows a dependence on the process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api import ApplicationMetadata
from assignor_lab.groups.streams.assignor_calls import ASKING, StreamsOutcome
from assignor_lab.groups.streams.probed import answer_digest
from assignor_lab.groups.streams.transfer import packed_application
from assignor_lab.runtime.isolation.errors import IsolationError
from assignor_lab.runtime.isolation.launching import launcher_of
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.runtime.isolation.plugins import plain, process_of

__all__ = ["Probe", "Prober"]

PROBE = "assignor_lab.groups.streams.probed:probe"
#: Calls in a probe: its deadline is multiplied by this.
CALLS = 6
#: Memory limit as a multiple of an answer's: the measurement itself needs some.
MEMORY_FACTOR = 2


@attrs.frozen
class Probe:
    """The outcome of calling an assignor again.

    Args:
        peak_memory_bytes: Peak memory of ``assign``, above the memory before the call; ``None``: not measured.
        deterministic: It gave the same answer in a second call in the same process.
        same_hash_seed: It gave the same answer in a process with another ``PYTHONHASHSEED``.
        pure: It left its input unchanged, and gave the same answer after calls with other states.
    """

    peak_memory_bytes: int | None
    deterministic: bool
    same_hash_seed: bool
    same_order: bool
    pure: bool


class Prober:
    """Probes assignors, each in its own process, which ends with the probe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = attrs.evolve(
            limits,
            deadline_ms=limits.deadline_ms * CALLS,
            start_ms=max(limits.start_ms, limits.deadline_ms * CALLS),
            memory_mb=limits.memory_mb * MEMORY_FACTOR,
            output_kb=limits.output_kb * CALLS,
        )
        self._hash_seed = 2 if os.environ.get("PYTHONHASHSEED") == "1" else 1

    def probe(
        self,
        name: str,
        distribution: str | None,
        application: ApplicationMetadata,
        configs: Mapping[str, object],
        outcome: StreamsOutcome,
        origin: AssignorOrigin | None = None,
    ) -> Probe | None:
        """Calls an assignor again with the input and the configuration of ``outcome``.

        If ``origin`` names its entry point, only that one is imported, otherwise all of its distribution.

        Returns:
            The findings, or ``None`` if its process gave no answer.
        """
        launcher = launcher_of(self._limits.environment, self._hash_seed)
        process = process_of(ASKING, name, distribution, self._limits, launcher, origin=origin, shows=False)
        try:
            document = process.ask((PROBE, (packed_application(application), plain(configs))))
        except IsolationError:
            return None
        finally:
            process.close()
        return _probe_in(document, answer_digest(outcome))


def _probe_in(document: Mapping[str, Any], digest: str) -> Probe | None:
    digests, peak = document.get("digests"), document.get("peak")
    if type(digests) is not list or len(digests) != 4 or not all(type(one) is str for one in digests):
        return None
    first, again, reverse, later = digests
    return Probe(
        peak_memory_bytes=peak if type(peak) is int and 0 <= peak < 1 << 62 else None,
        deterministic=again == first,
        same_hash_seed=first == digest,
        same_order=reverse == first,
        pure=document.get("mutated") is False and later == first,
    )
