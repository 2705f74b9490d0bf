"""The questions that every plugin's process answers: to import its plugin, to ask it, to copy what it has become.

This runs in the process of the plugin. A handler takes what the process keeps from question to question, then what it
was sent, and returns JSON. What differs by kind of group comes by reference, as an
:class:`~assignor_lab.runtime.asking.Asking`.
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
from assignor_lab.runtime.asking import Asking, AsksElsewhere, InProcessAssignor
from assignor_lab.runtime.invocation import CallOutcome, Failure, failure_of
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.runtime.isolation.worker import OUT_OF_MEMORY, Memory, failure_document, named

__all__ = ["asked", "asked_again", "copied", "load", "read_only", "the_plugin", "traced"]

#: Assignors that live as long as their leader and are kept at a time: those of one group, and copies of them.
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
        memory: What this process keeps.
        place: Where the kind's ``Asking`` is.
        selector: Name of the plugin.
        distribution: Distribution that it comes from; ``None``: it is ``module:attribute``.
        path: Where modules are looked for.
        origin: Its entry point; ``None``: all of the distribution are asked.
    """
    sys.path[:] = path
    importlib.invalidate_caches()
    asking: Asking[Any, Any] = named(place)
    # What is allowed, blocked and pinned was settled by the lab, before it asked for this process.
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
    """Whether it is ``module:attribute`` of a distribution, and not ``distribution:name``."""
    first, separator, _ = selector.partition(":")
    return bool(separator) and canonical_name(first) != canonical_name(distribution)


def asked(memory: Memory, configs: Mapping[str, Any], packed: tuple[bytes, ...]) -> Mapping[str, Any]:
    """Lets a new assignor answer."""
    asking, found = the_plugin(memory)
    relayed = _relayed(found, configs, packed)
    if relayed is not None:
        return relayed
    state = memory["receiver"](*packed)
    return _document(memory, state, InProcessAssignor(asking, found, read_only(configs)).ask(state))


def _relayed(found: Any, configs: Mapping[str, Any], packed: tuple[bytes, ...]) -> Mapping[str, Any] | None:
    """What comes of a question that is passed on as it came; ``None`` for assignors that are in this process."""
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
    configs: Mapping[str, Any],
    past: tuple[tuple[bytes, ...], ...] | None,
    packed: tuple[bytes, ...],
) -> Mapping[str, Any]:
    """Lets an assignor answer that lives as long as its leader.

    Args:
        memory: What this process keeps.
        number: Which leader's assignor it is.
        configs: Its configuration.
        past: The states that it has answered, where this process does not know of them; ``None``: it does.
        packed: What is to be answered.
    """
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
    configs: Mapping[str, Any],
    past: tuple[tuple[bytes, ...], ...],
    packed: tuple[bytes, ...],
) -> Mapping[str, Any]:
    """Lets a new assignor answer and tell its steps, where it does.

    Args:
        memory: What this process keeps.
        configs: Its configuration.
        past: The states that one before it has answered, if it lives as long as its leader.
        packed: What is to be answered.
    """
    asking, found = the_plugin(memory)
    assignor: InProcessAssignor[Any, Any] = InProcessAssignor(asking, found, read_only(configs))
    for content in past:
        assignor.ask(memory["receiver"](*content))
    state = memory["receiver"](*packed)
    told = assignor.traced(state)
    if told is None:
        return {"steps": None}
    # What calls itself a step may hold anything.
    steps = [[str(step.rule), str(step.task), str(step.text), list(map(str, step.clients))] for step in told.steps]
    return {"steps": steps, "rules": dict(told.rules), "answer": asking.answer_document(state, told.answer)}


def copied(memory: Memory, number: int, copy: int) -> Mapping[str, Any]:
    """Copies the assignor of a leader with all that it knows."""
    _keep(memory, copy, memory["living"][number].copied())
    return {}


def the_plugin(memory: Memory) -> tuple[Asking[Any, Any], Any]:
    """How the plugin of this process is asked, and its entry."""
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
    document: dict[str, Any] = {"ns": outcome.assign_ns}
    if isinstance(outcome.result, Failure):
        validation = None if outcome.validation is None else outcome.validation.name
        return document | {"failure": failure_document(outcome.result), "validation": validation}
    return document | {"answer": memory["asking"].answer_document(state, outcome.result)}


def read_only(value: Any) -> Any:
    """Plain data as a plugin is shown it."""
    if isinstance(value, dict):
        return MappingProxyType({key: read_only(item) for key, item in value.items()})
    return value
