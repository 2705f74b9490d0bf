"""A worker's readings in Prometheus' text format.

Names follow Connect's JMX names as the usual exporters write them: attribute ``connector-restarting-task-count`` of
group ``connect-worker-metrics`` is ``kafka_connect_worker_connector_restarting_task_count``. A text, such as a state or
a class, becomes ``…_info`` with the value 1 and the text in the label ``value``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from connect_workers import contract as h

__all__ = ["CONTENT_TYPE", "exposition"]

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_NOT_NAME = re.compile(r"[^a-zA-Z0-9_]+")


def exposition(readings: Iterable[h.WorkerMetric]) -> bytes:
    """All readings, families in the order of their first reading."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Readings(list(readings)))
    return generate_latest(registry)


class _Readings(Collector):
    def __init__(self, readings: Sequence[h.WorkerMetric]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        families: dict[tuple[str, tuple[str, ...]], Metric] = {}
        for reading in self._readings:
            labels = tuple(_NOT_NAME.sub("_", label) for label in reading.labels)
            text = isinstance(reading.value, str)
            name = _family_name(reading) + ("_text" if text else "")
            family = families.get((name, labels))
            if family is None:
                family = families[name, labels] = _family(reading, name, labels)
            _add(family, reading)
        yield from families.values()


def _family_name(reading: h.WorkerMetric) -> str:
    group = reading.group.removeprefix("connect-").removesuffix("-metrics")
    return _NOT_NAME.sub("_", f"kafka_connect_{group}_{reading.name}")


def _family(reading: h.WorkerMetric, name: str, labels: tuple[str, ...]) -> Metric:
    help_text = f"Attribute {reading.name} of {reading.group} in Kafka Connect."
    if isinstance(reading.value, str):
        return InfoMetricFamily(name.removesuffix("_text"), help_text, labels=labels)
    if reading.name.endswith("-total"):
        return CounterMetricFamily(name.removesuffix("_total"), help_text, labels=labels)
    return GaugeMetricFamily(name, help_text, labels=labels)


def _add(family: Metric, reading: h.WorkerMetric) -> None:
    values = list(reading.labels.values())
    if isinstance(family, InfoMetricFamily) and isinstance(reading.value, str):
        family.add_metric(values, {"value": reading.value})
    elif isinstance(family, CounterMetricFamily | GaugeMetricFamily) and not isinstance(reading.value, str):
        family.add_metric(values, reading.value)
