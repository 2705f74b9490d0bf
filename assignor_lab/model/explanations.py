"""Explanations of the moves in the pictures of a run."""

from __future__ import annotations

import attrs

__all__ = ["NO_EXPLANATIONS", "ExplainedRule", "Explanations", "MoveExplained", "MovesLeftOut", "UnavoidableMoves"]


@attrs.frozen
class ExplainedRule:
    """The effect of an assignor's rule on a task."""

    rule: str
    sentence: str


@attrs.frozen
class MoveExplained:
    """Why an answer moves a task to a client.

    Args:
        to: The target client, or ``None`` if the task goes to no client.
        rules: Effects of the assignor's rules on it; empty if the assignor reports none.
        would: Changes of the input that lead to another result; each is confirmed by a call.
    """

    scenario: str
    round: int
    assignor: str
    task: str
    to: str | None
    facts: tuple[str, ...]
    rules: tuple[ExplainedRule, ...]
    would: tuple[str, ...]
    remarks: tuple[str, ...]
    tried: str


@attrs.frozen
class MovesLeftOut:
    """Moves of an answer without an explanation, and the reason."""

    scenario: str
    round: int
    assignor: str
    moves: int
    why: str


@attrs.frozen
class UnavoidableMoves:
    """The unavoidable moves of an answer, in a sentence."""

    scenario: str
    round: int
    assignor: str
    sentence: str


@attrs.frozen
class Explanations:
    """All explanations of a run; ``rules``: id of a rule to its text."""

    moves: tuple[MoveExplained, ...] = ()
    left_out: tuple[MovesLeftOut, ...] = ()
    rules: dict[str, str] = attrs.field(factory=dict)
    unavoidable: tuple[UnavoidableMoves, ...] = ()


NO_EXPLANATIONS = Explanations()
