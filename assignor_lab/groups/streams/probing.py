"""Probing: the cost of an assignor's call, and whether its answer depends on anything but its input.

The assignor is asked again in a process of its own with another ``PYTHONHASHSEED``, trusted or not: what is measured
there disturbs nobody, and a second process is needed anyway to see what depends on the process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api import ApplicationMetadata
from assignor_lab.groups.streams.asking import ASKING, StreamsOutcome
from assignor_lab.groups.streams.packing import packed_application
from assignor_lab.groups.streams.probed import answer_digest
from assignor_lab.runtime.isolation.errors import IsolationError
from assignor_lab.runtime.isolation.launching import launcher_of
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.runtime.isolation.plugins import plain, process_of

__all__ = ["Probe", "Prober"]

#: What answers in the assignor's process.
PROBE = "assignor_lab.groups.streams.probed:probe"
#: Calls that a probe consists of: it is given so many times the deadline.
CALLS = 6
#: How much more memory than for an answer: what measures memory needs some itself.
MEMORY_FACTOR = 2


@attrs.frozen
class Probe:
    """What came of asking an assignor again.

    Args:
        peak_memory_bytes: Most memory that ``assign`` held at a time, on top of what was there before; ``None``: not
            measured.
        same_again: It gave the same answer when it was asked again in the same process.
        same_hash_seed: It gave the same answer in a process with another ``PYTHONHASHSEED``.
        same_order: It gave the same answer when clients and tasks came in reverse order.
        pure: It left its input alone, and gave the same answer after it was asked about other states.
    """

    peak_memory_bytes: int | None
    same_again: bool
    same_hash_seed: bool
    same_order: bool
    pure: bool


class Prober:
    """Probes assignors, each in a process of its own, which ends with the probe.

    Args:
        limits: What one call may use.
    """

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
        configs: Mapping[str, Any],
        outcome: StreamsOutcome,
        origin: AssignorOrigin | None = None,
    ) -> Probe | None:
        """Asks an assignor again.

        Args:
            name: Name that selects it.
            distribution: Distribution that it comes from; ``None``: it is ``module:attribute``.
            application: What it was asked.
            configs: Its configuration then.
            outcome: What came of it.
            origin: Its entry point, which alone is imported then; ``None``: all of its distribution are.

        Returns:
            What was found, or ``None`` where its process gave no answer.
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
        same_again=again == first,
        same_hash_seed=first == digest,
        same_order=reverse == first,
        pure=document.get("mutated") is False and later == first,
    )
