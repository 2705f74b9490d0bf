"""Handlers in the process of a plugin: import of the plugin, calls, copies of an assignor.

A handler gets the process's memory and the sent values, and returns JSON. Differences between kinds of groups come by
reference, as an :class:`~assignor_lab.runtime.assignor_calls.AssignorCalls`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from importlib import metadata
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any

from assignment_api.plugins import Policy, discover
from assignment_api.plugins.reserved import canonical_name
from assignor_lab.runtime.assignor_calls import AsksElsewhere, AssignorCalls, InProcessAssignor
from assignor_lab.runtime.invocation import CallFailure, CallOutcome, failure_of
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.runtime.isolation.worker import OUT_OF_MEMORY, Memory, failure_document, named

__all__ = ["asked", "asked_again", "copied", "load", "read_only", "the_plugin", "traced"]

#: Assignors with the life time of their leader that are kept at once: one group's, and their copies.
MAX_KEPT = 256


def load(
    memory: Memory,
    place: str,
    selector: str,
    distribution: str | None,
    path: list[str],
    origin: AssignorOrigin | None = None,
) -> dict[str, Any]:
    """Imports the plugin, and no other one.

    Args:
        origin: Its entry point; ``None`` tries all of the distribution.
    """
    sys.path[:] = path
    importlib.invalidate_caches()
    asking: AssignorCalls[Any, Any] = named(place)
    # The lab applied the policy before it requested this process.
    if origin is not None:
        found = origin.select(asking, selector)
    elif distribution is None or _is_code(selector, distribution):
        found = asking.from_code(selector)
    else:
        registry = discover(Policy(), [metadata.distribution(distribution)])
        found = asking.select(registry, selector, may_run_code=True)
    memory.update(asking=asking, found=found, receiver=asking.receiver(), living={})
    return {}


def _is_code(selector: str, distribution: str) -> bool:
    """True for ``module:attribute`` of a distribution, false for ``distribution:name``."""
    first, separator, _ = selector.partition(":")
    return bool(separator) and canonical_name(first) != canonical_name(distribution)


def asked(memory: Memory, configs: Mapping[str, object], packed: tuple[bytes, ...]) -> Mapping[str, Any]:
    asking, found = the_plugin(memory)
    relayed = _relayed(found, configs, packed)
    if relayed is not None:
        return relayed
    state = memory["receiver"](*packed)
    return _document(memory, state, InProcessAssignor(asking, found, read_only(configs)).ask(state))


def _relayed(found: Any, configs: Mapping[str, object], packed: tuple[bytes, ...]) -> Mapping[str, Any] | None:
    factory = getattr(getattr(found, "plugin", None), "factory", None)
    if not isinstance(factory, AsksElsewhere):
        return None
    start = perf_counter_ns()
    try:
        answer = factory.relay(configs, packed)
    except KeyboardInterrupt:
        raise
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        failure = failure_document(failure_of(error))
        return {"ns": perf_counter_ns() - start, "failure": failure, "validation": None}
    return None if answer is None else {"ns": perf_counter_ns() - start, "answer": answer}


def asked_again(
    memory: Memory,
    number: int,
    configs: Mapping[str, object],
    past: tuple[tuple[bytes, ...], ...] | None,
    packed: tuple[bytes, ...],
) -> Mapping[str, Any]:
    """The answer of an assignor with the life time of its leader."""
    asking, found = the_plugin(memory)
    living = memory["living"].pop(number, None)
    if living is None or past is not None:
        living = InProcessAssignor(asking, found, read_only(configs))
        for content in past or ():
            living.ask(memory["receiver"](*content))
    _keep(memory, number, living)
    state = memory["receiver"](*packed)
    return _document(memory, state, living.ask(state))


def traced(
    memory: Memory,
    configs: Mapping[str, object],
    past: tuple[tuple[bytes, ...], ...],
    packed: tuple[bytes, ...],
) -> Mapping[str, Any]:
    asking, found = the_plugin(memory)
    assignor: InProcessAssignor[Any, Any] = InProcessAssignor(asking, found, read_only(configs))
    for content in past:
        assignor.ask(memory["receiver"](*content))
    state = memory["receiver"](*packed)
    trace = assignor.traced(state)
    if trace is None:
        return {"steps": None}
    # A step of a plugin may contain any object.
    steps = [[str(step.rule), str(step.task), str(step.text), list(map(str, step.clients))] for step in trace.steps]
    return {"steps": steps, "rules": dict(trace.rules), "answer": asking.answer_document(state, trace.answer)}


def copied(memory: Memory, number: int, copy: int) -> Mapping[str, Any]:
    """Copies the assignor of a leader with its memory."""
    _keep(memory, copy, memory["living"][number].copied())
    return {}


def the_plugin(memory: Memory) -> tuple[AssignorCalls[Any, Any], Any]:
    """The ``AssignorCalls`` of this process's plugin, and its entry."""
    return memory["asking"], memory["found"]


def _keep(memory: Memory, number: int, living: InProcessAssignor[Any, Any]) -> None:
    kept: dict[int, InProcessAssignor[Any, Any]] = memory["living"]
    kept[number] = living
    while len(kept) > MAX_KEPT:
        del kept[next(iter(kept))]


def _document(memory: Memory, state: Any, outcome: CallOutcome[Any]) -> Mapping[str, Any]:
    if outcome.input_mutated:
        memory["receiver"] = memory["asking"].receiver()
    if outcome.out_of_memory:
        return OUT_OF_MEMORY
    document: dict[str, Any] = {"ns": outcome.assign_ns, "processor_ns": outcome.processor_ns}
    if outcome.unread:
        document["unread"] = list(outcome.unread)
    if isinstance(outcome.result, CallFailure):
        validation = None if outcome.validation is None else outcome.validation.name
        return document | {"failure": failure_document(outcome.result), "validation": validation}
    return document | {"answer": memory["asking"].answer_document(state, outcome.result)}


def read_only(value: Any) -> Any:
    """Plain data as a read-only view for plugins."""
    if isinstance(value, dict):
        return MappingProxyType({key: read_only(item) for key, item in value.items()})
    return value
