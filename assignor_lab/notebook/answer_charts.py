"""Charts of answers: placements, and differences between two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assignor_lab.documents.wording import natural_order, plural, shortened
from assignor_lab.groups.ownership.ownership import NOBODY_LABEL
from assignor_lab.notebook.answers import NotebookAnswer
from assignor_lab.notebook.comparisons import Comparison
from assignor_lab.notebook.drawing import MOST_TASKS, PADDING, altair, chart_text, left_out, name_text
from assignor_lab.notebook.errors import ChartError

if TYPE_CHECKING:
    from altair import LayerChart

__all__ = ["plot_answer", "plot_difference"]

MOST_CLIENTS = 60
#: Change of a task on a client, to its colour and its sign.
_CHANGES = {
    "runs here as before": ("#b9c6d2", ""),
    "starts here": ("#d55e00", "→"),
    "a copy takes over": ("#e69f00", "↑"),
    "copy as before": ("#e8edf1", ""),
    "new copy": ("#56b4e9", "+"),
    "leaves": ("#ffffff", "−"),
}


def plot_answer(answered: NotebookAnswer) -> LayerChart:
    """The placement of one answer: a row for each client, a column for each task, with the changes.

    Raises:
        ChartError: if there is no answer, or the group was played.
        MissingExtraError: if altair is not installed.
    """
    alt = altair()
    who = answered.who
    if who is None:
        why = "the group was played: see plot_timeline" if answered.failure is None else answered.failure.message
        raise ChartError(f"{shortened(answered.name, 60)} has no answer to be drawn: {shortened(why, 200)}")
    labels = {client: name_text(label) for client, label in list(who.labels.items())[:MOST_CLIENTS]}
    tasks = [name_text(task) for task in who.tasks[:MOST_TASKS]]
    rows = [
        {"task": name, "client": labels[client], "change": change, "sign": _CHANGES[change][1]}
        for task, name in zip(who.tasks, tasks, strict=False)
        for client in dict.fromkeys((*who.before.roles.get(task, ()), *who.after.roles.get(task, ())))
        if client in labels and (change := who.change(task, client)) is not None
    ]
    shared = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("task:N", sort=tasks, title=who.noun, axis=alt.Axis(labelAngle=-60)),
        y=alt.Y("client:N", sort=sorted(labels.values(), key=natural_order), title=None),
        tooltip=[
            alt.Tooltip("task:N", title=who.noun.capitalize()),
            alt.Tooltip("client:N", title="Client"),
            alt.Tooltip("change:N", title="What happens"),
        ],
    )
    cells = shared.mark_rect(stroke="#777", strokeWidth=0.5).encode(
        color=alt.Color(
            "change:N",
            scale=alt.Scale(domain=list(_CHANGES), range=[colour for colour, _ in _CHANGES.values()]),
            title=None,
        )
    )
    signs = shared.mark_text(fontSize=12, color="black").encode(text="sign:N")
    left = left_out((len(who.tasks) - len(tasks), who.noun), (len(who.labels) - len(labels), "client"))
    title = alt.Title(
        f"Assigned owners: {name_text(answered.name)}",
        subtitle=chart_text(f"{answered.state.id}{left}", 200),
        anchor="start",
    )
    starts = sum(row["change"] in ("starts here", "a copy takes over") for row in rows)
    words = f"{plural(len(tasks), who.noun)} on {plural(len(labels), 'client')}; {starts} run elsewhere than before"
    chart: LayerChart = (cells + signs).properties(
        padding=PADDING, title=title, width=alt.Step(16), height=alt.Step(22), description=chart_text(words, 400)
    )
    return chart


def plot_difference(comparison: Comparison, state: int = 0) -> LayerChart:
    """Tasks with different owners in two answers: the owner before, and in each answer.

    Raises:
        ChartError: if there is no such state, or the answers are equal.
        MissingExtraError: if altair is not installed.
    """
    alt = altair()
    compared = comparison.compared
    if not 0 <= state < len(compared.states):
        raise ChartError(f"no state {state}: the comparison has {plural(len(compared.states), 'state')}, from 0")
    chosen = compared.states[state]
    failed = next((side.error for side in chosen.sides if side.error is not None), None)
    if failed is not None or not chosen.differing:
        why = "both answers are the same" if failed is None else shortened(failed, 200)
        raise ChartError(f"state {state} has no difference to be drawn: {why}")
    one, other = (name_text(name) for name in compared.names)
    columns = ["before", one, other if other != one else f"{other} (2)"]
    shown = (chosen.elsewhere or chosen.differing)[:MOST_TASKS]
    rows = [
        {
            "task": name_text(each.task),
            "when": column,
            "client": NOBODY_LABEL if client is None else name_text(chosen.labels.get(client, client)),
            "moved": "as before" if client == each.before else "elsewhere",
        }
        for each in shown
        for column, client in zip(columns, (each.before, *each.owners), strict=True)
    ]
    shared = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("when:N", sort=columns, title=None, axis=alt.Axis(labelAngle=0, orient="top")),
        y=alt.Y("task:N", sort=[name_text(each.task) for each in shown], title=None),
        tooltip=[
            alt.Tooltip("task:N", title=chosen.noun.capitalize()),
            alt.Tooltip("when:N", title="By"),
            alt.Tooltip("client:N", title="Runs on"),
            alt.Tooltip("moved:N", title="That is"),
        ],
    )
    standing = ["as before", "elsewhere"]
    cells = shared.mark_rect(stroke="white").encode(
        color=alt.Color("moved:N", scale=alt.Scale(domain=standing, range=["#dfe6ec", "#f5c99b"]), title=None)
    )
    names = shared.mark_text(color="black").encode(text="client:N")
    left = left_out((len(chosen.elsewhere or chosen.differing) - len(shown), chosen.noun))
    difference = f"{len(chosen.elsewhere)} of {plural(chosen.tasks, chosen.noun)} run by different clients{left}"
    title = alt.Title(
        f"{one} and {other}", subtitle=chart_text(f"{chosen.scenario}: {difference}", 200), anchor="start"
    )
    chart: LayerChart = (cells + names).properties(
        padding=PADDING, title=title, width=alt.Step(150), height=alt.Step(20), description=chart_text(difference, 400)
    )

    return chart
