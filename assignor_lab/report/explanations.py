"""Explanations of moves in a summary, as values: ``docs/reference/summary-format.md``; and those of one picture."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import attrs

from assignor_lab.report.pictures import Placement
from assignor_lab.report.placement import Column

__all__ = [
    "NO_EXPLANATIONS",
    "Explanations",
    "MoveExplained",
    "MovesLeftOut",
    "PanelWhys",
    "RuleTold",
    "Told",
    "panel_whys",
]


@attrs.frozen
class RuleTold:
    """What a rule of an assignor did with a task."""

    rule: str
    sentence: str


@attrs.frozen
class MoveExplained:
    """Why an answer moves a task to a client.

    Args:
        scenario: The state.
        round: Its round.
        assignor: Whose answer it is.
        task: The task.
        to: The client that it goes to, or ``None``: nobody.
        facts: What was known, a text for each client.
        rules: What the assignor's rules did with it; empty where it does not tell.
        would: What would have led elsewhere; a call has confirmed each.
        remarks: What else is to be known.
        tried: What was tried.
    """

    scenario: str
    round: int
    assignor: str
    task: str
    to: str | None
    facts: tuple[str, ...]
    rules: tuple[RuleTold, ...]
    would: tuple[str, ...]
    remarks: tuple[str, ...]
    tried: str


@attrs.frozen
class MovesLeftOut:
    """Moves of an answer that are not explained, and why."""

    scenario: str
    round: int
    assignor: str
    moves: int
    why: str


@attrs.frozen
class Explanations:
    """All of a run; ``rules``: id of a rule to what it says."""

    moves: tuple[MoveExplained, ...] = ()
    left_out: tuple[MovesLeftOut, ...] = ()
    rules: dict[str, str] = attrs.field(factory=dict)


#: Of a run that explained nothing.
NO_EXPLANATIONS = Explanations()


@attrs.frozen
class Told:
    """An explanation as it stands under a move.

    Args:
        anchor: Its anchor in the page.
        lead: What is said before it, or an empty text.
        why: The explanation.
    """

    anchor: str
    lead: str
    why: MoveExplained


@attrs.frozen
class PanelWhys:
    """The explanations of one picture.

    Args:
        told: Assignor and task to the explanation of its move.
        left_out: Assignor to the moves of its answer that are not explained, and why.
        rules: The rules that the page has a text of.
    """

    told: dict[tuple[str, str], Told] = attrs.field(factory=dict)
    left_out: dict[str, MovesLeftOut] = attrs.field(factory=dict)
    rules: tuple[str, ...] = ()

    def rule_anchor(self, rule: str) -> str | None:
        """Where the page says what a rule is; ``None``: nowhere."""
        return f"rule-{self.rules.index(rule) + 1}" if rule in self.rules else None

    def of(self, assignor: str, task: str) -> Told | None:
        """Why an answer moves a task; ``None``: nobody asked, or nobody who was asked decides so."""
        return self.told.get((assignor, task))


#: Of a picture of which nothing is explained.
NO_WHYS = PanelWhys()


def panel_whys(
    number: int,
    placement: Placement,
    columns: Iterable[Column],
    explanations: Explanations,
    names: Mapping[str, str],
    observed: Collection[str],
) -> PanelWhys:
    """The explanations of one picture.

    Args:
        number: The number of the picture, from 1.
        placement: The state.
        columns: The answers to it.
        explanations: All of the run.
        names: Assignor to how it is called.
        observed: Those that are no assignors, but what Kafka decided: who decides the same explains it.
    """
    place = (placement.scenario, placement.round)
    known: dict[tuple[str, str | None], list[MoveExplained]] = {}
    for each in explanations.moves:
        if (each.scenario, each.round) == place:
            known.setdefault((each.task, each.to), []).append(each)
    reasons = {each.assignor: each.not_comparable for each in placement.after}
    told: dict[tuple[str, str], Told] = {}
    of_kafka: dict[str, MovesLeftOut] = {}
    for column in columns:
        assignor = column.answer.assignor
        for move in column.moves:
            found = known.get((move.task, move.target.process_id), [])
            if assignor not in observed:
                found = [each for each in found if each.assignor == assignor]
            if found:
                by = found[0].assignor
                lead = _lead(names.get(by, by), reasons.get(by)) if assignor in observed else ""
                told[assignor, move.task] = Told(f"why-{number}-{len(told) + 1}", lead, found[0])
        unexplained = [move for move in column.moves if move.source and (assignor, move.task) not in told]
        if assignor in observed and unexplained and explanations != NO_EXPLANATIONS:
            why = "nobody who was asked decides so, or there was no time to ask"
            of_kafka[assignor] = MovesLeftOut(*place, assignor, len(unexplained), why)
    left_out = {each.assignor: each for each in explanations.left_out if (each.scenario, each.round) == place}
    return PanelWhys(told, left_out | of_kafka, tuple(explanations.rules))


def _lead(name: str, reason: str | None) -> str:
    if reason is None:
        return f"{name} decides the same about this task, for these reasons."
    return f"{name} cannot be compared here ({reason.partition(':')[0]}), but asked all the same, it moves the task so."
