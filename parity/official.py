"""The released kafka-streams classes in one JVM, asked by JSON lines."""

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

__all__ = ["KAFKA_VERSION", "OfficialKafka", "OfficialKafkaError", "OfficialKafkaSilentError"]

#: The release that answers; ``java/pom.xml`` names it too.
KAFKA_VERSION = "4.3.1"

_ROOT = Path(__file__).resolve().parent.parent
_BUILD = _ROOT / "build" / "official"
#: First feature release of the JDK whose copies of sets and maps have the newer size (reference 1.3).
_NEWER_COPIES = 19


class OfficialKafkaError(Exception):
    """The JVM could not be started, or ended before its answer; the message has the end of what it printed."""


class OfficialKafkaSilentError(OfficialKafkaError):
    """No answer came in time; the JVM was ended, and another one has been started."""


class OfficialKafka:
    """One JVM with the driver of ``java/``; a context manager that ends it.

    Args:
        heap: Size of the heap, as ``-Xmx`` has it.

    Raises:
        OfficialKafkaError: if it does not start.
    """

    def __init__(self, heap: str = "2g") -> None:
        if not (_BUILD / "classes" / ".built").exists():
            raise OfficialKafkaError("the driver for Kafka's classes is not built: run scripts/build-official")
        self._heap = heap
        self._start()

    def _start(self) -> None:
        java = str(Path(os.environ["JAVA_HOME"]) / "bin" / "java") if os.environ.get("JAVA_HOME") else "java"
        class_path = f"{_BUILD / 'classes'}{os.pathsep}{_BUILD / 'lib' / '*'}"
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the JVM
        self._process = subprocess.Popen(
            [java, f"-Xmx{self._heap}", "-XX:+UseSerialGC", "-cp", class_path, "official.Main"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
        )
        try:
            self._started: Mapping[str, Any] = self._read()
        except OfficialKafkaError:
            self.close()
            raise

    @property
    def version(self) -> str:
        """Version and vendor of the Java runtime."""
        return f"{self._started['java']} ({self._started['vendor']})"

    @property
    def jdk(self) -> JdkGeneration:
        """Which rule its hash tables follow."""
        return JdkGeneration.JDK_19 if self._started["feature"] >= _NEWER_COPIES else JdkGeneration.JDK_17

    def rows(
        self,
        scenario: Mapping[str, Any],
        assignors: Sequence[str],
        *,
        threads: bool = False,
        patience_s: float | None = None,
    ) -> list[dict[str, Any]]:
        """The result rows of ``assignors`` (also ``utils.*`` and ``threads``) for a scenario document.

        Raises:
            OfficialKafkaSilentError: if they are not there after ``patience_s`` seconds; ``None``: waits for ever.
        """
        request = {"do": "answer", "assignors": list(assignors), "threads": threads, "scenario": scenario}
        answer: list[dict[str, Any]] = self._ask(request, patience_s)["rows"]
        return answer

    def measured(
        self, scenario: Mapping[str, Any], assignor: str, *, warmup: int, repeat: int, patience_ms: int
    ) -> dict[str, Any]:
        """Durations of the assign call alone (``times_ns``) and the fullest heap (``peak_heap_bytes``).

        Args:
            scenario: The document.
            assignor: Its name.
            warmup: Calls before the measured ones; one only, if it takes over a second.
            repeat: Measured calls.
            patience_ms: After so much time in calls no further one is made; there is always one.
        """
        request = {
            "do": "bench",
            "assignor": assignor,
            "warmup": warmup,
            "repeat": repeat,
            "patience_ms": patience_ms,
            "scenario": scenario,
        }
        return self._ask(request)

    def close(self) -> None:
        """Ends the JVM."""
        _stream(self._process.stdin).close()
        self._process.wait()
        _stream(self._process.stdout).close()
        self._messages.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.kill()
        self.close()

    def _ask(self, request: Mapping[str, Any], patience_s: float | None = None) -> dict[str, Any]:
        stdin = _stream(self._process.stdin)
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        # One line is an answer, so nothing of it is in the buffer yet.
        if not select.select([_stream(self._process.stdout)], [], [], patience_s)[0]:
            self._process.kill()
            self.close()
            self._start()
            raise OfficialKafkaSilentError(f"no answer after {patience_s} s")
        return self._read()

    def _read(self) -> dict[str, Any]:
        line = _stream(self._process.stdout).readline()
        if not line:
            self._messages.seek(0)
            said = self._messages.read().decode(errors="replace").strip().splitlines()
            raise OfficialKafkaError("the JVM with Kafka's classes ended: " + " | ".join(said[-5:]))
        answer: dict[str, Any] = json.loads(line)
        return answer


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
