"""Answers about a group in a notebook: typed values with the words and tables of the commands."""

from __future__ import annotations

import attrs

from assignment_api.notebook import paragraph, table
from assignor_lab.capture.histories.timeline import GroupTimeline
from assignor_lab.documents.wording import plural
from assignor_lab.explain import Explained
from assignor_lab.explain import words as explain_words
from assignor_lab.explain.document import document_of as document_of_explained
from assignor_lab.model.history import GroupHistory
from assignor_lab.opened.history_words import head_of, past_sentence, table_of
from assignor_lab.planning.words import (
    Answer,
    answer_document,
    answer_sentences,
    columns_of,
    step_rows,
    variant_columns_of,
    variant_rows,
)
from assignor_lab.watching.words import CheckedGroup, finding_columns, rows_of, sentence_of

__all__ = ["CheckView", "ExplanationView", "HistoryView", "PlanView"]


@attrs.frozen(eq=False)
class HistoryView:
    """A group's past; ``history`` is the value of the model."""

    history: GroupHistory = attrs.field(repr=False)

    @property
    def timeline(self) -> GroupTimeline:
        return GroupTimeline.of(self.history)

    def document(self) -> dict[str, object]:
        """As in ``assignor history --json``."""
        return self.timeline.document()

    def __repr__(self) -> str:
        timeline = self.timeline
        return f"{head_of(timeline)}. {past_sentence(timeline)}".strip()

    def _repr_html_(self) -> str:
        timeline = self.timeline
        columns, rows = table_of(timeline)
        sentence = past_sentence(timeline)
        parts = [paragraph(sentence)] if sentence else []
        return f"<div>{''.join([*parts, table(head_of(timeline), _lower(columns), rows)])}</div>"


@attrs.frozen(eq=False)
class CheckView:
    """Rebalances of a group out of the ordinary."""

    checked: CheckedGroup = attrs.field(repr=False)

    @property
    def is_ordinary(self) -> bool:
        return self.checked.is_ordinary

    def __repr__(self) -> str:
        return " ".join([sentence_of(self.checked), *(each.sentence for each in self.checked.findings)])

    def _repr_html_(self) -> str:
        if not self.checked.findings:
            return f"<div>{paragraph(sentence_of(self.checked))}</div>"
        columns = _lower(finding_columns(self.checked))
        return f"<div>{table(sentence_of(self.checked), columns, list(rows_of(self.checked)))}</div>"


@attrs.frozen(eq=False)
class PlanView:
    """The cost of a plan.

    Args:
        answer: Predictions, variants and assumptions as values.
        verified: Sentences on the group's recorded decisions, decided again.
    """

    answer: Answer = attrs.field(repr=False)
    verified: tuple[str, ...] = attrs.field(repr=False)

    def document(self) -> dict[str, object]:
        """As in ``assignor plan --json``, without the verification."""
        return answer_document(self.answer, None)

    def __repr__(self) -> str:
        return " ".join([*self.verified, *answer_sentences(self.answer)])

    def _repr_html_(self) -> str:
        answer, prediction = self.answer, self.answer.prediction
        parts = [paragraph(sentence) for sentence in (*self.verified, *answer_sentences(answer))]
        parts.append(table("Steps", columns_of(prediction), step_rows(prediction)))
        if answer.variants:
            parts.append(table("Other settings", variant_columns_of(prediction), variant_rows(answer)))
        assumed = [[each] for each in (*answer.releases, *answer.assumptions)]
        if assumed:
            parts.append(table(plural(len(assumed), "assumption"), ["assumed"], assumed))
        return f"<div>{''.join(parts)}</div>"


@attrs.frozen(eq=False)
class ExplanationView:
    """The reasons of places."""

    explained: Explained = attrs.field(repr=False)

    def document(self) -> dict[str, object]:
        """As in ``assignor explain --json``, without the verification."""
        return document_of_explained(self.explained)

    def __repr__(self) -> str:
        return " ".join(self._sentences())

    def _repr_html_(self) -> str:
        parts = [paragraph(each) for each in self._sentences()]
        for each in self.explained.explanations:
            if each.clients:
                columns = ["client", f"of this {self.explained.noun}", "by the answer"]
                parts.append(table(each.task, columns, explain_words.client_rows(each)))
        return f"<div>{''.join(parts)}</div>"

    def _sentences(self) -> list[str]:
        explained = self.explained
        found = [explain_words.stand_in_sentence(explained)]
        if not explained.explanations:
            found.append(explain_words.nothing_moves(explained))
        for each in explained.explanations:
            found += [explain_words.headline(explained, each), explain_words.kafka_sentence(explained, each)]
            found += [f"{rule}: {sentence}" for rule, sentence in explain_words.step_sentences(explained, each)]
            found += explain_words.counterfactual_sentences(explained, each)
            found.append(explain_words.tried_sentence(each))
        found += [*explain_words.idle_sentences(explained), explain_words.moves_of_state(explained)]
        return [each for each in found if each is not None]


def _lower(columns: tuple[str, ...]) -> list[str]:
    return [name.lower() for name in columns]
