"""Configurations: one value for each setting that may change, and the group under them."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.plugins.keys import is_setting
from assignor_lab.groups.variants import configured
from assignor_lab.kafka.coordinator.session_timeout import heartbeat_of
from assignor_lab.planning.making import Options
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.state import PresentState, under_other_protocol

__all__ = [
    "ASSIGNOR", "BATCH", "CLOSE", "DYNAMIC", "HEARTBEAT", "LAG", "LEAVE", "MEMBERS", "PLACING", "PROBING", "PROTOCOL",
    "REMAIN", "SESSION", "STANDBYS", "STATIC", "STRATEGY", "STREAMS_HEARTBEAT", "STREAMS_SESSION", "TRANSACTIONAL",
    "WARMUPS",
    "MAX_DELAY", "PARTITION_STRATEGY", "PROTOCOL_OF_WORKERS",
    "Configuration", "AdvisedState", "change_words", "name_of",
    "under",
]  # fmt: skip

MEMBERS, DYNAMIC, STATIC = "group.instance.id", "none", "one for each instance"
CLOSE, REMAIN, LEAVE = "CloseOptions", "default", "LEAVE_GROUP"
SESSION, HEARTBEAT = "session.timeout.ms", "heartbeat.interval.ms"
STREAMS_SESSION, STREAMS_HEARTBEAT = "streams.session.timeout.ms", "streams.heartbeat.interval.ms"
STANDBYS, WARMUPS = "num.standby.replicas", "max.warmup.replicas"
LAG, PROBING = "acceptable.recovery.lag", "probing.rebalance.interval.ms"
STRATEGY = "rack.aware.assignment.strategy"
TRANSACTIONAL = "enable.transactional.statestores"
ASSIGNOR, PROTOCOL, BATCH = "task.assignor.class", "group.protocol", "instances at once"

PARTITION_STRATEGY = "partition.assignment.strategy"
MAX_DELAY, PROTOCOL_OF_WORKERS = "scheduled.rebalance.max.delay.ms", "connect.protocol"

#: Settings that change the placement of a group at rest.
PLACING = (STANDBYS, ASSIGNOR, STRATEGY, PROTOCOL)
_OF_ASSIGNMENT = (STANDBYS, WARMUPS, LAG, PROBING, STRATEGY)
#: Longest play: a day, and the time until each event has come to rest.
_UNTIL_MS = 90 * 86_400_000

#: Setting to its value.
Configuration = Mapping[str, str]


@attrs.frozen(eq=False)
class AdvisedState:
    """A group, and the present way of its operation."""

    state: PresentState
    terms: Terms
    options: Options


def under(configuration: Configuration, present: Configuration, subject: AdvisedState) -> AdvisedState:
    """The group under a configuration.

    Raises:
        VariantError: if a value is not valid.
    """
    changed = {key: value for key, value in configuration.items() if value != present[key]}
    state, terms, options = subject.state, subject.terms, subject.options
    if PROTOCOL in changed:
        state = under_other_protocol(state, changed[PROTOCOL])
    episode = attrs.evolve(state.episode, until_ms=_UNTIL_MS)
    timings = episode.timings
    if SESSION in changed:
        session = int(changed[SESSION])
        beat = heartbeat_of(session, timings.heartbeat_interval_ms)
        timings = attrs.evolve(timings, session_timeout_ms=session, heartbeat_interval_ms=beat)
    if STREAMS_SESSION in changed:
        session = int(changed[STREAMS_SESSION])
        beat = heartbeat_of(session, timings.streams_heartbeat_interval_ms)
        timings = attrs.evolve(timings, streams_session_timeout_ms=session, streams_heartbeat_interval_ms=beat)
    if MEMBERS in changed:
        static = changed[MEMBERS] == STATIC
        ids = state.names if static else (None,) * len(state.names)
        episode = attrs.evolve(episode, instance_ids=ids)
    if TRANSACTIONAL in changed:
        episode = attrs.evolve(episode, is_transactional=changed[TRANSACTIONAL] == "true")
    state = attrs.evolve(state, episode=attrs.evolve(episode, timings=timings))
    settings = [key for key in changed if is_setting(key)]
    if settings or any(key in changed for key in PLACING):
        # The group places its tasks anew, and rests before the first event.
        state = attrs.evolve(state, assigned=None, is_probing=False, is_settled=False)
    own = {key: changed[key] for key in (*_OF_ASSIGNMENT, *settings) if key in changed}
    terms = attrs.evolve(
        terms, sources=configured(terms.sources, name_of(configuration, present), own),
        assignor=changed.get(ASSIGNOR, None if PROTOCOL in changed else terms.assignor),
    )  # fmt: skip
    options = attrs.evolve(
        options, batch=int(changed.get(BATCH, options.batch)),
        leave=changed[CLOSE] == LEAVE if CLOSE in changed else options.leave,
    )  # fmt: skip
    return AdvisedState(state, terms, options)


def name_of(configuration: Configuration, present: Configuration) -> str:
    parts = [change_words(key, value) for key, value in configuration.items() if value != present[key]]
    return ", ".join(parts) or "present settings"


def change_words(key: str, value: str) -> str:
    """A change of one setting, such as ``static members`` or ``session.timeout.ms=30000``."""
    if key == MEMBERS:
        return "static members" if value == STATIC else "dynamic members"
    if key == CLOSE:
        return LEAVE if value == LEAVE else "no LEAVE_GROUP"
    if key == BATCH:
        return f"{value} instances at once"
    return f"{key}={value}"
