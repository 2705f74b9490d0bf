"""One JVM with one Java assignor: started, asked, ended; what it is asked and what it answers goes by in frames."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
from collections.abc import Mapping
from importlib.resources import as_file, files
from typing import IO, Any, NoReturn

import attrs

from assignment_api.plugins import PluginLoadError
from assignor_lab.documents.frames import LENGTH_BYTES, FrameError, framed, length_in
from assignor_lab.runtime.isolation.worker import is_plugins_process
from assignor_lab.runtime.java.errors import JavaAnswerError, JavaEndedError, raised_in_java
from assignor_lab.runtime.java.problems import problem_sentence

__all__ = ["JavaPlace", "Jvm", "jvm_of"]

_MAIN = "assignorlab.driver.Main"
#: Share of a process's memory that is Java's heap; the rest is for its code, its stacks and Python.
_HEAP_SHARE = 0.6
_LEAST_HEAP_MB = 16
#: Longest answer that is read; the lab has a limit of its own, by which it tells who broke it.
_MOST_BYTES = 1 << 30
#: Seconds that a JVM without work has to end.
_PATIENCE_SECONDS = 5.0


@attrs.frozen
class JavaPlace:
    """A Java assignor with everything that it runs with.

    Args:
        subject: What messages call it.
        class_name: Its class.
        jars: Its own jars and folders.
        kafka: Kafka's.
        program: The program ``java``.
        configs: Further keys for ``configure``, with their values.
        setting: Before the key of a setting of it.
    """

    subject: str
    class_name: str
    jars: tuple[str, ...]
    kafka: tuple[str, ...]
    program: str
    configs: tuple[tuple[str, str], ...] = ()
    setting: str = "assignor.java."


class Jvm:
    """A JVM that has loaded an assignor.

    Where it is in a plugin's process, that one ends as its JVM does, so that this is told as of any plugin.

    Args:
        place: The assignor.

    Raises:
        PluginLoadError: if the assignor cannot be had; a sentence says why, with a remedy.
    """

    def __init__(self, place: JavaPlace) -> None:
        self._place = place
        self.owner = os.getpid()
        with as_file(files("assignor_lab") / "jars" / "driver.jar") as driver:
            self._process = _started(place, str(driver))
            try:
                hello = self._read()
            except (JavaAnswerError, JavaEndedError) as error:
                raise PluginLoadError(
                    f"{place.subject}: {place.program} did not start ({error}): it has to be a Java 11 or later, and "
                    "to have room for it (assignor.plugins.memory.mb)"
                ) from error
        if "problem" in hello:
            self.close()
            raise PluginLoadError(problem_sentence(place.subject, place.class_name, place.program, hello))
        #: Whether it has a callback of its own.
        self.observes = hello.get("observes") is True
        #: The tasks that this JVM knows, in the form of who asked last.
        self.known: object = None

    def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a question.

        Raises:
            JavaError: a subclass, what the assignor raised.
            JavaEndedError: if the JVM has ended.
            MemoryError: if the assignor needed more memory than there is.
        """
        try:
            _stream(self._process.stdin).write(framed(question))
            _stream(self._process.stdin).flush()
        except OSError:
            self._gone()
        try:
            answer = self._read()
        except JavaEndedError:
            self._gone()
        if answer.get("loss") == "memory":
            self.close()
            raise MemoryError
        if "raised" in answer:
            raise raised_in_java(answer["raised"], self._place.setting)
        return answer

    def ask_of(self, question: Mapping[str, Any], tasks: object) -> Mapping[str, Any]:
        """The answer to a question about tasks; it knows them once it has answered. Errors as of :meth:`ask`."""
        self.known = None
        answer = self.ask(question)
        self.known = tasks
        return answer

    @property
    def is_running(self) -> bool:
        """Whether it can be asked, by this process."""
        return self.owner == os.getpid() and self._process.poll() is None

    def close(self) -> None:
        """Ends it."""
        if self.owner != os.getpid():
            return
        with contextlib.suppress(OSError):
            _stream(self._process.stdin).close()
        try:
            self._process.wait(0 if self._process.returncode is not None else _PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        _stream(self._process.stdout).close()

    def _read(self) -> dict[str, Any]:
        try:
            document = _document(_stream(self._process.stdout))
        except FrameError as error:
            self._process.kill()
            self.close()
            # Not what came, and where: that depends on the moment.
            raise JavaAnswerError(
                f"{self._place.subject} wrote to the standard output of its JVM beside System.out, where its answers "
                "are: have it print by System.out"
            ) from error
        if document is None:
            raise JavaEndedError(f"{self._place.subject} ended its JVM ({self._end()})")
        return document

    def _end(self) -> str:
        try:
            code = self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return "it closed its output"
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def _gone(self) -> NoReturn:
        end = self._end()
        code = self._process.returncode
        self.close()
        if is_plugins_process():
            # The lab learns of it as of any plugin that ends its process.
            if code < 0:
                os.kill(os.getpid(), -code)
                signal.pause()
            os._exit(code)
        raise JavaEndedError(f"{self._place.subject} ended its JVM ({end}): repair the assignor")


_running: dict[JavaPlace, Jvm] = {}


def jvm_of(place: JavaPlace) -> Jvm:
    """The JVM of an assignor in this process; it is started where there is none. Errors as of :class:`Jvm`."""
    known = _running.get(place)
    if known is None or not known.is_running:
        known = _running[place] = Jvm(place)
    return known


def _started(place: JavaPlace, driver: str) -> subprocess.Popen[bytes]:
    command = [
        place.program,
        *_options(),
        "-cp",
        os.pathsep.join([driver, *place.kafka]),
        _MAIN,
        place.class_name,
        *place.jars,
    ]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    except OSError as error:
        raise PluginLoadError(f"{place.subject}: {place.program} cannot be started: {error.strerror}") from error


def _options() -> list[str]:
    options = [
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UseSerialGC",
        "-XX:-UsePerfData",
        "-XX:MaxJavaStackTraceDepth=100000",
        "-XX:ErrorFile=/dev/null",
        "-Xms16m",
        "-Dfile.encoding=UTF-8",
        "-Duser.timezone=UTC",
        "-Duser.language=en",
    ]
    # Hashes of objects without one of their own decide orders: they are constant, so that equal questions have equal
    # answers. Who wants to see what depends on them asks under another seed, as with Python's.
    mode = 2 if os.environ.get("PYTHONHASHSEED", "0") == "0" else 1
    options += ["-XX:+UnlockExperimentalVMOptions", f"-XX:hashCode={mode}"]
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit != resource.RLIM_INFINITY:
        heap = max(int(limit / 2**20 * _HEAP_SHARE), _LEAST_HEAP_MB)
        options += [f"-Xmx{heap}m", "-XX:ReservedCodeCacheSize=64m"]
    if folder := os.environ.get("TMPDIR"):
        options += [f"-Djava.io.tmpdir={folder}", f"-Duser.home={folder}"]
    return options


def _document(stream: IO[bytes]) -> dict[str, Any] | None:
    """The document of the next frame; ``None`` where the stream ends before it or in it.

    Raises:
        FrameError: if what comes is no frame with an object.
    """
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    length = length_in(head, _MOST_BYTES)
    content = stream.read(length)
    if len(content) < length:
        return None
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FrameError("a frame without JSON") from error
    if not isinstance(document, dict):
        raise FrameError("a frame without an object")
    return document


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
