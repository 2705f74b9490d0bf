"""A comparison as a notebook holds it: the same values and words as of ``assignor compare``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from assignment_api.notebook import paragraph, table
from assignor_lab.compare import Compared, contender_of, words
from assignor_lab.compare import compare as compared_of
from assignor_lab.compare.document import document_of
from assignor_lab.notebook.surroundings import terms_of
from assignor_lab.scenarios import Scenario

__all__ = ["Comparison", "compare"]


@attrs.frozen(eq=False)
class Comparison:
    """Two answers to the same states.

    Args:
        compared: The comparison as values.
    """

    compared: Compared

    def document(self) -> dict[str, Any]:
        """What ``assignor compare --json`` prints."""
        return document_of(self.compared)

    def __repr__(self) -> str:
        return " ".join(words.sentences(self.compared))

    def _repr_html_(self) -> str:
        """In words, then as tables: of one state task by task, of several a row for each."""
        compared = self.compared
        one, other = compared.names
        parts = [paragraph(sentence) for sentence in words.sentences(compared)]
        if len(compared.states) == 1:
            (state,) = compared.states
            parts += [paragraph(sentence) for sentence in words.state_sentences(compared, state)]
            if state.differing:
                columns = [state.noun, "before", f"{one} (copies)", f"{other} (copies)"]
                parts.append(table("What they leave to different clients", columns, words.differing_rows(state)))
                columns = ["client", one, other, f"gains with {other}", "loses"]
                parts.append(table("What each client runs, and its copies", columns, words.client_rows(state)))
        else:
            columns = ["state", f"{one} moves", f"{other} moves", "elsewhere", "copies elsewhere"]
            parts.append(table("Decision by decision", columns, words.state_rows(compared)))
        rows = words.figure_rows(compared)
        if rows:
            parts.append(table("What it costs, on average", ["figure", one, other, "difference"], rows))
        return f"<div>{''.join(parts)}</div>"


def compare(
    states: Scenario | Iterable[Scenario], one: str, other: str, config: Mapping[str, Any] | None = None
) -> Comparison:
    """Puts states to two contenders and compares what they answer.

    Args:
        states: A state, or several of one kind.
        one: Name of an assignor, a variant (``two=sticky,num.standby.replicas=2``), or ``kafka``: what Kafka decided.
        other: Likewise.
        config: Keys and values in place of the states' own, for both.

    Raises:
        AssignorLabError: a subclass, if there is no such assignor, or it cannot be asked about such states.
    """
    given = [states] if isinstance(states, Scenario) else states
    return Comparison(compared_of(given, (contender_of(one), contender_of(other)), terms_of(config)))
