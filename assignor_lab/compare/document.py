"""A comparison as JSON."""

from __future__ import annotations

from typing import Any

from assignor_lab.compare.compared import Compared, Side, StateCompared
from assignor_lab.groups.shown_gaps import gap_documents
from assignor_lab.model.comparisons import FigureCompared

__all__ = ["document_of"]


def document_of(compared: Compared) -> dict[str, Any]:
    """The comparison; lists of two are in the order of the contenders."""
    return {
        "contenders": [
            {"name": name, "is": description}
            for name, description in zip(compared.names, compared.descriptions, strict=True)
        ],
        "states": [_state(state) for state in compared.states],
        "figures": [_figure(figure) for figure in compared.figures],
    }


def _state(state: StateCompared) -> dict[str, Any]:
    one, other = state.sides
    return {
        "scenario": state.scenario,
        "round": state.round,
        "tasks": state.tasks,
        "answers": [_side(side) for side in state.sides],
        "clients": [
            {
                "client": client,
                "label": label,
                "actives": [one.actives[client], other.actives[client]],
                "copies": [one.copies[client], other.copies[client]],
                "gains": [each.task for each in state.elsewhere if each.owners[1] == client],
                "loses": [each.task for each in state.elsewhere if each.owners[0] == client],
            }
            for client, label in state.labels.items()
        ],
        "differing": [
            {
                "task": each.task,
                "before": each.before,
                "owners": list(each.owners),
                "copies": [list(copies) for copies in each.copies],
            }
            for each in state.differing
        ],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "error": side.error,
        "not_comparable": side.not_comparable,
        "moved": list(side.moved),
        "stopped": list(side.stopped),
        "taken_up": list(side.taken_up),
        "waiting": list(side.waiting),
        "gaps": gap_documents(side.gaps),
    }


def _figure(figure: FigureCompared) -> dict[str, Any]:
    return {
        "figure": figure.figure,
        "title": figure.title,
        "metric": figure.metric,
        "unit": figure.unit,
        "direction": figure.direction or "none",
        "states": figure.states,
        "means": None if figure.means is None else list(figure.means),
        "difference": figure.difference,
        "not_measured": figure.not_measured,
    }
