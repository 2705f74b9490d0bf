"""One JVM with one Java assignor: start, calls and end; questions and answers are frames."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
from collections.abc import Mapping
from importlib.resources import as_file, files
from time import monotonic
from typing import IO, Any, NoReturn

import attrs

from assignment_api.plugins import PluginLoadError
from assignor_lab.documents.frames import LENGTH_BYTES, FramingError, framed, length_in
from assignor_lab.runtime.isolation.worker import is_plugins_process, shows_instead
from assignor_lab.runtime.java.errors import JavaAnswerError, JavaEndedError, raised_in_java
from assignor_lab.runtime.java.problems import problem_sentence

__all__ = ["JavaPlace", "AssignorJvm", "jvm_of"]

_MAIN = "assignorlab.driver.Main"
#: Share of the memory limit for Java's heap; the rest is for code, stacks and Python.
_HEAP_SHARE = 0.6
_LEAST_HEAP_MB = 16
#: Longest answer to read; the lab has its own limit, which names the plugin.
_MOST_BYTES = 1 << 30
#: Seconds that an idle JVM has to end.
_PATIENCE_SECONDS = 5.0
#: Seconds that a busy JVM has for its thread dump, and the longest dump to read.
_DUMP_SECONDS = 1.2
_MOST_DUMP_BYTES = 1 << 20


@attrs.frozen
class JavaPlace:
    """A Java assignor with its environment.

    Args:
        configs: Further keys for ``configure``, with their values.
    """

    subject: str
    class_name: str
    jars: tuple[str, ...]
    kafka: tuple[str, ...]
    program: str
    configs: tuple[tuple[str, str], ...] = ()
    setting: str = "assignor.java."


class AssignorJvm:
    """A JVM that has loaded an assignor.

    In a plugin's process, that process ends with the JVM, so that the usual rules for plugins apply.

    Raises:
        PluginLoadError: if the assignor cannot be loaded; a sentence has the reason and a remedy.
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
        self.observes = hello.get("observes") is True
        #: Kinds of assignors whose interfaces its class implements.
        self.kinds: tuple[str, ...] = tuple(hello["kinds"])
        #: The tasks that this JVM has, in the form of the last caller.
        self.known: object = None

    def ask(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to a question.

        Raises:
            JavaError: a subclass, for an exception of the assignor.
            JavaEndedError: if the JVM has ended.
            MemoryError: if the assignor ran out of memory.
        """
        with shows_instead(self._main_frames):
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
        """The answer to a question about tasks, which the JVM keeps after its answer. Errors as of :meth:`ask`."""
        self.known = None
        answer = self.ask(question)
        self.known = tasks
        return answer

    @property
    def is_running(self) -> bool:
        return self.owner == os.getpid() and self._process.poll() is None

    def close(self) -> None:
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

    def _main_frames(self) -> bytes:
        """Frames of the JVM's main thread, from its thread dump; called once, before this process is ended.

        The dump goes to the JVM's standard output. No answer can come between its lines: the call is not over.
        """
        os.kill(self._process.pid, signal.SIGQUIT)
        output = _stream(self._process.stdout).fileno()
        dump = b""
        end = monotonic() + _DUMP_SECONDS
        while (left := end - monotonic()) > 0 and len(dump) < _MOST_DUMP_BYTES:
            ready, _, _ = select.select([output], [], [], left)
            part = os.read(output, 65_536) if ready else b""
            dump += part
            _, _, main = dump.partition(b'\n"main" ')
            frames, is_whole, _ = main.partition(b"\n\n")
            if is_whole or not part:
                return frames
        return b""

    def _read(self) -> dict[str, Any]:
        try:
            document = _document(_stream(self._process.stdout))
        except FramingError as error:
            self._process.kill()
            self.close()
            # The message omits content and position, which depend on the moment.
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
            # The lab sees it as the end of a plugin's process.
            if code < 0:
                os.kill(os.getpid(), -code)
                signal.pause()
            os._exit(code)
        raise JavaEndedError(f"{self._place.subject} ended its JVM ({end}): repair the assignor")


_running: dict[JavaPlace, AssignorJvm] = {}


def jvm_of(place: JavaPlace) -> AssignorJvm:
    """The JVM of an assignor in this process, started if necessary."""
    known = _running.get(place)
    if known is None or not known.is_running:
        known = _running[place] = AssignorJvm(place)
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
    # Default hashes of objects decide orders: they are constant, so that equal questions have equal answers. Another
    # seed shows an assignor's dependence on them, as with Python's.
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
    """The document of the next frame; ``None`` if the stream ends before its end.

    Raises:
        FrameError: if it is no frame with an object.
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
        raise FramingError("a frame without JSON") from error
    if not isinstance(document, dict):
        raise FramingError("a frame without an object")
    return document


def _stream(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
