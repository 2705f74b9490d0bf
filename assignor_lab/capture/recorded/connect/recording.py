"""Recordings of Connect clusters, as JSON lines: exchanges with brokers, exchanges with workers, states.

A line is one of

* ``{"t": epoch ms, "api_key": 15, "api_version": ..., "response_hex": ...}``: what a broker answered to DescribeGroups;
* ``{"method": "GET", "path": "/connectors?expand=status&expand=info", "status": 200, "body": ...}``: what a worker
  answered, with ``t`` and ``worker`` where they are known;
* ``{"t": epoch ms, "status": <body of /connectors?expand=status>}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs

from assignor_lab.capture.recorded.connect.answers import read_connect_groups
from assignor_lab.capture.recorded.connect.histories import SeenRound
from assignor_lab.capture.recorded.errors import garbled_at
from assignor_lab.connect.remote import NotConnectError, RemoteConnector, RemoteWorker
from assignor_lab.connect.remote.answers import read_expanded
from assignor_lab.connect.remote.state import state_of
from assignor_lab.documents.errors import DocumentFormatError, Place
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.shapes import LONG_MAX, Mismatch, at, faults_at, hexadecimal, nullable, open_record, whole
from assignor_lab.kafka.herder.statuses import JobState

__all__ = ["ConnectRecording", "SeenState", "read_connect_recording"]

_DESCRIBE_GROUPS = 15
_time = whole(0, LONG_MAX)
_short = whole(0, 32_767)


@attrs.frozen
class SeenState:
    """A cluster's state in a worker's response."""

    file: str
    line: int
    time_ms: int | None
    connectors: tuple[RemoteConnector, ...]

    def workers(self) -> list[RemoteWorker]:
        """The workers may be dead."""
        instances = [instance for each in self.connectors for instance in each.instances()]
        # An orderly leave shows as UNASSIGNED; so do all jobs during an eager rebalance.
        running = [instance for instance in instances if instance.state != JobState.UNASSIGNED] or instances
        return [RemoteWorker(name, None) for name in sorted({instance.worker_id for instance in running})]


@attrs.frozen
class ConnectRecording:
    """Content of recordings."""

    rounds: Sequence[SeenRound]
    states: Sequence[SeenState]


def read_connect_recording(files: Sequence[str]) -> ConnectRecording:
    rounds: list[SeenRound] = []
    states: list[SeenState] = []
    for file in files:
        for place, line in json_lines(file):
            with faults_at(place), garbled_at(place), _foreign_at(place):
                if type(line) is not dict or not ("api_key" in line or "status" in line):
                    raise Mismatch(f"expected an exchange with a broker or a worker (a JSON object): {_HINT}")
                if "api_key" in line:
                    rounds += _rounds(place, line)
                elif (state := _state(place, line)) is not None and _is_new(state, states):
                    states.append(state)
    return ConnectRecording(sorted(rounds, key=lambda seen: seen.time_ms), states)


@contextmanager
def _foreign_at(place: Place) -> Iterator[None]:
    try:
        yield
    except NotConnectError as error:
        reason = f"{error}: record it again, or take the line out"
        raise DocumentFormatError(place.file, place.line, "", reason) from error


_HINT = "is this a recording?"
_EXCHANGE = open_record({"t": _time, "api_version": _short, "response_hex": hexadecimal}, hint=_HINT)


def _rounds(place: Place, line: Mapping[str, Any]) -> list[SeenRound]:
    if line["api_key"] != _DESCRIBE_GROUPS:
        return []
    exchange = _EXCHANGE(line)
    described = read_connect_groups(exchange["response_hex"], exchange["api_version"])
    return [SeenRound(place.file, place.line or 0, exchange["t"], each) for each in described]


def _state(place: Place, line: Mapping[str, Any]) -> SeenState | None:
    body = line["status"]
    if "path" in line:
        if line.get("method") != "GET" or line["status"] != 200 or not _is_expanded(str(line["path"])):
            return None
        body = line.get("body")
    if type(body) is not dict:
        return None
    listed = read_expanded(body, "/connectors?expand=status")
    time_ms = at(nullable(_time), line.get("t"), "t")
    return None if listed is None else SeenState(place.file, place.line or 0, time_ms, state_of(listed))


def _is_new(state: SeenState, states: Sequence[SeenState]) -> bool:
    return bool(state.connectors) and (not states or states[-1].connectors != state.connectors)


def _is_expanded(path: str) -> bool:
    parts = urlsplit(path)
    return parts.path.rstrip("/").endswith("/connectors") and ("expand", "status") in parse_qsl(parts.query)
