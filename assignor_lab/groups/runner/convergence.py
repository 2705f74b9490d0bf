"""Convergence: rebalances until an assignor changes nothing more after the last event of a history.

An *event* is a round whose scene (:meth:`assignor_lab.groups.kind.GroupKind.scene`: clients and work) differs from the
one before; if there is none, it is the cold start. The assignor has converged at the first round after which all
answers are equal and none requests a follow-up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.groups.kind import ContenderAnswer, GroupKind
from assignor_lab.groups.metrics.life_cycle import not_converged, rounds_to_converge

__all__ = ["Convergence", "converged_after"]


@attrs.define
class Convergence:
    """The rows of one work item, in their order.

    Args:
        columns: Names of the rows' columns; a kind without metrics of these names has no such figures.
    """

    kind: GroupKind[Any, Any]
    columns: frozenset[str]
    _histories: dict[str, list[tuple[object, dict[str, Any]]]] = attrs.field(factory=dict)

    def note(self, answer: ContenderAnswer[Any, Any], row: dict[str, Any]) -> None:
        """Adds a row; only those of histories count."""
        if answer.item.family is not None:
            self._histories.setdefault(answer.assignor, []).append((self._scene(answer), row))

    def fill_in(self) -> None:
        """Writes the figures into the last row of each assignor; call it after the last row of the item."""
        for schedule in self._histories.values():
            last = schedule[-1][1]
            event = _last_event([scene for scene, _ in schedule])
            if last["error_type"] is None and event < len(schedule) - 1:
                rounds = converged_after([row for _, row in schedule[event:]])
                self._set(last, rounds_to_converge.name, None if rounds is None else float(rounds))
                self._set(last, not_converged.name, float(rounds is None))
        self._histories.clear()

    def _scene(self, answer: ContenderAnswer[Any, Any]) -> object:
        # A state that could not be built equals no other.
        return answer.round if answer.state is None else self.kind.scene(answer.state)

    def _set(self, row: dict[str, Any], column: str, figure: float | None) -> None:
        if column in self.columns:
            row[column] = figure


def converged_after(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Number of rebalances until the answer of the last of ``rows`` appeared with no further request."""
    rounds: int | None = None
    for number in range(len(rows), 0, -1):
        row = rows[number - 1]
        if row["followup"] is not False or row["answer_digest"] != rows[-1]["answer_digest"]:
            break
        rounds = number
    return rounds


def _last_event(scenes: Sequence[object]) -> int:
    return next((number for number in range(len(scenes) - 1, 0, -1) if scenes[number] != scenes[number - 1]), 0)
