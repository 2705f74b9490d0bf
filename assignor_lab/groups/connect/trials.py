"""Trials of a Connect group's recorded decisions: another protocol's assignor, another longest delay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignment_api.connect import MAX_DELAY_KEY
from assignor_lab.groups.trials import Trial, number_trials
from assignor_lab.scenarios import Scenario

__all__ = ["connect_trials"]

#: Values of ``scheduled.rebalance.max.delay.ms``: Kafka's default first.
_DELAYS = (300_000, 0, 3_000, 10_000, 30_000, 60_000, 120_000, 600_000)
_ASSIGNORS = {"connect_incremental": "sessioned or compatible", "connect_eager": "eager"}


def connect_trials(decisions: Sequence[Scenario], assignor: str) -> Iterator[Trial]:
    """The trials.

    Args:
        decisions: Recorded histories, at least one.
        assignor: The assignor that decided them again.
    """
    now = decisions[0].document["max_delay_ms"]
    yield from number_trials(MAX_DELAY_KEY, {value: None for value in _DELAYS if value != now})
    for name, protocol in _ASSIGNORS.items():
        if name != assignor:
            yield Trial("configuration", f"with connect.protocol={protocol} ({name})", assignor=name)
