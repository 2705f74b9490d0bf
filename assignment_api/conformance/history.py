"""A group and its events, as numbers that stay valid when some are removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.errors import AssignorLabError

__all__ = ["Capabilities", "Event", "History", "HistoryFormatError", "document_of", "history_of", "history_text"]


class HistoryFormatError(AssignorLabError):
    """A document is not a history of the conformance kit."""


@attrs.frozen
class Capabilities:
    """Claims of an assignor; histories contain nothing else.

    Args:
        missing_lags: The end offsets may be unknown; Kafka's leader then calls no internal assignor.
        any_order: The order of the input must not matter. With Kafka's own it shows if hashes collide.
        empty: Groups may have no member or no task.
        protocol: ``connect.protocol`` of Connect groups.
    """

    standbys: bool = True
    missing_lags: bool = True
    racks: bool = True
    any_order: bool = True
    empty: bool = True
    protocol: str = "sessioned"


@attrs.frozen
class Event:
    """An event, after which the group rebalances.

    Args:
        which: Member or job concerned, modulo their number.
        size: Extent; any number is valid.
    """

    type: str
    which: int = 0
    size: int = 0


@attrs.frozen
class History:
    """A group and its events; any combination of numbers is valid.

    Args:
        kind: ``streams``, ``streams-group``, ``connect``, ``consumer``, ``consumer-group`` or ``share-group``.
        tasks: Sub-topologies or connectors: number of tasks, and their type (0 stateless; 1 with a changelog; 2 with
            state and without a changelog).
        members: For each initial member, its threads or its process; 3 in a consumer group: it leaves out a topic.
        standbys: ``num.standby.replicas``.
        warmups: ``max.warmup.replicas``.
        racks: Number of racks; 0: unknown.
        delay_ms: ``scheduled.rebalance.max.delay.ms`` of a Connect group.
        named: Named topologies; 0: tasks are unnamed.
        hosts: 1: clients have an address (``application.server``).
        tags: Number of keys in ``rack.aware.assignment.tags``.
        strategy: ``rack.aware.assignment.strategy``: 0 ``none``, 1 ``min_traffic``, 2 ``balance_subtopology``.
        weighted: 1: weights of tasks are known.
        texts: 1: ``configure`` gets texts, as from a ``.properties`` file.
        below: 1: ``num.standby.replicas`` is -1. With tags, Kafka makes copies then: drawn without.
        lag: Position of ``acceptable.recovery.lag`` among some values; 0: Kafka's default.
        probing: The same of ``probing.rebalance.interval.ms``.
        rackless: 1: only some clients have a rack.
    """

    kind: str
    tasks: tuple[tuple[int, int], ...]
    members: tuple[int, ...]
    standbys: int = 0
    warmups: int = 1
    racks: int = 0
    delay_ms: int = 0
    events: tuple[Event, ...] = ()
    named: int = 0
    hosts: int = 0
    tags: int = 0
    strategy: int = 0
    weighted: int = 0
    texts: int = 0
    below: int = 0
    lag: int = 0
    probing: int = 0
    rackless: int = 0

    def size(self) -> tuple[int, int, int, int]:
        """Its size for comparisons: events, members, tasks, and the sum of all other numbers."""
        joined = sum(event.type in ("join", "return") for event in self.events)
        rest = self.standbys + self.warmups + self.racks + bool(self.delay_ms)
        rest += sum(getattr(self, name) for name in SETTINGS)
        return (len(self.events), len(self.members) + joined, sum(count for count, _ in self.tasks), rest)


#: Settings that older documents lack.
SETTINGS = ("named", "hosts", "tags", "strategy", "weighted", "texts", "below", "lag", "probing", "rackless")


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
        HistoryFormatError: if the document is not a history.
    """
    try:
        if (document["format"], document["kind"]) != (1, "conformance-history"):
            raise HistoryFormatError("expected format 1 and kind 'conformance-history'")
        tasks = [(_number(count), _number(sort)) for count, sort in document["tasks"]]
        events = [Event(str(kind), _number(which), _number(size)) for kind, which, size in document["events"]]
        numbers = {name: _number(document[name]) for name in ("standbys", "warmups", "racks", "delay_ms")}
        numbers |= {name: _number(document.get(name, 0)) for name in SETTINGS}
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


def history_text(history: Mapping[str, Any]) -> str:
    """A history as one line."""
    sorts = ("stateless", "with a changelog", "with state and no changelog")
    tasks = ", ".join(f"{count} {sorts[sort]}" for count, sort in history["tasks"])
    if history["of"] == "connect":
        tasks = "connectors of " + " and ".join(str(count) for count, _ in history["tasks"]) + " tasks"
    elif not history["of"].startswith("streams"):
        tasks = "topics of " + " and ".join(str(count) for count, _ in history["tasks"]) + " partitions"
    events = ", ".join(event[0].replace("_", " ") for event in history["events"]) or "nothing happens"
    copies = f", {history['standbys']} standbys" if history["standbys"] else ""
    members = len(history["members"])
    return f"{members} member{'' if members == 1 else 's'}; tasks: {tasks}{copies}; events: {events}"
