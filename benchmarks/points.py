"""Points of the benchmark: each scenario of the scale set with each assignor that has recorded answers."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

__all__ = ["CONNECT_SCALE", "GROUP_SCALES", "SCALE", "TWICE_JAVA", "Measurement", "Point", "points", "target_of"]

_DATA = Path(__file__).resolve().parent.parent / "tests" / "data" / "scale"
SCALE = _DATA / "streams"
#: Groups of the streams protocol, with the answers of Kafka 4.3.1 and of 4.4.0.
GROUP_SCALES = (_DATA / "streams-group", _DATA / "streams-group-4.4")
CONNECT_SCALE = _DATA / "connect"

#: Name in Kafka's answers to the lab's assignor.
_CONNECT_NAMES = {"incremental_cooperative": "connect_incremental", "eager": "connect_eager"}

#: From this duration of Java on, the lab must be several times faster.
LONG_MS = 1000.0
#: Otherwise the lab may take longer than Java, up to this limit.
MOST_MS = 150.0


#: Families of short, frequent calls: the lab may take twice as long as Java. They are measured again after the JVM's
#: compilation: single calls are noise.
TWICE_JAVA = ("small", "jmh")


@attrs.frozen
class Point:
    """A scenario and an assignor."""

    file: Path
    scenario: str
    assignor: str

    @property
    def family(self) -> str:
        """First word of the file's name; a family has one target."""
        return self.file.name.partition(".")[0].partition("-")[0]


@attrs.frozen
class Measurement:
    """The results of a point.

    Args:
        official_ns: Durations of Kafka's call.
        own_ns: Durations of the lab's call.
        official_heap: Fullest heap of the JVM, bytes.
        own_memory: Most resident memory of a process with one assignment, bytes.
        is_hot: Measured after the JVM's compilation.
    """

    point: Point
    tasks: int
    clients: int
    official_ns: Sequence[int]
    own_ns: Sequence[int]
    official_heap: int
    own_memory: int
    java: str
    is_hot: bool = False

    @property
    def official_ms(self) -> float:
        return statistics.median(self.official_ns) / 1e6

    @property
    def own_ms(self) -> float:
        return statistics.median(self.own_ns) / 1e6

    @property
    def speedup(self) -> float:
        """Below 1 the lab is slower."""
        return self.official_ms / self.own_ms


def points(only: str) -> Iterator[Point]:
    """Points of files with ``only`` in their names, in the order of the scenarios."""
    digests: dict[str, dict[str, str]] = json.loads((SCALE / "digests.json").read_text())
    for file in sorted(path for path in SCALE.glob("*.jsonl.gz") if only in path.name):
        stem = file.name.removesuffix(".jsonl.gz")
        for scenario, assignors in digests.items():
            # Variants have one more word: small-4x40-racks-cold.
            if scenario.startswith(f"{stem}-") and not _belongs_to_longer(stem, scenario):
                for assignor in sorted(assignors):
                    yield Point(file, scenario, assignor)
    yield from _group_points(only)
    yield from _connect_points(only)


def _group_points(only: str) -> Iterator[Point]:
    """Digests are filed as ``<scenario>/<assignor>``."""
    for folder in GROUP_SCALES:
        (file,) = folder.glob("*.jsonl.gz")
        if only in file.name:
            for key in json.loads((folder / "digests.json").read_text()):
                scenario, _, assignor = key.rpartition("/")
                yield Point(file, scenario, assignor)


def _connect_points(only: str) -> Iterator[Point]:
    """A call is a whole history, and its slowest round counts."""
    for key in json.loads((CONNECT_SCALE / "digests.json").read_text()):
        scenario, _, assignor = key.rpartition("/")
        stem, _, _ = scenario.rpartition("-")
        file = CONNECT_SCALE / f"{stem}.scenarios.jsonl.gz"
        if only in file.name:
            yield Point(file, scenario, _CONNECT_NAMES[assignor])


def _belongs_to_longer(stem: str, scenario: str) -> bool:
    stems = [path.name.removesuffix(".jsonl.gz") for path in SCALE.glob("*.jsonl.gz")]
    return any(len(other) > len(stem) and scenario.startswith(f"{other}-") for other in stems)


def target_of(measurement: Measurement) -> tuple[str, bool]:
    """A point's target in words, and true if it is met."""
    if measurement.point.family == "rack":
        return "5x faster", measurement.speedup >= 5
    if measurement.official_ms > LONG_MS:
        return "3x faster", measurement.speedup >= 3
    if measurement.point.family in TWICE_JAVA:
        return "2x Java", measurement.own_ms <= 2 * measurement.official_ms
    holds = measurement.own_ms <= 10 * measurement.official_ms and measurement.own_ms < MOST_MS
    return "10x Java, 150 ms", holds
