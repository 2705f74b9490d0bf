"""Explanations of moves, of a summary (``docs/reference/summary-format.md``) and of one picture."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import attrs

from assignor_lab.model.explanations import NO_EXPLANATIONS, Explanations, MoveExplained, MovesLeftOut
from assignor_lab.model.pictures import SnapshotPlacement
from assignor_lab.report.summary.placement import AnswerColumn

__all__ = ["NO_WHYS", "MoveExplanation", "PanelWhys", "panel_whys"]


@attrs.frozen
class MoveExplanation:
    """An explanation as shown under a move."""

    anchor: str
    lead: str
    why: MoveExplained


@attrs.frozen
class PanelWhys:
    """The explanations of one picture.

    Args:
        rules: Rules with a text in the page.
        unavoidable: Assignor to a sentence on its unavoidable moves.
    """

    explained: dict[tuple[str, str], MoveExplanation] = attrs.field(factory=dict)
    left_out: dict[str, MovesLeftOut] = attrs.field(factory=dict)
    rules: tuple[str, ...] = ()
    unavoidable: dict[str, str] = attrs.field(factory=dict)

    def rule_anchor(self, rule: str) -> str | None:
        """Anchor of a rule's text in the page; ``None`` without one."""
        return f"rule-{self.rules.index(rule) + 1}" if rule in self.rules else None

    def of(self, assignor: str, task: str) -> MoveExplanation | None:
        """Why an answer moves a task; ``None`` if no explanation was requested or none fits the answer."""
        return self.explained.get((assignor, task))


NO_WHYS = PanelWhys()


def panel_whys(
    number: int,
    placement: SnapshotPlacement,
    columns: Iterable[AnswerColumn],
    explanations: Explanations,
    names: Mapping[str, str],
    observed: Collection[str],
) -> PanelWhys:
    """The explanations of one picture.

    Args:
        observed: Kafka's own decisions, which have no assignor: an assignor with the same decision explains them.
    """
    place = (placement.scenario, placement.round)
    known: dict[tuple[str, str | None], list[MoveExplained]] = {}
    for each in explanations.moves:
        if (each.scenario, each.round) == place:
            known.setdefault((each.task, each.to), []).append(each)
    reasons = {each.assignor: each.not_comparable for each in placement.after}
    explained: dict[tuple[str, str], MoveExplanation] = {}
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
                explained[assignor, move.task] = MoveExplanation(f"why-{number}-{len(explained) + 1}", lead, found[0])
        unexplained = [move for move in column.moves if move.source and (assignor, move.task) not in explained]
        if assignor in observed and unexplained and explanations != NO_EXPLANATIONS:
            why = "no called assignor decides so, or the time was over"
            of_kafka[assignor] = MovesLeftOut(*place, assignor, len(unexplained), why)
    left_out = {each.assignor: each for each in explanations.left_out if (each.scenario, each.round) == place}
    unavoidable = {
        each.assignor: each.sentence for each in explanations.unavoidable if (each.scenario, each.round) == place
    }
    return PanelWhys(explained, left_out | of_kafka, tuple(explanations.rules), unavoidable)


def _lead(name: str, reason: str | None) -> str:
    if reason is None:
        return f"{name} decides the same about this task, for these reasons."
    return f"{name} cannot be compared here ({reason.partition(':')[0]}), but its answer moves the task so."
