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

from assignment_api.plugins import FoundConnectAssignor, FoundTaskAssignor, Policy, discover
from assignment_api.plugins.named_code import connect_assignor_asked_for, task_assignor_asked_for
from assignor_lab.groups.connect.invocation import LeadingAssignor
from assignor_lab.groups.connect.transfer import connect_answer_document, unpacked_rebalance
from assignor_lab.groups.streams.probed import probe_document
from assignor_lab.groups.streams.transfer import Receiver, answer_document
from assignor_lab.runtime.invocation import Failure, Outcome, failure_of, invoke

__all__ = ["serve"]

#: Bytes before a message that tell its length.
LENGTH_BYTES = 8
#: Exit code of a process whose connection was closed under it.
CONNECTION_CLOSED = 71
#: Assignors of workers that are kept at a time: those of one group, and copies that see what would follow.
MAX_LEADING = 256
#: What is answered where there is no memory left to answer with.
_OUT_OF_MEMORY: Mapping[str, Any] = {"loss": "memory"}


def serve(connection: int) -> NoReturn:
    """Answers questions until the connection ends.

    Args:
        connection: File descriptor of a stream socket.
    """
    state = _State()
    handlers: Mapping[str, Callable[..., Mapping[str, Any]]] = {
        "load": state.load,
        "streams": state.streams,
        "connect": state.connect,
        "connect_copy": state.connect_copy,
        "probe": state.probe,
    }
    try:
        while True:
            number, name, arguments = pickle.loads(_read(connection))  # noqa: S301 - from the lab, see above
            refusal = _packed(number, _OUT_OF_MEMORY)  # made while there still is memory
            try:
                answer = _packed(number, _answered(handlers[name], arguments))
            except MemoryError:
                answer = refusal
            _write(connection, answer)
    except OSError:
        os._exit(CONNECTION_CLOSED)


def _answered(handler: Callable[..., Mapping[str, Any]], arguments: tuple[Any, ...]) -> Mapping[str, Any]:
    try:
        document = handler(*arguments)
    except MemoryError:
        return _OUT_OF_MEMORY
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, KeyboardInterrupt included
        document = {"failure": failure_document(failure_of(error))}
    for stream in (sys.stdout, sys.stderr):
        # What is printed in a call counts in that call.
        with contextlib.suppress(Exception):
            stream.flush()
    return document


class _State:
    """The plugin of this process, and what is kept from call to call."""

    def __init__(self) -> None:
        self._found: FoundTaskAssignor | FoundConnectAssignor | None = None
        self._leading: dict[int, LeadingAssignor] = {}
        self._receiver = Receiver()

    def load(self, selector: str, distribution: str | None, kind: str, path: list[str]) -> dict[str, Any]:
        """Imports the plugin, and no other one."""
        sys.path[:] = path
        importlib.invalidate_caches()
        # What is allowed, blocked and pinned was settled by the lab, before it asked for this process.
        if distribution is None:
            self._found = (task_assignor_asked_for if kind == "streams" else connect_assignor_asked_for)(selector)
            return {}
        registry = discover(Policy(), [metadata.distribution(distribution)])
        select = registry.task_assignor if kind == "streams" else registry.connect_assignor
        self._found = select(selector, may_run_code=True)
        return {}

    def streams(self, application: bytes, tasks: bytes, configs: Mapping[str, Any]) -> dict[str, Any]:
        """Lets the assignor place the tasks of an application."""
        assert isinstance(self._found, FoundTaskAssignor)
        received = self._receiver.application(application, tasks)
        start = perf_counter_ns()
        outcome = invoke(self._found, received, read_only(configs))
        if outcome.input_mutated:
            self._receiver = Receiver()
        if outcome.out_of_memory:
            return dict(_OUT_OF_MEMORY)
        return {"call_ns": perf_counter_ns() - start, **_outcome_document(outcome, received)}

    def probe(self, application: bytes, tasks: bytes, configs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Finds out what a call costs, and what its answer depends on."""
        assert isinstance(self._found, FoundTaskAssignor)
        # A state of its own for each probe: an assignor that changes its input must not change that of the next one.
        return probe_document(self._found, Receiver().application(application, tasks), read_only(configs))

    def connect(
        self, number: int, configs: Mapping[str, Any], past: tuple[bytes, ...] | None, rebalance: bytes
    ) -> Mapping[str, Any]:
        """Lets the assignor of a worker place the jobs of a group.

        Args:
            number: Which worker's assignor it is.
            configs: Its configuration.
            past: The rounds that it has answered, where this process does not know of them; ``None``: it does.
            rebalance: What is to be answered.
        """
        assert isinstance(self._found, FoundConnectAssignor)
        leading = self._leading.pop(number, None)
        if leading is None or past is not None:
            leading = LeadingAssignor(self._found, read_only(configs))
            for content in past or ():
                leading.assign(unpacked_rebalance(content))
        self._keep(number, leading)
        outcome = leading.assign(unpacked_rebalance(rebalance))
        if outcome.out_of_memory:
            return _OUT_OF_MEMORY
        if outcome.assignment is None:
            failure = outcome.failure or Failure("InternalError", None, "neither an answer nor a failure")
            return {"ns": outcome.assign_ns, "failure": failure_document(failure)}
        return {"ns": outcome.assign_ns, "answer": connect_answer_document(outcome.assignment)}

    def connect_copy(self, number: int, copy: int) -> Mapping[str, Any]:
        """Copies the assignor of a worker with all that it knows."""
        self._keep(copy, self._leading[number].copied())
        return {}

    def _keep(self, number: int, leading: LeadingAssignor) -> None:
        self._leading[number] = leading
        while len(self._leading) > MAX_LEADING:
            del self._leading[next(iter(self._leading))]


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
