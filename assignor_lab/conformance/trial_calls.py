"""The call of a trial, in the assignor's own process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assignment_api.conformance import KINDS, InProcessSubject, Leader
from assignor_lab.runtime.isolation.handlers import read_only, the_plugin
from assignor_lab.runtime.isolation.worker import Memory

__all__ = ["ask"]

#: Remembered leaders: a trial continues with the last few only.
_MOST_LEADERS = 8


def ask(
    memory: Memory,
    kind: str,
    number: int,
    configs: Mapping[str, object],
    packed: tuple[bytes, ...],
    watched: bool,  # noqa: FBT001 - handlers are called with what was sent, in order
) -> Mapping[str, Any]:
    """Calls the plugin of this process for leader ``number``.

    Args:
        number: Number of the leader; a new one has its own objects.
        watched: True also observes side effects.
    """
    asking, found = the_plugin(memory)
    kept: dict[int, Leader[Any]] = memory.setdefault("leaders", {})
    if number not in kept:
        answering = KINDS[kind].answering
        kept[number] = InProcessSubject(
            found.name, lambda: asking.created(found), answering, has_deadline=False
        ).leader()
        while len(kept) > _MOST_LEADERS:
            del kept[next(iter(kept))]
    state = memory["receiver"](*packed)
    reply = kept[number].ask(state, read_only(configs), watched=watched)
    if reply.input_changed:
        # The input may be shared with that of the next call.
        memory["receiver"] = asking.receiver()
    document: dict[str, Any] = {
        "ns": reply.cpu_ns,
        "changed": reply.input_changed,
        "seen": [list(each) for each in reply.seen],
    }
    if reply.raised is not None:
        raised = reply.raised
        return document | {
            "raised": [raised.type, raised.message, raised.traceback, raised.is_refusal, raised.after_answer]
        }
    wrong = KINDS[kind].badly_typed(reply.answer)
    if wrong is not None:
        return document | {"badly_typed": wrong}
    return document | {"answer": asking.answer_document(state, reply.answer)}
