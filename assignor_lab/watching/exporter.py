"""Prometheus metrics of groups that ``assignor record --follow`` records."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import attrs
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from assignment_api import AssignorLabError
from assignor_lab.capture.errors import HistoryError
from assignor_lab.watching.figures import CAUSES, EVENTS, GroupFigures
from assignor_lab.watching.findings import RULES

__all__ = [
    "MOST_GROUPS", "Exporter", "MetricsAddressError", "RecorderHealth", "metric_families", "metrics_address",
]  # fmt: skip

#: Most groups with metrics; later ones are counted in ``assignor_groups_without_metrics``.
MOST_GROUPS = 1_000
_LOOPBACK = "127.0.0.1"
#: Shortest pause between readings of a group, in seconds; a long reading pauses ten times as long.
_PAUSE_S = 1.0
_PAUSES_PER_READING = 10


class MetricsAddressError(AssignorLabError):
    """The address of ``--metrics`` is wrong or not free."""


def metrics_address(text: str) -> tuple[str, int]:
    """Without a host the loopback address."""
    host, colon, port = text.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65_535):
        raise MetricsAddressError(f"--metrics {text!r:.80}: write HOST:PORT, or :PORT for this machine alone")
    return host.strip("[]") or _LOOPBACK, int(port)


@attrs.define
class RecorderHealth:
    """The health of the recorder.

    Args:
        started_ms: Start of the recorder.
        read_ms: Latest time at which it was connected and had read everything; ``None``: not yet.
    """

    started_ms: int
    read_ms: int | None = None
    is_connected: bool = False

    def families(self) -> Iterator[Metric]:
        for name, text, value in (
            ("started", "Start of the recorder", self.started_ms),
            ("last_read", "Latest time at which the recorder had read all records", self.read_ms),
        ):
            seconds = None if value is None else value / 1_000
            yield GaugeMetricFamily(f"assignor_recorder_{name}_timestamp_seconds", f"{text}, since 1970.", seconds)
        yield GaugeMetricFamily(
            "assignor_recorder_connected", "1 if the recorder is connected to brokers.", int(self.is_connected)
        )


def metric_families(
    groups: Iterable[GroupFigures], left_out: int, now_ms: int, health: RecorderHealth | None = None
) -> Iterator[Metric]:
    """A deleted group has counters, and no gauges."""
    if health is not None:
        yield from health.families()
    found = sorted(groups, key=lambda each: each.group)
    rebalances = CounterMetricFamily(
        "assignor_group_rebalances", "Recorded rebalances by cause.", labels=["group", "cause"]
    )
    unusual = CounterMetricFamily(
        "assignor_group_unusual_rebalances", "Findings of assignor check by rule.", labels=["group", "rule"]
    )
    events = CounterMetricFamily("assignor_group_events", "Recorded events by type.", labels=["group", "event"])
    for each in found:
        for cause in CAUSES:
            rebalances.add_metric([each.group, cause], each.rebalances.get(cause, 0))
        for name in EVENTS:
            events.add_metric([each.group, name], each.events.get(name, 0))
        for rule in RULES:
            unusual.add_metric([each.group, rule.replace(" ", "_").replace("-", "_")], each.unusual.get(rule, 0))
    yield from (rebalances, unusual, events)
    alive = [each for each in found if not each.is_deleted]
    for name, text, value in _COUNTERS:
        yield _family(CounterMetricFamily(name, text, labels=["group"]), found, value)
    for name, text, value in _GAUGES:
        yield _family(GaugeMetricFamily(name, text, labels=["group"]), alive, value)
    yield _family(
        GaugeMetricFamily(
            "assignor_group_last_rebalance_age_seconds", "Age of the latest recorded rebalance.", labels=["group"]
        ),
        alive,
        lambda each: max(0, now_ms - each.latest_ms) / 1_000,
    )
    yield GaugeMetricFamily("assignor_groups_without_metrics", "Recorded groups beyond the limit.", left_out)


def _family(
    family: CounterMetricFamily | GaugeMetricFamily,
    groups: Iterable[GroupFigures],
    value: Callable[[GroupFigures], float | None],
) -> Metric:
    for each in groups:
        figure = value(each)
        if figure is not None:
            family.add_metric([each.group], figure)
    return family


_Figure = tuple[str, str, Callable[[GroupFigures], float | None]]
_COUNTERS: tuple[_Figure, ...] = (
    ("assignor_group_moved_tasks", "Active tasks or jobs moved between present instances.", lambda each: each.moved),
    ("assignor_group_new_copies", "Standbys and warm-ups made.", lambda each: each.copies),
)
_GAUGES: tuple[_Figure, ...] = (
    ("assignor_group_generation", "Latest recorded generation or epoch.", lambda each: each.generation),
    ("assignor_group_instances", "Instances in the latest decision; 0 without members.", lambda each: each.instances),
    ("assignor_group_members", "Members in the latest decision; 0 during an outage.", lambda each: each.members),
    (
        "assignor_group_standby_lag_records",
        "Largest lag of a standby in the latest decision; absent without standbys.",
        lambda each: each.standby_lag,
    ),
    ("assignor_group_roll_rebalances", "Most rebalances of an ordinary roll of all instances.", lambda each: each.roll),
    (
        "assignor_group_played_unavailable_task_seconds",
        "Time away of all tasks, played from the recorded generations, not measured.",
        lambda each: each.played_s,
    ),
    (
        "assignor_group_reproduced_decisions_ratio",
        "Share of recorded decisions that Kafka's assignor reproduces.",
        lambda each: each.reproduced,
    ),
)


@attrs.define(eq=False)
class Exporter(Collector):
    """Serves the figures of the recorded groups; reads a group again after a new generation."""

    read: Callable[[str, Path], Iterable[GroupFigures]]
    on_trouble: Callable[[str], None]
    health: RecorderHealth = attrs.field(factory=lambda: RecorderHealth(_now_ms()))
    _changed: dict[str, Path] = attrs.field(factory=dict, init=False)
    _figures: dict[str, GroupFigures] = attrs.field(factory=dict, init=False)
    _left_out: set[str] = attrs.field(factory=set, init=False)
    _unread: set[str] = attrs.field(factory=set, init=False)
    _news: threading.Condition = attrs.field(factory=threading.Condition, init=False)
    _is_closed: bool = attrs.field(default=False, init=False)
    _close: list[Callable[[], None]] = attrs.field(factory=list, init=False)

    def serve(self, host: str, port: int) -> int:
        registry = CollectorRegistry()
        registry.register(self)
        try:
            server, thread = start_http_server(port, host, registry)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise MetricsAddressError(f"--metrics {host}:{port}: {reason}: name a free port") from None
        reading = threading.Thread(target=self._read_changed, name="metrics", daemon=True)
        reading.start()

        def close() -> None:
            server.shutdown()
            server.server_close()
            thread.join()
            reading.join(_PAUSE_S)

        self._close.append(close)
        return int(server.server_address[1])

    def changed(self, group: str, folder: Path) -> None:
        with self._news:
            if group not in self._figures and len({*self._figures, *self._changed, group}) > MOST_GROUPS:
                self._left_out.add(group)
                return
            self._changed[group] = folder
            self._news.notify()

    def close(self) -> None:
        with self._news:
            self._is_closed = True
            self._news.notify()
        for each in self._close:
            each()

    def collect(self) -> Iterator[Metric]:
        with self._news:
            groups, left_out = list(self._figures.values()), len(self._left_out)
        yield from metric_families(groups, left_out, _now_ms(), self.health)

    def alive(self, *, is_connected: bool) -> None:
        """The recorder has read everything that its brokers sent."""
        self.health.is_connected = is_connected
        if is_connected:
            self.health.read_ms = _now_ms()

    def _read_changed(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._changed or self._is_closed)
                if self._is_closed:
                    return
                changed, self._changed = self._changed, {}
            begun = time.monotonic()
            for group, folder in changed.items():
                self._read_one(group, folder)
            pause_s = max(_PAUSE_S, (time.monotonic() - begun) * _PAUSES_PER_READING)
            with self._news:
                self._news.wait_for(lambda: self._is_closed, pause_s)

    def _read_one(self, group: str, folder: Path) -> None:
        try:
            found = list(self.read(group, folder))
        except HistoryError:
            return
        except AssignorLabError as error:
            if group not in self._unread:
                self._unread.add(group)
                self.on_trouble(f"no metrics of group {group}: {error}")
            return
        with self._news:
            # A pseudonym of the group may be in the folder.
            for each in found:
                self._figures[group] = attrs.evolve(each, group=group)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
