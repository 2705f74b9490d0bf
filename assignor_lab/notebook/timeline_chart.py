"""The timeline of a group: owners of each task over time, in an episode or a past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from assignor_lab.documents.wording import figure, moment, natural_order, plural
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.ownership.labels import client_labels
from assignor_lab.model.pictures import ConnectSnapshot
from assignor_lab.notebook.answers import NotebookAnswer
from assignor_lab.notebook.drawing import COLOURS, MOST_TASKS, PADDING, altair, chart_text, left_out, name_text
from assignor_lab.notebook.errors import ChartError
from assignor_lab.scenarios import Scenario

if TYPE_CHECKING:
    from altair import LayerChart

__all__ = ["plot_timeline"]

AWAY, RESTORING = "no owner", "its state comes back"
_NO_OWNERS = {RESTORING: "#f0e442", AWAY: "#000000"}
#: Most marked decisions.
MOST_MARKS = 400

Timeline = tuple[list[dict[str, Any]], list[dict[str, Any]], list[str], str]


def plot_timeline(what: NotebookAnswer | Sequence[Scenario]) -> LayerChart:
    """The owners of each task over time, in a played episode or in Kafka's recorded decisions.

    Args:
        what: Result of :func:`~assignor_lab.notebook.ask` for an episode; or states of one group with times and
            decisions (from logs and recordings).

    Raises:
        ChartError: if it is neither.
        MissingExtraError: if altair is not installed.
    """
    alt = altair()
    rows, marks, tasks, subtitle = _played(what) if isinstance(what, NotebookAnswer) else _decided(what)
    there = dict.fromkeys(row["who"] for row in rows)
    owners = sorted((owner for owner in there if owner not in _NO_OWNERS), key=natural_order)
    waits = {owner: colour for owner, colour in _NO_OWNERS.items() if owner in there}
    domain = [*owners, *waits]
    colours = [*(COLOURS[number % len(COLOURS)] for number in range(len(owners))), *waits.values()]
    bars = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("from:Q", title="seconds since the beginning"),
            x2="to:Q",
            y=alt.Y("task:N", sort=tasks, title=None),
            color=alt.Color("who:N", scale=alt.Scale(domain=domain, range=colours), title="runs on"),
            tooltip=[
                alt.Tooltip("task:N", title="Task"),
                alt.Tooltip("who:N", title="Who"),
                alt.Tooltip("from:Q", title="From, s", format=",.1f"),
                alt.Tooltip("to:Q", title="To, s", format=",.1f"),
            ],
        )
    )
    rules = (
        alt.Chart(alt.Data(values=marks))
        .mark_rule(strokeDash=[2, 3], color=COLOURS[6])
        .encode(x="at:Q", tooltip=alt.Tooltip("decision:N", title="Decision"))
    )
    title = alt.Title("Owners of tasks", subtitle=chart_text(subtitle, 200), anchor="start")
    height = max(80, 14 * len(tasks))
    words = f"Owners of tasks: {subtitle}; {plural(len(marks), 'rebalance')}"
    chart: LayerChart = (bars + rules).properties(
        padding=PADDING, title=title, width=620, height=height, description=chart_text(words, 400)
    )
    return chart


def _played(answered: NotebookAnswer) -> Timeline:
    gantt = None
    if answered.failure is None and answered.kind.plays:
        picture = answered.shown
        gantt = picture.answers[0].gantt if isinstance(picture, ConnectSnapshot) and picture.answers else None
    if gantt is None:
        raise ChartError("there is no play to draw: ask(EPISODE, ASSIGNOR) plays one; plot_answer shows one answer")
    instances = [name_text(name) for name in gantt.instances]
    rows: list[dict[str, Any]] = []
    for row in gantt.rows:
        task = name_text(row.task)
        for stretches, names in ((row.runs, instances), (row.waits, [AWAY, RESTORING])):
            rows += [
                {"task": task, "from": begin / 1000, "to": to / 1000, "who": names[which]}
                for begin, to, which in stretches
            ]
    marks = [{"at": at / 1000, "decision": f"rebalance over at {figure(at / 1000)} s"} for at in gantt.marks]
    left = f", {plural(gantt.rows_left_out, 'task')} left out" if gantt.rows_left_out else ""
    subtitle = f"{answered.state.id} with {answered.name}{left}"
    return rows, marks[:MOST_MARKS], [name_text(row.task) for row in gantt.rows], subtitle


def _decided(states: Sequence[Scenario]) -> Timeline:
    known = sorted(_decisions(states), key=lambda each: each[0])
    if len(known) < 2:
        raise ChartError(
            "fewer than two of the states have a decision of Kafka with its time: give those of a log or recording"
        )
    first = known[0][0]
    tasks = list(dict.fromkeys(task for _, _, owners in known for task in owners))[:MOST_TASKS]
    ends = [moment_ms for moment_ms, _, _ in known[1:]]
    ends.append(ends[-1] + max((ends[-1] - first) // len(ends), 1))
    held: dict[str, dict[str, Any]] = {}
    rows: list[dict[str, Any]] = []
    for (begin, _, owners), end in zip(known, ends, strict=True):
        for task in tasks:
            owner = owners.get(task, AWAY)
            last = held.get(task)
            if last is not None and last["who"] == owner and last["to"] == (begin - first) / 1000:
                last["to"] = (end - first) / 1000
                continue
            held[task] = {
                "task": name_text(task),
                "from": (begin - first) / 1000,
                "to": (end - first) / 1000,
                "who": owner,
            }
            rows.append(held[task])
    marks = [{"at": (at - first) / 1000, "decision": chart_text(f"{name}, {moment(at)}")} for at, name, _ in known]
    left = left_out((len({task for _, _, owners in known for task in owners}) - len(tasks), "task"))
    subtitle = f"{plural(len(known), 'decision')} from {moment(first)}{left}"
    return rows, marks[:MOST_MARKS], [name_text(task) for task in tasks], subtitle


def _decisions(states: Sequence[Scenario]) -> Iterator[tuple[int, str, dict[str, str]]]:
    for state in states:
        ownership = kind_named(state.kind).ownership
        time_ms = (state.source or {}).get("time_ms")
        if ownership is None or state.observed is None or time_ms is None:
            continue
        shown = kind_named(state.kind).state(state, 0, {})
        answer = ownership.answer(state, 0, shown, state.observed)
        if answer is None:
            continue
        after, labels = ownership.after(shown, answer), client_labels(ownership.clients(shown))
        owners = {task: after.owner(task) for task in ownership.tasks(shown)}
        yield (
            time_ms,
            state.id,
            {task: AWAY if owner is None else name_text(labels.get(owner, owner)) for task, owner in owners.items()},
        )
