"""Settings of a recorded group that its source does not name, as its decisions bound them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from assignor_lab.capture.edges.moments import CLASSIC
from assignor_lab.capture.histories.history import DecisionHistory
from assignor_lab.capture.histories.initial_delay import INITIAL_DELAY, initial_delay_bound
from assignor_lab.capture.histories.reactions import learned_heartbeat_ms, longest_streams_session_ms
from assignor_lab.capture.histories.settings import longest_session_ms
from assignor_lab.kafka.coordinator.session_timeout import LEAST_SESSION_MS
from assignor_lab.simulation.streams.timings import TIMING_KEYS, StreamsTimings

__all__ = ["LearnedTiming", "learned_timings"]

_SESSION, _STREAMS_SESSION = "session.timeout.ms", "streams.session.timeout.ms"
_STREAMS_HEARTBEAT = "streams.heartbeat.interval.ms"


@attrs.frozen
class LearnedTiming:
    """A timing that a recording bounds.

    Args:
        value: In milliseconds.
        past_ms: Its value in plays of the past; ``None``: the same.
    """

    value: int
    sentence: str
    past_ms: int | None = None


def learned_timings(
    history: DecisionHistory, given: Mapping[str, int], *, begins_empty: bool
) -> dict[str, LearnedTiming]:
    """Timings by name: the recording contradicts Kafka's default, and the source has no value.

    In plays of the past, the session timeout of a classic group is a heartbeat interval below its bound. After its end
    the other members rejoined with their heartbeats, and then came the decision.

    Args:
        given: Known timings by their names.
    """
    is_classic = history.protocol == CLASSIC
    found = _of_classic(history, begins_empty=begins_empty) if is_classic else _of_streams(history, given)
    rejoin_ms = given.get("heartbeat_interval_ms", StreamsTimings().heartbeat_interval_ms)
    return {
        TIMING_KEYS[key]: LearnedTiming(
            value,
            f"{sentence} (give {key} with --config or -c)",
            min(value, max(LEAST_SESSION_MS, value - rejoin_ms, rejoin_ms + 1)) if key == _SESSION else None,
        )
        for key, value, sentence in found
        if TIMING_KEYS[key] not in given
    }


def _of_classic(history: DecisionHistory, *, begins_empty: bool) -> Iterator[tuple[str, int, str]]:
    yield from _session(_SESSION, longest_session_ms(history.moments), "decision")
    delay = initial_delay_bound(history.moments) if begins_empty else None
    if delay is not None:
        yield (
            INITIAL_DELAY, 0, f"{INITIAL_DELAY} of the brokers is unknown, and Kafka's default is too long: "
            f"{delay.evidence}. It is 0 to {delay.longest_ms} ms, and 0 counts"
        )  # fmt: skip


def _of_streams(history: DecisionHistory, given: Mapping[str, int]) -> Iterator[tuple[str, int, str]]:
    learned = learned_heartbeat_ms(history.moments)
    usual_ms = StreamsTimings().streams_heartbeat_interval_ms if learned is None else learned.interval_ms
    heartbeat_ms = given.get("streams_heartbeat_interval_ms", usual_ms)
    session_ms = longest_streams_session_ms(history.moments, heartbeat_ms)
    yield from _session(_STREAMS_SESSION, session_ms, "change of tasks")
    if learned is not None:
        yield (
            _STREAMS_HEARTBEAT, learned.interval_ms, f"{_STREAMS_HEARTBEAT} of the group is unknown, and Kafka's "
            f"default is too long: members learned of {learned.count} targets within {learned.longest_ms} ms. "
            f"{learned.interval_ms} ms counts"
        )  # fmt: skip


def _session(key: str, bound_ms: int | None, sign: str) -> Iterator[tuple[str, int, str]]:
    if bound_ms is not None and bound_ms < getattr(StreamsTimings(), TIMING_KEYS[key]):
        yield (
            key, bound_ms, f"{key} of the group is unknown, and Kafka's default is too long: an instance was missed "
            f"within {bound_ms} ms of its last {sign}. This bound counts"
        )  # fmt: skip
