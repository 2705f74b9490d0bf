"""An order of restarts: the batches of a roll, and the conditions under which they follow each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from assignor_lab.documents.wording import listed, natural_order, plural
from assignor_lab.planning.plans import CALM, READY, Plan, Step, Wait

__all__ = ["Conditions", "Order", "batches_words", "in_batches", "plan_in_order", "restarted", "wait_words"]


@attrs.frozen
class Conditions:
    """The conditions of a roll apart from its order.

    Args:
        settings: Name of other settings of the group; empty: the present ones.
        wait: The end of a step.
        surge: Most successors that start first, together; 0: instances restart in place.
    """

    settings: str = ""
    wait: Wait = READY
    surge: int = 0

    def allows(self, size: int) -> bool:
        """True if a step may have so many instances."""
        return not self.surge or size <= self.surge


@attrs.frozen
class Order:
    """A complete order, or the beginning of one.

    Args:
        batches: Names of the instances that restart together, batch after batch; names are sorted within a batch.
    """

    batches: tuple[tuple[str, ...], ...]
    conditions: Conditions = Conditions()

    @property
    def is_one_by_one(self) -> bool:
        return all(len(batch) == 1 for batch in self.batches)


def in_batches(batches: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    """Batches with their names in natural order."""
    return tuple(tuple(sorted(batch, key=natural_order)) for batch in batches)


def restarted(single: Plan) -> tuple[str, ...]:
    """The instances that a roll restarts, in natural order."""
    names = [action.name for step in single.steps for action in step.actions]
    return tuple(sorted(names, key=natural_order))


def plan_in_order(single: Plan, order: Order) -> Plan:
    """The plan that restarts the instances of a plan in another order.

    Args:
        single: A roll of one instance after the other, under the order's conditions.
    """
    actions = {action.name: action for step in single.steps for action in step.actions}
    steps = tuple(
        Step(", ".join(batch), tuple(actions[name] for name in batch), READY if order.conditions.surge else None)
        for batch in order.batches
    )
    parameters = {
        **single.parameters,
        "order": [name for batch in order.batches for name in batch],
        "batches": [list(batch) for batch in order.batches],
    }
    return attrs.evolve(single, steps=steps, wait=order.conditions.wait, parameters=parameters, shares_draws=True)


def batches_words(batches: Sequence[Sequence[str]], most: int = 6) -> str:
    """``d2 and d4 together, then d1, d3``; long orders are shortened."""
    shown = [_batch_words(batch, most) for batch in batches[:most]]
    if len(batches) > most:
        shown.append(f"{plural(len(batches) - most, 'further step')}")
    return ", then ".join(shown)


def _batch_words(batch: Sequence[str], most: int) -> str:
    if len(batch) == 1:
        return batch[0]
    names = list(batch) if len(batch) <= most else [*batch[: most - 1], plural(len(batch) - most + 1, "other")]
    return f"{listed(names)} together"


def wait_words(wait: Wait) -> str:
    if isinstance(wait, int):
        return f"wait {wait / 1000:g} s after each step"
    return {READY: "wait until RUNNING", CALM: "wait until the group is at rest"}[wait]
