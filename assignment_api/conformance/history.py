"""A history: a small group and what happens to it, as plain numbers that stay meaningful when some are taken away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.errors import AssignorLabError

__all__ = ["Capabilities", "Event", "History", "HistoryFormatError", "document_of", "history_of"]


class HistoryFormatError(AssignorLabError):
    """A document is no history of the conformance kit."""


@attrs.frozen
class Capabilities:
    """What an assignor claims to be made for; histories hold nothing else.

    Args:
        standbys: Groups may ask for standbys.
        missing_lags: The end offsets may be unknown (of Kafka's internal assignors the leader asks none then).
        racks: Clients and partitions may have racks.
        any_order: The order in which tasks and members are listed must not matter; Kafka's own assignors walk hash
            tables, whose order tells of it where hashes collide.
        protocol: ``connect.protocol`` of Connect groups.
    """

    standbys: bool = True
    missing_lags: bool = True
    racks: bool = True
    any_order: bool = True
    protocol: str = "sessioned"


@attrs.frozen
class Event:
    """Something that happens, after which the group rebalances.

    Args:
        type: What happens, one of the words of its kind of group.
        which: Whom it concerns, counted around: any number means somebody.
        size: How much, likewise.
    """

    type: str
    which: int = 0
    size: int = 0


@attrs.frozen
class History:
    """A group and what happens to it. All numbers are small, and none has to fit another.

    Args:
        kind: ``streams``, ``streams-group`` or ``connect``.
        tasks: Sub-topologies or connectors: number of tasks, and what they are (0 stateless; 1 with a changelog;
            2 with state and without a changelog).
        members: One number for each member at the beginning: its threads, or its process.
        standbys: ``num.standby.replicas``.
        warmups: ``max.warmup.replicas``.
        racks: Number of racks; 0: none are known.
        delay_ms: ``scheduled.rebalance.max.delay.ms`` of a Connect group.
        events: What happens, in order.
    """

    kind: str
    tasks: tuple[tuple[int, int], ...]
    members: tuple[int, ...]
    standbys: int = 0
    warmups: int = 1
    racks: int = 0
    delay_ms: int = 0
    events: tuple[Event, ...] = ()

    def size(self) -> tuple[int, int, int, int]:
        """How large it is, to compare: events, members, tasks, and everything else."""
        joined = sum(event.type in ("join", "return") for event in self.events)
        rest = self.standbys + self.warmups + self.racks + bool(self.delay_ms)
        return (len(self.events), len(self.members) + joined, sum(count for count, _ in self.tasks), rest)


def document_of(history: History) -> dict[str, Any]:
    """The history as JSON."""
    events = [[event.type, event.which, event.size] for event in history.events]
    fields = {field.name: getattr(history, field.name) for field in attrs.fields(History)}
    tasks = [list(each) for each in history.tasks]
    return {
        "format": 1,
        "kind": "conformance-history",
        "of": fields.pop("kind"),
        **fields,
        "tasks": tasks,
        "members": list(history.members),
        "events": events,
    }


def history_of(document: Mapping[str, Any]) -> History:
    """The history in a document.

    Raises:
        HistoryFormatError: if it is none.
    """
    try:
        if (document["format"], document["kind"]) != (1, "conformance-history"):
            raise HistoryFormatError("expected format 1 and kind 'conformance-history'")
        tasks = [(_number(count, 1), _number(sort)) for count, sort in document["tasks"]]
        events = [Event(str(kind), _number(which), _number(size)) for kind, which, size in document["events"]]
        numbers = {name: _number(document[name]) for name in ("standbys", "warmups", "racks", "delay_ms")}
        members = [_number(member) for member in document["members"]]
        return History(str(document["of"]), tuple(tasks), tuple(members), events=tuple(events), **numbers)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise HistoryFormatError(
            f"no history of the conformance kit: {type(error).__name__}: {error}; give a file that the kit wrote"
        ) from error


def _number(value: object, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 10_000_000:
        raise ValueError(f"{value!r:.80} is no number from {least}")
    return value
