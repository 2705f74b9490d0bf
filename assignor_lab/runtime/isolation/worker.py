"""The process of one plugin: reads questions, calls the plugin, writes answers.

A question names its function (``module:function``), so this module is independent of kinds of groups. Questions are
pickled plain data from the lab, which this process can trust. Answers are JSON, because the lab must not unpickle data
from a plugin. A plugin can tamper with everything in this process, so the lab checks the whole answer again.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from assignor_lab.runtime.invocation import CallFailure, failure_of

__all__ = [
    "CONNECTION_CLOSED",
    "JAVA_STACK",
    "LENGTH_BYTES",
    "OUT_OF_MEMORY",
    "WHERE_SIGNAL",
    "Memory",
    "failure_document",
    "is_plugins_process",
    "named",
    "serve",
    "shows_instead",
]

#: Memory of the process from question to question.
Memory = dict[str, Any]

#: Bytes of the length before a message.
LENGTH_BYTES = 8
#: Exit code of a process whose connection was closed.
CONNECTION_CLOSED = 71
#: Answer for lack of memory.
OUT_OF_MEMORY: Mapping[str, Any] = {"loss": "memory"}
#: Signal at which the process writes the position of its code, in any state; then it is ended.
WHERE_SIGNAL = signal.SIGUSR1
#: First line of a position in another form than Python's: frames of Java follow, the innermost first.
JAVA_STACK = b"Java stack (most recent call first):\n"
_serving: dict[int, int] = {}


def serve(connection: int) -> NoReturn:
    memory: Memory = {}
    _serving[os.getpid()] = connection
    faulthandler.register(WHERE_SIGNAL, file=connection, all_threads=False)
    try:
        while True:
            number, name, arguments = pickle.loads(_read(connection))  # noqa: S301 - from the lab, see above
            refusal = _packed(number, OUT_OF_MEMORY)  # allocated in advance
            try:
                answer = _packed(number, _answered(name, memory, arguments))
            except MemoryError:
                answer = refusal
            _write(connection, answer)
    except OSError:
        os._exit(CONNECTION_CLOSED)


def is_plugins_process() -> bool:
    """True in the process of a plugin, whose end affects only that plugin."""
    return os.getpid() in _serving


@contextlib.contextmanager
def shows_instead(frames: Callable[[], bytes]) -> Iterator[None]:
    """Lets the process write other frames than its own at :data:`WHERE_SIGNAL`, for a call in a process of Java.

    Without effect outside a plugin's process.

    Args:
        frames: Lines of Java's frames; called in the handler of the signal.
    """
    connection = _serving.get(os.getpid())
    if connection is None:
        yield
        return

    def write(_number: int, _frame: object) -> None:
        with contextlib.suppress(OSError):
            os.write(connection, JAVA_STACK + frames())

    faulthandler.unregister(WHERE_SIGNAL)
    before = signal.signal(WHERE_SIGNAL, write)
    try:
        yield
    finally:
        signal.signal(WHERE_SIGNAL, before)
        faulthandler.register(WHERE_SIGNAL, file=connection, all_threads=False)


def _answered(name: str, memory: Memory, arguments: tuple[Any, ...]) -> Mapping[str, Any]:
    try:
        handler: Callable[..., Mapping[str, Any]] = named(name)
        document = handler(memory, *arguments)
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, KeyboardInterrupt included
        document = {"failure": failure_document(failure_of(error))}
    for stream in (sys.stdout, sys.stderr):
        # Output during a call counts in that call.
        with contextlib.suppress(Exception):
            stream.flush()
    return document


def named(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def failure_document(failure: CallFailure) -> list[str | None]:
    return [failure.type, failure.java_type, failure.message, failure.traceback]


def _packed(number: int, document: Mapping[str, Any]) -> bytes:
    content = json.dumps({**document, "number": number}, ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return len(content).to_bytes(LENGTH_BYTES, "big") + content


def _read(connection: int) -> bytes:
    return _exactly(connection, int.from_bytes(_exactly(connection, LENGTH_BYTES), "big"))


def _exactly(connection: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(connection, min(count, 2**20))
        if not part:
            os._exit(0)  # the lab has closed this process
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(connection: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(connection, rest) :]
