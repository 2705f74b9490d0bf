"""Convergence: rebalances until an assignor changes nothing more after the last event of a history.

An *event* is a round in which the scene (:meth:`assignor_lab.groups.kind.Kind.scene`: who is there, and what is to be
done) is another than in the round before; without any, the cold start is the event. The assignor has converged from the
first round on after which all rounds have the same answer, and neither this round nor a later one asks for a follow-up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignor_lab.groups.kind import Answer, Kind
from assignor_lab.groups.metrics.life_cycle import not_converged, rounds_to_converge

__all__ = ["Convergence", "converged_after"]


@attrs.define
class Convergence:
    """The rows of one work item, as they come.

    Args:
        kind: Kind of the scenarios.
        columns: Names of the columns that rows have; a kind without metrics of these names has no such figures.
    """

    kind: Kind[Any, Any]
    columns: frozenset[str]
    _histories: dict[str, list[tuple[object, dict[str, Any]]]] = attrs.field(factory=dict)

    def note(self, answer: Answer[Any, Any], row: dict[str, Any]) -> None:
        """Takes note of a row; only those of histories count."""
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

    def _scene(self, answer: Answer[Any, Any]) -> object:
        # A state that could not be made is like no other.
        return answer.round if answer.state is None else self.kind.scene(answer.state)

    def _set(self, row: dict[str, Any], column: str, figure: float | None) -> None:
        if column in self.columns:
            row[column] = figure


def converged_after(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Number of rebalances until the last of ``rows`` was reached and nothing more asked for.

    Args:
        rows: Rows from the one of the event on, with ``answer`` and ``followup``.

    Returns:
        From 1, or ``None`` if the last row is not at rest.
    """
    rounds: int | None = None
    for number in range(len(rows), 0, -1):
        row = rows[number - 1]
        if row["followup"] is not False or row["answer"] != rows[-1]["answer"]:
            break
        rounds = number
    return rounds


def _last_event(scenes: Sequence[object]) -> int:
    return next((number for number in range(len(scenes) - 1, 0, -1) if scenes[number] != scenes[number - 1]), 0)
