"""The process of one plugin: reads questions, asks the plugin, writes answers.

A question names the function that answers it (``module:function``), so that this module knows no kind of group. What
comes in is pickled plain data from the lab, which this process has no reason to distrust. What goes out is JSON:
the lab must not unpickle what a plugin may have written. Everything in here can be tampered with by the plugin, so the
lab believes nothing of an answer: it checks all of it again.
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
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from assignor_lab.runtime.invocation import Failure, failure_of

__all__ = [
    "CONNECTION_CLOSED",
    "LENGTH_BYTES",
    "OUT_OF_MEMORY",
    "WHERE_SIGNAL",
    "Memory",
    "failure_document",
    "is_plugins_process",
    "named",
    "serve",
]

#: What a process keeps from question to question.
Memory = dict[str, Any]

#: Bytes before a message that tell its length.
LENGTH_BYTES = 8
#: Exit code of a process whose connection was closed under it.
CONNECTION_CLOSED = 71
#: What is answered where there is no memory left to answer with.
OUT_OF_MEMORY: Mapping[str, Any] = {"loss": "memory"}
#: At this signal the process says where its code is, whatever keeps it from answering; then it is ended.
WHERE_SIGNAL = signal.SIGUSR1
#: The process that answers questions, if it is this one.
_serving: list[int] = []


def serve(connection: int) -> NoReturn:
    """Answers questions until the connection ends.

    Args:
        connection: File descriptor of a stream socket.
    """
    memory: Memory = {}
    _serving.append(os.getpid())
    faulthandler.register(WHERE_SIGNAL, file=connection, all_threads=False)
    try:
        while True:
            number, name, arguments = pickle.loads(_read(connection))  # noqa: S301 - from the lab, see above
            refusal = _packed(number, OUT_OF_MEMORY)  # made while there still is memory
            try:
                answer = _packed(number, _answered(name, memory, arguments))
            except MemoryError:
                answer = refusal
            _write(connection, answer)
    except OSError:
        os._exit(CONNECTION_CLOSED)


def is_plugins_process() -> bool:
    """Whether this is the process of a plugin: what ends it ends that plugin alone."""
    return os.getpid() in _serving


def _answered(name: str, memory: Memory, arguments: tuple[Any, ...]) -> Mapping[str, Any]:
    try:
        handler: Callable[..., Mapping[str, Any]] = named(name)
        document = handler(memory, *arguments)
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, KeyboardInterrupt included
        document = {"failure": failure_document(failure_of(error))}
    for stream in (sys.stdout, sys.stderr):
        # What is printed in a call counts in that call.
        with contextlib.suppress(Exception):
            stream.flush()
    return document


def named(place: str) -> Any:
    """What ``module:attribute`` means."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


def failure_document(failure: Failure) -> list[str | None]:
    """A failure as it travels."""
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
            os._exit(0)  # the lab has done with this process
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(connection: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(connection, rest) :]
