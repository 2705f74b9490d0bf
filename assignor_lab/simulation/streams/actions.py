"""Actions on instances, by the names of documents, as events of a played history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assignor_lab.model.events import (
    GroupEvent,
    InstanceCrashed,
    InstancePaused,
    InstanceStarted,
    InstanceStopped,
    TasksCorrupted,
    ThreadAdded,
    ThreadBusy,
    ThreadRemoved,
)
from assignor_lab.model.evidence import Evidence
from assignor_lab.model.moment import Moment

__all__ = ["ENDS", "START", "action_event", "action_name"]

_CLASSES: Mapping[str, type[GroupEvent]] = {
    "start": InstanceStarted,
    "stop": InstanceStopped,
    "crash": InstanceCrashed,
    "pause": InstancePaused,
    "busy": ThreadBusy,
    "add_thread": ThreadAdded,
    "remove_thread": ThreadRemoved,
    "corrupt": TasksCorrupted,
}
_NAMES = {each: name for name, each in _CLASSES.items()}
#: Names of actions that begin or end a process.
START, ENDS = "start", ("stop", "crash")


def action_event(action: str, now_ms: int, instance: str, tasks: Sequence[str] = ()) -> GroupEvent:
    """An action at its time; ``tasks``: those of ``corrupt``."""
    at, evidence = Moment.at(now_ms), Evidence.played()
    if action == "corrupt":
        return TasksCorrupted(at, evidence, instance, tuple(tasks))
    return _CLASSES[action](at, evidence, instance)  # type: ignore[call-arg]


def action_name(event: GroupEvent) -> str | None:
    """``None``: the event is no action on an instance."""
    return _NAMES.get(type(event))
