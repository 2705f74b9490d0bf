"""The released classes of Kafka, called by JSON lines: one JVM for each required release."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from assignment_api.java import JdkGeneration
from assignment_api.releases import KNOWN_RELEASES

__all__ = [
    "DRIVERS",
    "KAFKA_VERSION",
    "VERSIONS",
    "OfficialKafka",
    "OfficialKafkaError",
    "OfficialKafkaSilentError",
    "release_of",
]

#: Release by its driver's folder; that folder's ``pom.xml`` names it, too.
DRIVERS = {f"kafka-{each.line}": str(each) for each in KNOWN_RELEASES}
#: Those that a plain run calls.
VERSIONS = {key: DRIVERS[key] for key in ("kafka-4.3", "kafka-4.4")}
#: For all assignors that exist in only one release.
_USUAL = "kafka-4.3"
KAFKA_VERSION = VERSIONS[_USUAL]
_ELSEWHERE = dict.fromkeys(("sticky_4_4", "group_sticky_4_4", "reconciliation_4_4"), "kafka-4.4")

_ROOT = Path(__file__).resolve().parent.parent
_BUILD = _ROOT / "build" / "official"
#: First JDK with the newer size of copied sets and maps (Kafka: ``java.util.HashMap``).
_NEWER_COPIES = 19
#: Suffix of the key of a JVM that an endless search may cost.
_APART = " apart"


def release_of(assignor: str) -> str:
    """A key of :data:`VERSIONS`, also for ``utils.*``, ``threads`` or ``reconciliation*``."""
    return _ELSEWHERE.get(assignor, _USUAL)


class OfficialKafkaError(Exception):
    """The JVM could not be started, or ended early; the message has the end of its output."""


class OfficialKafkaSilentError(OfficialKafkaError):
    """No answer came in time; the JVM was ended, and the next request starts another one."""


class OfficialKafka:
    """The classes of all releases; a context manager that ends its JVMs.

    Args:
        heap: Size of a JVM's heap, in the form of ``-Xmx``.
        only: The release that answers everything, a key of :data:`DRIVERS`; ``None``: that of each assignor.

    Raises:
        OfficialKafkaError: if the drivers are not built.
    """

    def __init__(self, heap: str = "2g", only: str | None = None) -> None:
        needed = VERSIONS if only is None else [only]
        if not all((_BUILD / release / "classes" / ".built").exists() for release in needed):
            lines = "" if only is None else f" {only.removeprefix('kafka-')}"
            raise OfficialKafkaError(
                f"the drivers for Kafka's classes are not built: run scripts/build-official{lines}"
            )
        self._heap = heap
        self._only = only
        self._running: dict[str, _Jvm] = {}

    @property
    def version(self) -> str:
        """Version and vendor of the Java runtime."""
        started = self._any_jvm().started
        return f"{started['java']} ({started['vendor']})"

    @property
    def jdk(self) -> JdkGeneration:
        """The rule of its hash tables."""
        is_newer = self._any_jvm().started["feature"] >= _NEWER_COPIES
        return JdkGeneration.JDK_19 if is_newer else JdkGeneration.JDK_17

    def rows(
        self,
        scenario: Mapping[str, Any],
        assignors: Sequence[str],
        *,
        threads: bool = False,
        patience_s: float | None = None,
        apart: bool = False,
    ) -> list[dict[str, Any]]:
        """The result rows of ``assignors`` (also ``utils.*``, ``threads`` and ``reconciliation*``).

        Args:
            apart: In a JVM of its own, which may be lost to an endless search.

        Raises:
            OfficialKafkaSilentError: without an answer after ``patience_s`` seconds; ``None``: no limit.
        """
        found: dict[str, dict[str, Any]] = {}
        for release in dict.fromkeys(map(self._release_of, assignors)):
            named = [name for name in assignors if self._release_of(name) == release]
            request = {"do": "answer", "assignors": named, "threads": threads, "scenario": scenario}
            answer = self._ask(release, request, patience_s, _APART if apart else "")
            found.update(zip(named, answer["rows"], strict=True))
        return [found[name] for name in assignors]

    def measured(
        self, scenario: Mapping[str, Any], assignor: str, *, warmup: int, repeat: int, patience_ms: int
    ) -> dict[str, Any]:
        """Durations of the assign call alone (``times_ns``) and the fullest heap (``peak_heap_bytes``).

        Args:
            warmup: Calls before the measured ones; one only, if it takes over a second.
            patience_ms: After this time in calls no further one is made; there is always one.
        """
        request = {
            "do": "bench",
            "assignor": assignor,
            "warmup": warmup,
            "repeat": repeat,
            "patience_ms": patience_ms,
            "scenario": scenario,
        }
        return self._jvm(self._release_of(assignor)).ask(request)

    def close(self) -> None:
        """Ends the JVMs."""
        for running in self._running.values():
            running.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for running in self._running.values():
                running.kill()
        self.close()

    def _ask(self, release: str, request: Mapping[str, Any], patience_s: float | None, suffix: str) -> dict[str, Any]:
        try:
            return self._jvm(release, suffix).ask(request, patience_s)
        except OfficialKafkaSilentError:
            del self._running[release + suffix]
            raise

    def _release_of(self, assignor: str) -> str:
        return self._only or release_of(assignor)

    def _any_jvm(self) -> _Jvm:
        return self._jvm(next(iter(self._running), self._only or _USUAL).removesuffix(_APART))

    def _jvm(self, release: str, suffix: str = "") -> _Jvm:
        if release + suffix not in self._running:
            self._running[release + suffix] = _Jvm(_BUILD / release, self._heap)
        return self._running[release + suffix]


class _Jvm:
    """One JVM with the driver of a release.

    Raises:
        OfficialKafkaError: if it does not start.
    """

    def __init__(self, built: Path, heap: str) -> None:
        java = str(Path(os.environ["JAVA_HOME"]) / "bin" / "java") if os.environ.get("JAVA_HOME") else "java"
        class_path = f"{built / 'classes'}{os.pathsep}{built / 'lib' / '*'}"
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the JVM
        self._process = subprocess.Popen(
            [java, f"-Xmx{heap}", "-XX:+UseSerialGC", "-cp", class_path, "official.Main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
        )
        try:
            self.started: Mapping[str, Any] = self._read()
        except OfficialKafkaError:
            self.close()
            raise

    def ask(self, request: Mapping[str, Any], patience_s: float | None = None) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            OfficialKafkaSilentError: after ``patience_s`` seconds without one; the JVM is ended.
        """
        stdin = _stream(self._process.stdin)
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        # One line is an answer: the buffer has no part of it yet.
        if not select.select([_stream(self._process.stdout)], [], [], patience_s)[0]:
            self.kill()
            self.close()
            raise OfficialKafkaSilentError(f"no answer after {patience_s} s")
        return self._read()

    def kill(self) -> None:
        """:meth:`close` is still needed."""
        self._process.kill()

    def close(self) -> None:
        """Ends it after its answer."""
        _stream(self._process.stdin).close()
        self._process.wait()
        _stream(self._process.stdout).close()
        self._messages.close()

    def _read(self) -> dict[str, Any]:
        line = _stream(self._process.stdout).readline()
        if not line:
            self._messages.seek(0)
            lines = self._messages.read().decode(errors="replace").strip().splitlines()
            raise OfficialKafkaError("the JVM with Kafka's classes ended: " + " | ".join(lines[-5:]))
        answer: dict[str, Any] = json.loads(line)
        return answer


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
