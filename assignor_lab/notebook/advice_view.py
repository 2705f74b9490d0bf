"""The advice for a group in a notebook, with the words and tables of the command."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.notebook import paragraph, table
from assignor_lab.advising.advice import Advice
from assignor_lab.advising.words import (
    EVENT_COLUMNS,
    advice_document,
    event_rows,
    figure_columns,
    figure_rows,
    remarks,
    the_answer,
    warnings,
)
from assignor_lab.documents.wording import plural
from assignor_lab.opened.advice import AdviceCase

__all__ = ["AdviceView"]


@attrs.frozen(eq=False)
class AdviceView:
    """The settings to run a group with.

    Args:
        advice: The race and the judgement of its winner as values.
        case: The group, the settings that may change, and assumptions.
        verified: Sentences on the group's recorded decisions, decided again.
    """

    advice: Advice = attrs.field(repr=False)
    case: AdviceCase = attrs.field(repr=False)
    source: str = attrs.field(repr=False)
    name: str = attrs.field(repr=False)
    verified: tuple[str, ...] = attrs.field(repr=False)

    @property
    def changes(self) -> Mapping[str, str]:
        """Setting to its advised value; empty: the present ones stay."""
        return self.advice.changes

    def document(self) -> dict[str, object]:
        """As in ``assignor advise --json``, without the verification."""
        return advice_document(self.advice, self.source, self.name, None, self.case.assumptions)

    def __repr__(self) -> str:
        return " ".join([*self.verified, the_answer(self.advice), *remarks(self.advice)])

    def _repr_html_(self) -> str:
        advice = self.advice
        parts = [paragraph(each) for each in (*self.verified, the_answer(advice), *remarks(advice))]
        parts += [paragraph(f"warning: {each}") for each in warnings(advice)]
        parts.append(table("Figures", [each.lower() for each in figure_columns(advice)], figure_rows(advice)))
        parts.append(table("Events", [each.lower() for each in EVENT_COLUMNS], event_rows(advice)))
        assumed = [[each] for each in self.case.assumptions]
        parts.append(table(plural(len(assumed), "assumption"), ["assumed"], assumed))
        return f"<div>{''.join(parts)}</div>"
