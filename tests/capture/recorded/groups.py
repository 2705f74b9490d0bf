"""The recorded groups: their exchanges with brokers, their logs, and derived scenarios."""

from __future__ import annotations

from datetime import UTC
from functools import cache
from pathlib import Path

from assignment_api.plugins import config_sources
from assignor_lab.capture.logs.import_log import read_decisions
from assignor_lab.capture.logs.rebalance import LoggedDecision
from assignor_lab.capture.logs.scenario_documents import DocumentMaker
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.capture.recorded.recording import RecordedResponses, read_recording
from assignor_lab.capture.recorded.states import RecordedState, Unusable, recorded_states
from tests.capture.captured_logs import CAPTURES, logs, refuse

#: Application to its number of recorded stable states.
STABLE = {"warm": 6, "orders-2": 28, "plain": 7, "tagged": 12, "plain-ha": 6}


@cache
def recording(application: str) -> RecordedResponses:
    return read_recording([CAPTURES / application / "exchanges.jsonl.gz"])


@cache
def surroundings(application: str) -> LoggedSurroundings:
    around = LoggedSurroundings()
    assert list(read_decisions(logs(application), refuse, surroundings=around))
    return around


@cache
def decisions(application: str) -> tuple[LoggedDecision, ...]:
    problems: list[object] = []
    found = list(read_decisions(logs(application), problems.append))
    assert not problems
    return tuple(sorted(found, key=lambda it: it.record.time.epoch_ms() if it.record.time else 0))


def maker(application: str) -> DocumentMaker:
    configured = config_sources(CAPTURES / application / "application.properties", ())
    return DocumentMaker(configured.above, None, UTC, zone_given=True)


def states(application: str, topology: Path | None = None) -> tuple[list[RecordedState], list[Unusable]]:
    unusable: list[Unusable] = []
    found = recorded_states(
        recording(application),
        decisions(application),
        maker(application),
        topology=topology,
        surroundings=surroundings(application),
        on_unusable=unusable.append,
    )
    return list(found), unusable
