"""An answer in a notebook: the placement by one assignor, and its costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api.notebook import names_text, paragraph, table
from assignor_lab.compare import contender_of
from assignor_lab.compare.figures import compared_figures, metrics_of_headline
from assignor_lab.documents.wording import mean, natural_order, plural
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.kind import ContenderAnswer, GroupKind
from assignor_lab.groups.ownership.labels import client_labels
from assignor_lab.groups.ownership.ownership import ACTIVE, Ownership
from assignor_lab.groups.runner.rows import RowMaker
from assignor_lab.model.comparisons import FigureCompared
from assignor_lab.model.pictures import Picture
from assignor_lab.notebook.surroundings import item_of, terms_of
from assignor_lab.runtime.invocation import CallFailure
from assignor_lab.scenarios import Scenario

__all__ = ["NotebookAnswer", "Who", "ask"]


@attrs.frozen
class Who:
    """Owners before an answer and after it."""

    noun: str
    labels: Mapping[str, str]
    tasks: Sequence[str]
    before: Ownership
    after: Ownership

    def change(self, task: str, client: str) -> str | None:
        """The change of a task on a client, in words; ``None``: it is not there before or after."""
        had, has = self.before.role(task, client), self.after.role(task, client)
        if has == ACTIVE:
            if had == ACTIVE:
                return "runs here as before"
            return "a copy takes over" if had else "starts here"
        if has is not None:
            return "copy as before" if had and had != ACTIVE else "new copy"
        return None if had is None else "leaves"


@attrs.frozen(eq=False)
class NotebookAnswer:
    """The outcome of a call."""

    state: Scenario = attrs.field(repr=False)
    name: str
    round: int
    who: Who | None = attrs.field(repr=False)
    figures: tuple[FigureCompared, ...] = attrs.field(repr=False)
    failure: CallFailure | None
    not_comparable: str | None
    answer: ContenderAnswer[Any, Any] = attrs.field(repr=False)
    kind: GroupKind[Any, Any] = attrs.field(repr=False)

    @property
    def result(self) -> Any:
        """The assignor's own answer, such as a :class:`assignment_api.TaskAssignment`, or ``None``."""
        return self.answer.outcome.answer

    def picture(self) -> dict[str, Any]:
        """The answer in the form of the summary file (docs, "The summary file")."""
        from assignor_lab.scoring.output.summary_file import picture_document

        return picture_document(self.shown)

    @property
    def shown(self) -> Picture:
        return self.kind.picture([self.answer], self.name)

    def _repr_html_(self) -> str:
        caption = f"{self.name} on {self.state.id}" + (f", round {self.round}" if self.round else "")
        if self.failure is not None:
            return f"<div>{paragraph(f'{caption}: no answer: {self.failure.type}: {self.failure.message}')}</div>"
        parts = [] if self.not_comparable is None else [paragraph(f"Not comparable: {self.not_comparable}")]
        if self.who is not None:
            parts.append(_clients(caption, self.who))
        known = [each for each in self.figures if each.means is not None]
        rows = [[each.title, mean(each.of[0].mean, each.unit or ""), each.unit or ""] for each in known]
        parts.append(table(f"{caption}: costs", ["figure", "value", "unit"], rows))
        return f"<div>{''.join(parts)}</div>"


def _clients(caption: str, who: Who) -> str:
    by_client: dict[str, dict[str, list[str]]] = {client: {} for client in who.labels}
    for task in who.tasks:
        for client in {**who.before.roles.get(task, {}), **who.after.roles.get(task, {})}:
            change = who.change(task, client)
            if change is not None and client in by_client:
                by_client[client].setdefault(change, []).append(task)
    rows = (
        [
            who.labels[client],
            len(found.get("runs here as before", ())),
            *(
                names_text(found.get(each, ()), len(found.get(each, ())))
                for each in ("starts here", "a copy takes over", "copy as before", "new copy", "leaves")
            ),
        ]
        for client, found in sorted(by_client.items(), key=lambda each: natural_order(who.labels[each[0]]))
    )
    columns = ["client", "stay", "start here", "taken over from its copy", "copies stay", "new copies", "leave"]
    return table(f"{caption}: {plural(len(who.tasks), who.noun)}", columns, rows, len(by_client))


def ask(state: Scenario, assignor: str, config: Mapping[str, Any] | None = None, *, round: int = 0) -> NotebookAnswer:  # noqa: A002 - the column's name
    """Calls an assignor for a state; an episode is played with it.

    Args:
        assignor: Name of an assignor, a variant (``two=sticky,num.standby.replicas=2``), or ``kafka``: Kafka's recorded
            decision.

    Raises:
        AssignorLabError: a subclass, if there is no such assignor, it is for another kind of groups, or the state has
            no such round. An exception of the assignor is the value's ``failure``.
    """
    kind = kind_named(state.kind)
    terms = terms_of(config)
    contender = contender_of(assignor)
    answers = contender.answers(kind, state, item_of(state), terms)
    found = next((each for each in answers if each.round == round), None)
    if found is None:
        raise IndexError(f"{state.place}: state {state.id!r:.80} has rounds 0 to {kind.rounds(state) - 1}")
    metrics = {name: each.plugin for name, each in kind.metrics(terms.registry).items()}
    names = [name for name in metrics_of_headline(kind.headline) if name in metrics]
    row = RowMaker(kind, kind.figures(terms.registry, names, contender.config(state, terms))).row(found)
    return NotebookAnswer(
        state=state,
        name=contender.name,
        round=round,
        who=_who(kind, found),
        figures=compared_figures(kind.headline, [(row,)], metrics, (found.assignor,)),
        failure=found.outcome.failure,
        not_comparable=found.not_comparable,
        answer=found,
        kind=kind,
    )


def _who(kind: GroupKind[Any, Any], answer: ContenderAnswer[Any, Any]) -> Who | None:
    ownership = kind.ownership
    if ownership is None or answer.state is None or answer.outcome.answer is None:
        return None
    return Who(
        ownership.noun,
        client_labels(ownership.clients(answer.state)),
        ownership.tasks(answer.state),
        ownership.before(answer.state),
        ownership.after(answer.state, answer.outcome.answer),
    )
