"""Events of readers in the documents of decisions, so that a file of ``import`` shows them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.histories.group_histories import ReaderEvent
from assignor_lab.scenarios.formats.events import event_record

__all__ = ["with_events"]


def with_events(documents: Iterable[dict[str, Any]], events: Sequence[ReaderEvent]) -> Iterator[dict[str, Any]]:
    """The documents in their order; the last decision of each group has the group's events.

    Args:
        events: Complete when the last document has been read. An event without a group belongs to the only group.
    """
    waiting: deque[dict[str, Any]] = deque()
    last: dict[str | None, dict[str, Any]] = {}
    for document in documents:
        waiting.append(document)
        if protocol_of(document) is not None:
            last[_group(document)] = document
        while waiting and waiting[0] is not last.get(_group(waiting[0])):
            yield waiting.popleft()
    for group, document in last.items():
        own = [event_record(event) for of, event in events if of == group or (of is None and len(last) == 1)]
        if own:
            document["source"]["events"] = own
    yield from waiting


def _group(document: dict[str, Any]) -> str | None:
    found = (document.get("source") or {}).get("group")
    return None if found is None else str(found)
