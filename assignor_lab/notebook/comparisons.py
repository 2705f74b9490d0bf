"""A comparison in a notebook, with the values and words of ``assignor compare``."""

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
    """Two answers to the same states."""

    compared: Compared

    def document(self) -> dict[str, Any]:
        return document_of(self.compared)

    def __repr__(self) -> str:
        return " ".join(words.sentences(self.compared))

    def _repr_html_(self) -> str:
        compared = self.compared
        one, other = compared.names
        parts = [paragraph(sentence) for sentence in words.sentences(compared)]
        if len(compared.states) == 1:
            (state,) = compared.states
            parts += [paragraph(sentence) for sentence in words.state_sentences(compared, state)]
            if state.differing:
                columns = [state.noun, "before", f"{one} (copies)", f"{other} (copies)"]
                parts.append(table("Tasks with different owners", columns, words.differing_rows(state)))
                columns = ["client", one, other, f"gains with {other}", "loses"]
                parts.append(table("Tasks and copies of each client", columns, words.client_rows(state)))
        else:
            columns = ["state", f"{one} moves", f"{other} moves", "elsewhere", "copies elsewhere"]
            parts.append(table("Decision by decision", columns, words.state_rows(compared)))
        rows = words.figure_rows(compared)
        if rows:
            parts.append(table("Average costs", ["figure", one, other, "difference"], rows))
        gaps = words.gap_rows(compared)
        if gaps:
            parts.append(table("Goals, with the avoidable part", ["goal", one, other], gaps))
        return f"<div>{''.join(parts)}</div>"


def compare(
    states: Scenario | Iterable[Scenario], one: str, other: str, config: Mapping[str, Any] | None = None
) -> Comparison:
    """Compares the answers of two contenders to the same states.

    Args:
        one: Name of an assignor, a variant (``two=sticky,num.standby.replicas=2``), or ``kafka``: Kafka's recorded
            decision.
        other: The same for the second contender.
        config: Keys and values that replace the states' own, for both.

    Raises:
        AssignorLabError: a subclass, if there is no such assignor, or it is for another kind of groups.
    """
    given = [states] if isinstance(states, Scenario) else states
    return Comparison(compared_of(given, (contender_of(one), contender_of(other)), terms_of(config)))
