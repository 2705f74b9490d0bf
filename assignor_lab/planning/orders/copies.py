"""The ready copies of tasks, as the reason of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from assignor_lab.documents.wording import listed, plural
from assignor_lab.planning.orders.order import Order

__all__ = ["copy_sentences"]

#: Most sentences on batches.
_MOST = 3


def copy_sentences(order: Order, copies: Mapping[str, tuple[str, tuple[str, ...]]]) -> list[str]:
    """Which tasks of a batch have a ready copy outside it, and which instances stay apart for that.

    Args:
        copies: Task with state to the instance that runs it, and to those with a ready copy.
    """
    if not copies:
        return []
    if not any(ready for _, ready in copies.values()):
        return ["No task has a ready copy on another instance."]
    together = [batch for batch in order.batches if len(batch) > 1]
    sentences = [_of_batch(batch, copies) for batch in together[:_MOST]]
    apart = Counter(
        frozenset((owner, ready[0]))
        for owner, ready in copies.values()
        if len(ready) == 1 and not any({owner, ready[0]} <= set(batch) for batch in order.batches)
    )
    if together and apart:
        pairs = sorted(" and ".join(sorted(pair)) for pair in apart)
        shown = pairs[:_MOST]
        more = len(pairs) - len(shown)
        names = "; ".join(shown) + (f"; {plural(more, 'more pair')}" if more else "")
        sentences.append(f"Apart, because one has the only ready copy of a task of the other: {names}.")
    return sentences


def _of_batch(batch: tuple[str, ...], copies: Mapping[str, tuple[str, tuple[str, ...]]]) -> str:
    own = {task: ready for task, (owner, ready) in copies.items() if owner in batch}
    outside = {task for task, ready in own.items() if any(name not in batch for name in ready)}
    names = listed(list(batch)) if len(batch) <= _MOST else f"{batch[0]} and {plural(len(batch) - 1, 'other')}"
    tasks = plural(len(own), "task with state", "tasks with state")
    if len(outside) == len(own):
        return f"Each of the {tasks} of {names} has a ready copy on an instance that stays up."
    return f"Of the {tasks} of {names}, {len(outside)} have a ready copy on an instance that stays up."
