"""A plan from a file: steps in the language of episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from assignor_lab.documents.errors import Place
from assignor_lab.documents.files import read_document
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import (
    Mismatch,
    any_value,
    at,
    boolean,
    faults_at,
    list_of,
    one_of,
    record,
    text,
    whole,
)
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.instances import named_instances
from assignor_lab.planning.making import Options, PlanError
from assignor_lab.planning.plans import CALM, READY, Action, Plan, Step, Wait
from assignor_lab.planning.state import PresentState
from assignor_lab.simulation.streams.formats.episodes import EVENT_NEEDS

__all__ = ["consumer_script", "script_plan"]

_LARGEST = 4 * 1024 * 1024
_A_DAY_MS = 86_400_000
#: Events on a running instance.
_OF_PRESENT = ("stop", "crash", "pause", "busy", "add_thread", "remove_thread", "corrupt")

#: Key of the consumer of an event.
_CONSUMER = "consumer"
#: Events on consumer groups, and the keys that each needs.
_NEEDS = {
    "start": (_CONSUMER,), "stop": (_CONSUMER,), "kill": (_CONSUMER,), "pause": (_CONSUMER, "for_ms"),
    "busy": (_CONSUMER, "for_ms"), "grow": ("topic", "partitions"), "broker_restart": ("for_ms",),
}  # fmt: skip

_step = record({"events": list_of(any_value)}, {"name": text, "wait": any_value})
_script = record({"steps": list_of(_step)}, {})


def script_plan(state: PresentState, file: Path, options: Options) -> Plan:
    """The plan of a file: ``{"steps": [{"name", "events": [{"type", "client", "after_ms", ...}], "wait"}]}``.

    An event is one of the episode format with ``after_ms``, from the beginning of its step, in place of ``at_ms``. A
    step is over when the instances that it starts are ready, or by its ``wait``: ``ready``, ``calm``, or
    milliseconds.

    Raises:
        DocumentFormatError: with its place, if the file cannot be read or is no script.
        PlanError, UnknownInstanceError: if it contradicts the state.
    """
    started: set[str] = set()
    steps = _steps(file, lambda value: _action(state, _event(value), started))
    return Plan("script", steps, options.wait, options.start_ms, options.down_ms, parameters={"file": str(file)})


def _steps(file: Path, action: Callable[[Any], Action]) -> tuple[Step, ...]:
    document = read_document(file, parse_json, _script, max_bytes=_LARGEST, subject="a script of a plan")
    if not document["steps"]:
        raise PlanError(f"{file}: the script has no step")
    steps = []
    with faults_at(Place(str(file))):
        for place, step in enumerate(document["steps"]):
            actions = tuple(
                at(action, event, "steps", place, "events", each) for each, event in enumerate(step["events"])
            )
            wait = None if "wait" not in step else at(_wait, step["wait"], "steps", place, "wait")
            steps.append(Step(step.get("name") or f"step {place + 1}", actions, wait))
    return tuple(steps)


def consumer_script(names: Sequence[str], file: Path, options: Options) -> Plan:
    """The same for a consumer group.

    Events are ``start``, ``stop``, ``kill``, ``pause``, ``busy``, ``grow`` (of a topic) and ``broker_restart``.

    Args:
        names: The group's consumers.
    """
    steps = _steps(file, partial(_consumer_action, set(names)))
    return Plan("script", steps, options.wait, options.start_ms, parameters={"file": str(file)}, unit="consumer")


def _consumer_action(known: set[str], value: Any) -> Action:
    checks = {"after_ms": whole(0, _A_DAY_MS), _CONSUMER: text, "leave": boolean, "for_ms": whole(1, _A_DAY_MS)}
    checks |= {"topic": text, "partitions": whole(1, 1_000_000)}
    event = record({"type": one_of(*_NEEDS)}, checks)(value)
    kind, after_ms = event["type"], event.get("after_ms", 0)
    missing = [key for key in _NEEDS[kind] if key not in event]
    if missing:
        raise Mismatch(f"event {kind} needs {missing[0]}")
    name = event.get(_CONSUMER) or event.get("topic", "")
    if kind == "start":
        known.add(name)
        return Action("add", name, after_ms=after_ms)
    if _CONSUMER in _NEEDS[kind] and name not in known:
        raise Mismatch(f"{name!r:.80} is no consumer of the group: it has {', '.join(sorted(known))}", _CONSUMER)
    if kind in ("stop", "kill"):
        return Action("remove" if kind == "stop" else "kill", name, after_ms=after_ms, leave=event.get("leave"))
    details = EventDetails(for_ms=event.get("for_ms", 0))
    return Action("event", name, details, after_ms, event=kind, partitions=event.get("partitions", 0))


def _wait(value: Any) -> Wait:
    if isinstance(value, str):
        return READY if one_of(READY, CALM)(value) == READY else CALM
    return int(whole(0, _A_DAY_MS)(value))


def _event(value: Any) -> dict[str, Any]:
    known = {"after_ms": whole(0, _A_DAY_MS), "client": text, "leave": boolean, "threads": whole(1, 10_000)}
    known |= {"rack": text, "instance_id": text, "for_ms": whole(1, _A_DAY_MS), "thread": whole(1, 10_000)}
    known |= {"tasks": list_of(text), "tags": any_value}
    known |= {"down_ms": whole(1, _A_DAY_MS), "every_ms": whole(1, _A_DAY_MS)}
    found: dict[str, Any] = record({"type": one_of(*EVENT_NEEDS)}, known)(value)
    for key in EVENT_NEEDS[found["type"]]:
        if key not in found:
            raise Mismatch(f"event {found['type']} needs {key}")
    return found


def _action(state: PresentState, event: dict[str, Any], started: set[str]) -> Action:
    kind, after_ms, name = event.pop("type"), event.pop("after_ms", 0), event.pop("client", "")
    if kind in _OF_PRESENT and name not in started:
        (name,) = named_instances(state, [name])
    if kind != "start":
        return Action("event", name, EventDetails(**event), after_ms, event=kind)
    started.add(name)
    return Action("add", name, EventDetails(**event), after_ms)
