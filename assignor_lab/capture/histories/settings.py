"""Settings of a group over its decisions, and of its configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from assignment_api.plugins.keys import TOPOLOGY_OPTIMIZATION, read_value
from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.edges.moments import DecisionMoment
from assignor_lab.capture.histories.presence import expired, left_by_request
from assignor_lab.kafka.coordinator.session_timeout import LEAST_SESSION_MS
from assignor_lab.scenarios.settings import Settings, SettingValue

__all__ = ["longest_session_ms", "optimization_in", "settings_of_decisions"]


def settings_of_decisions(decisions: Iterable[Settings]) -> tuple[dict[str, SettingValue], dict[str, str]]:
    """The most frequent values of the decisions' settings, and a sentence for each setting that changed."""
    values: dict[str, Counter[SettingValue]] = {}
    for settings in decisions:
        for key, value in settings.items():
            values.setdefault(key, Counter())[value] += 1
    found = {key: counts.most_common(1)[0][0] for key, counts in values.items()}
    return found, {
        key: f"{key} changed within the history ({', '.join(map(str, counts))}): {found[key]}, which most decisions "
        "have, counts for all"
        for key, counts in values.items()
        if len(counts) > 1
    }


def longest_session_ms(moments: Sequence[DecisionMoment], *, only_expired: bool = False) -> int | None:
    """Upper bound of a classic group's session timeout.

    The coordinator removes a silent member one session timeout after its last heartbeat, and each member of a
    generation sent one in it. Below the brokers' minimum, the member left by request.

    Args:
        only_expired: Only members whose session end the coordinator's log reports.
    """
    found = [
        moment.time_ms - earlier.time_ms
        for earlier, moment in pairwise(moments)
        for process, each in earlier.participants.items()
        if process not in moment.participants
        and (expired(each, moment) if only_expired else not left_by_request(each, moment))
    ]
    return min((each for each in found if each >= LEAST_SESSION_MS), default=None)


def optimization_in(layers: Iterable[ConfigLayer]) -> str | None:
    """``topology.optimization`` of the highest layer that has it."""
    given = [layer.entries[TOPOLOGY_OPTIMIZATION] for layer in layers if TOPOLOGY_OPTIMIZATION in layer.entries]
    return str(read_value(TOPOLOGY_OPTIMIZATION, given[-1].value)) if given else None
