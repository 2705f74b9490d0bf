"""Trials of a streams group's recorded decisions: standbys, and the broker's assignor of another release."""

from __future__ import annotations

from collections.abc import Iterator

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.streams.configs import NUM_STANDBY_REPLICAS
from assignor_lab.groups.trials import Trial, number_trials

__all__ = ["streams_group_trials"]

_MOST_STANDBYS = 3
#: Assignors of the broker, by release.
_RELEASES = {"group_sticky": "of brokers before 4.4", "group_sticky_4_4": "of brokers of 4.4"}


def streams_group_trials(config: EffectiveConfig, assignor: str) -> Iterator[Trial]:
    """The trials.

    Args:
        config: The configuration of the group.
        assignor: The assignor that decided them again.
    """
    now = read_value(NUM_STANDBY_REPLICAS, config[NUM_STANDBY_REPLICAS].value)
    values = {value: None for value in range(_MOST_STANDBYS + 1) if value != now}
    yield from number_trials(NUM_STANDBY_REPLICAS, values)
    for name, words in _RELEASES.items():
        if name != assignor:
            yield Trial("version", f"with the assignor {words} ({name})", assignor=name)
