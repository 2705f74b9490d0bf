"""Other ways to read a past: without the topology file, and as brokers of another release decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from assignor_lab.capture.histories.moments import STREAMS, protocol_of
from assignor_lab.capture.histories.past import Surroundings
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.causes import Reading

__all__ = ["other_readings"]

#: Whether the brokers are of 4.4 or later, in words.
_BROKERS = {True: "of 4.4", False: "before 4.4"}


def other_readings(read: Callable[[Surroundings], Iterable[Scenario]], around: Surroundings) -> tuple[Reading, ...]:
    """The readings of a past that differ in one input.

    Args:
        read: Reads the past.
        around: The surroundings that it was read with.
    """
    quiet = attrs.evolve(around, on_problem=lambda _: None)
    found = []
    if around.topology is not None:
        found.append(
            Reading("topology", "without the topology file", partial(read, attrs.evolve(quiet, topology=None)))
        )
    for is_new, brokers in _BROKERS.items():
        again = attrs.evolve(quiet, brokers_show_targets=not is_new)
        found.append(Reading("version", f"as brokers {brokers} decide", partial(read, again), _is_of_brokers))
    return tuple(found)


def _is_of_brokers(document: Mapping[str, Any]) -> bool:
    return protocol_of(document) == STREAMS
