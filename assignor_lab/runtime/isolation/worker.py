"""The process of one plugin: reads questions, asks the plugin, writes answers.

What comes in is pickled plain data from the lab, which this process has no reason to distrust. What goes out is JSON:
the lab must not unpickle what a plugin may have written. Everything in here can be tampered with by the plugin, so the
lab believes nothing of an answer: it checks all of it again.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any, NoReturn

from assignment_api.plugins import FoundTaskAssignor, Policy, discover
from assignment_api.plugins.named_code import task_assignor_asked_for
from assignor_lab.runtime.invocation import Failure, Outcome, failure_of, invoke
from assignor_lab.runtime.isolation.transfer import Receiver, answer_document

__all__ = ["serve"]

#: Bytes before a message that tell its length.
LENGTH_BYTES = 8
#: What is answered where there is no memory left to answer with.
_OUT_OF_MEMORY = b'{"loss":"memory"}'


def serve(connection: int) -> NoReturn:
    """Answers questions until the connection ends.

    Args:
        connection: File descriptor of a stream socket.
    """
    state = _State()
    handlers: Mapping[str, Callable[..., dict[str, Any]]] = {"load": state.load, "streams": state.streams}
    packed_refusal = _packed(_OUT_OF_MEMORY)
    while True:
        try:
            question = pickle.loads(_read(connection))  # noqa: S301 - from the lab, see above
            answer = _packed(_answered(handlers, question))
        except MemoryError:
            answer = packed_refusal
        _write(connection, answer)


def _answered(handlers: Mapping[str, Callable[..., dict[str, Any]]], question: tuple[str, tuple[Any, ...]]) -> bytes:
    name, arguments = question
    try:
        document = handlers[name](*arguments)
    except MemoryError:
        return _OUT_OF_MEMORY
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, KeyboardInterrupt included
        document = {"failure": failure_document(failure_of(error))}
    for stream in (sys.stdout, sys.stderr):
        # What is printed in a call counts in that call.
        with contextlib.suppress(Exception):
            stream.flush()
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode("ascii")


class _State:
    """The plugin of this process, and what is kept from call to call."""

    def __init__(self) -> None:
        self._found: FoundTaskAssignor | None = None
        self._receiver = Receiver()

    def load(self, selector: str, distribution: str | None, _kind: str, path: list[str]) -> dict[str, Any]:
        """Imports the plugin, and no other one."""
        sys.path[:] = path
        importlib.invalidate_caches()
        # What is allowed, blocked and pinned was settled by the lab, before it asked for this process.
        if distribution is None:
            self._found = task_assignor_asked_for(selector)
        else:
            registry = discover(Policy(), [metadata.distribution(distribution)])
            self._found = registry.task_assignor(selector, may_run_code=True)
        return {}

    def streams(self, application: bytes, tasks: bytes, configs: Mapping[str, Any]) -> dict[str, Any]:
        """Lets the assignor place the tasks of an application."""
        assert self._found is not None
        received = self._receiver.application(application, tasks)
        start = perf_counter_ns()
        outcome = invoke(self._found, received, read_only(configs))
        if outcome.input_mutated:
            self._receiver = Receiver()
        if outcome.out_of_memory:
            return {"loss": "memory"}
        return {"call_ns": perf_counter_ns() - start, **_outcome_document(outcome, received)}


def _outcome_document(outcome: Outcome, application: Any) -> dict[str, Any]:
    document: dict[str, Any] = {"ns": outcome.assign_ns}
    if outcome.assignment is None:
        failure = outcome.failure or Failure("InternalError", None, "neither an answer nor a failure")
        return document | {"failure": failure_document(failure), "validation": outcome.validation.name}
    return document | {"answer": answer_document(application, outcome.assignment)}


def failure_document(failure: Failure) -> list[str | None]:
    """A failure as it travels."""
    return [failure.type, failure.java_type, failure.message]


def read_only(value: Any) -> Any:
    """Plain data as a plugin is shown it."""
    if isinstance(value, dict):
        return MappingProxyType({key: read_only(item) for key, item in value.items()})
    return value


def _packed(content: bytes) -> bytes:
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
