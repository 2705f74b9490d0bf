"""The pages as values and as HTML: every sentence and figure comes from where the commands have it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import attrs
from jinja2 import ChoiceLoader, Environment, PackageLoader

from assignment_api import AssignorLabError
from assignor_lab.compare.figures import FigureCompared, compared_figures
from assignor_lab.documents.values import value_of
from assignor_lab.documents.wording import mean, plural, signed
from assignor_lab.explain import Budget, explain, question_of
from assignor_lab.explain import words as explain_words
from assignor_lab.groups.changes import Knob
from assignor_lab.groups.labels import client_labels
from assignor_lab.groups.work import OBSERVED
from assignor_lab.report.groups import group_panel
from assignor_lab.report.html import templates
from assignor_lab.report.pictures import Gantt, Group, Placement
from assignor_lab.report.view import panel
from assignor_lab.web.address import ONE_MORE, View, text_of
from assignor_lab.web.asking import Asked, Asking
from assignor_lab.web.opened import Opened, OpenedStates

__all__ = ["error_page", "home_page", "state_page"]

#: Calls and seconds that an explanation may take while somebody waits.
MOST_CALLS, MOST_SECONDS = 200, 5.0
#: Longest list of states on the first page.
MOST_LISTED = 500
_HINT = "this is a mistake of the page: say how it came about"


@attrs.frozen
class Row:
    """A figure of the headline: its title, and what each contender has, the first one's difference told."""

    title: str
    cells: tuple[str, ...]


@attrs.frozen
class Link:
    """Somewhere to go."""

    text: str
    url: str


@attrs.frozen
class Slider:
    """A number of the state that can be set to another one.

    Args:
        label: What it is.
        now: Its value.
        step: The step of the address with ``null`` in the place of the value, as JSON.
        highest: The highest value that the slider reaches.
    """

    label: str
    now: int
    step: str
    highest: int


def home_page(opened: Opened) -> str:
    """The list of what was opened."""
    return _render(
        "home.html.j2",
        title="Assignor Lab",
        sources=opened.sources,
        is_states=lambda source: isinstance(source, OpenedStates),
        address=lambda source, number: View(source=source, state=number).url(),
        time=_time,
        most=MOST_LISTED,
    )


def error_page(message: str, back: str) -> str:
    """A sentence in place of a page."""
    return _render("error.html.j2", title="This cannot be shown", message=message, back=back)


def state_page(asking: Asking, view: View) -> str:
    """One state with its contenders' answers, or one episode as they play it, and everything that can be changed.

    Raises:
        AssignorLabError: a subclass, if the view means nothing.
    """
    source = asking.opened.states(view.source)
    asked = asking.asked(view)
    names = {name: name for name in asked.contenders} | {OBSERVED: "Kafka itself"}
    picture = asked.kind.picture(asked.answers, None) | {"chosen": "asked"}
    drawn = _drawn(asked, picture, names, view)
    return _render(
        "state.html.j2",
        title=asked.scenario.id,
        view=view,
        asked=asked,
        source=source,
        time=_time(source.entries[view.state].time_ms),
        picture=drawn,
        moment=_moment(picture, view) if asked.kind.plays else None,
        figures=_figures(asking, asked),
        not_comparable=[
            f"Not comparable: {names[answer.assignor]}: {answer.not_comparable}."
            for answer in asked.answers
            if answer.not_comparable
        ],
        who=[names[answer.assignor] for answer in asked.answers],
        assignors=sorted(found.name for found in asked.kind.installed(asking.plugins.registry)),
        keys=asked.kind.config_keys,
        clients=list(_clients(asked, view)),
        more=_one_more(asked, view),
        undo=_undo(view),
        why=_why(asking, asked, view) if view.task else None,
        steps=text_of(view.steps),
        neighbours=_neighbours(source, view),
        command=_command(asked, source, view),
        download=view.url("/state.jsonl"),
        is_changed=bool(view.steps or view.settings),
    )


def _drawn(asked: Asked, picture: Mapping[str, Any], names: dict[str, str], view: View) -> str:
    environment = _environment()
    if asked.kind.section == "placements":
        placement = value_of(Placement, _HINT)(picture)
        shown = panel(1, placement, names, {OBSERVED})

        def why(task: str, assignor: str) -> str:
            return view.url(contenders=_first(asked.contenders, assignor, view), task=task) + "#why"

        return environment.get_template("panel.html.j2").render(panel=shown, opened=True, why=why)
    group = value_of(Group, _HINT)(picture)
    return environment.get_template("group.html.j2").render(panel=group_panel(1, group, names), opened=True)


def _first(contenders: Sequence[str], assignor: str, view: View) -> tuple[str, ...]:
    """The contenders of the view, the one who is explained first."""
    texts = list(view.contenders) or list(contenders)
    chosen = [text for text in texts if text.partition("=")[0] == assignor]
    return tuple(dict.fromkeys([*chosen, *texts]))


def _figures(asking: Asking, asked: Asked) -> list[Row]:
    """The five figures, each with every contender's, and its difference from the first one's."""
    metrics = {name: found.plugin for name, found in asked.kind.metrics(asking.plugins.registry).items()}
    known = [
        dict.fromkeys(metrics) | ({"error_type": None} if answer.not_comparable else dict(row))
        for answer, row in zip(asked.answers, asked.figures, strict=True)
    ]
    if not known:
        return []
    compared = [compared_figures(asked.kind.headline, [(known[0], row)], metrics) for row in known]
    rows = []
    for of_figure in zip(*compared, strict=True):
        if any(each.means is not None for each in of_figure):
            first = of_figure[0]
            title = first.title if not first.unit else f"{first.title} ({_unit(first)})"
            cells = [
                "not comparable" if answer.not_comparable else _cell(each, number)
                for number, (answer, each) in enumerate(zip(asked.answers, of_figure, strict=True))
            ]
            rows.append(Row(title, tuple(cells)))
    return rows


def _unit(figure: FigureCompared) -> str:
    return {"share": "share of decisions"}.get(figure.unit, figure.unit)


def _cell(figure: FigureCompared, number: int) -> str:
    if figure.means is None:
        return "–"
    told = mean(figure.means[1], figure.unit)
    return told if not number else f"{told} ({signed(figure.difference, figure.unit)})"


def _clients(asked: Asked, view: View) -> Iterator[Link]:
    """Who can be taken away, with the view in which it is gone."""
    for knob in _knobs(asked, None):
        if knob.what == "client":
            change = knob.at(None)
            yield Link(f"if {change.words}", attrs.evolve(view.after(change), task=None).url())


def _one_more(asked: Asked, view: View) -> Link | None:
    changes, state = asked.kind.changes, asked.answers[0].state
    change = None if changes is None or state is None else changes.one_more(asked.scenario, asked.number, state)
    return None if change is None else Link(f"if {change.words}", view.url(steps=(*view.steps, ONE_MORE)))


def _knobs(asked: Asked, task: str | None) -> list[Knob]:
    changes, holding, state = asked.kind.changes, asked.kind.holding, asked.answers[0].state
    if changes is None or holding is None or state is None:
        return []
    tasks, labels = holding.tasks(state), _labels(asked)
    chosen = task if task in tasks else next(iter(tasks), None)
    if chosen is None:
        return []
    return list(changes.knobs(asked.scenario, asked.number, state, chosen, lambda client: labels.get(client, client)))


def _undo(view: View) -> list[Link]:
    """How to take back the last change, or all of them."""
    links = []
    if view.steps:
        links.append(Link("Undo the last change of the state", view.url(steps=view.steps[:-1])))
    if view.steps or view.settings:
        links.append(Link("Back to the state as it was", view.url(steps=(), settings={}, task=None)))
    return links


@attrs.frozen
class Why:
    """An explanation: its sentences, what was known, and the numbers that may be set to others."""

    task: str
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sliders: tuple[Slider, ...]
    error: str | None = None


def _why(asking: Asking, asked: Asked, view: View) -> Why:
    assert view.task is not None
    sliders = tuple(_sliders(_knobs(asked, view.task), view.task, _labels(asked)))
    contender = view.contenders[0] if view.contenders else None
    if contender is not None and "=" in contender:
        return Why(view.task, (), (), sliders, "A variant is explained with its settings in place: set them below.")
    try:
        question = question_of(
            asked.scenario,
            asked.number,
            contender,
            asking.plugins.registry,
            asking.sources(view),
            asking.plugins.isolation,
        )
        explained = explain(question, view.task, view.why_not, lambda: Budget(MOST_CALLS, MOST_SECONDS))
    except AssignorLabError as error:
        return Why(view.task, (), (), sliders, str(error))
    (each,) = explained.explanations
    sentences = [explain_words.headline(explained, each)]
    kafka = explain_words.kafka_sentence(explained, each)
    sentences += [] if kafka is None else [kafka]
    stand_in = explain_words.stand_in_sentence(explained)
    sentences += [] if stand_in is None else [stand_in]
    sentences += [f"{rule}: {sentence}" for rule, sentence in explain_words.step_sentences(explained, each)]
    sentences += [*explain_words.would_sentences(explained, each), explain_words.tried_sentence(each)]
    return Why(view.task, tuple(sentences), tuple(map(tuple, explain_words.client_rows(each))), sliders)


def _labels(asked: Asked) -> Mapping[str, str]:
    holding, state = asked.kind.holding, asked.answers[0].state
    return {} if holding is None or state is None else client_labels(holding.clients(state))


def _sliders(knobs: Sequence[Knob], task: str, labels: Mapping[str, str]) -> Iterator[Slider]:
    for knob in knobs:
        if knob.now is None or knob.what not in _SLID:
            continue
        change = knob.at(_MARK)
        if len(change.edits) == 1 and change.edits[0].value == _MARK:
            (edit,) = change.edits
            client = labels.get(knob.concerns or "", knob.concerns or "")
            label = _SLID[knob.what].format(task=task, client=client)
            highest = max(10, 2 * abs(knob.now), *(value for value in knob.values if type(value) is int))
            step = json.dumps([[[list(edit.path), None]]], separators=(",", ":"))
            yield Slider(label, max(knob.now, 0), step, min(highest, 2**53 - 1))


#: What can be set by sliding, and what that is called.
_SLID = {"lag": "Lag of {task} on {client}", "threads": "Threads of {client}", "time": "Time of the rebalance, ms"}
#: A value that nothing has, to find the place where a change would put it.
_MARK = 987_654_321


@attrs.frozen
class Moment:
    """An episode at one moment: for each contender who runs what."""

    at_ms: int
    until_ms: int
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def _moment(picture: Mapping[str, Any], view: View) -> Moment | None:
    drawings = [
        (answer["assignor"], value_of(Gantt, _HINT)(answer["gantt"]))
        for answer in picture["answers"]
        if answer.get("gantt") is not None
    ]
    if not drawings:
        return None
    until = max(gantt.until_ms for _, gantt in drawings)
    at = min(view.at_ms or 0, until)
    rows: dict[str, list[str]] = {}
    for number, (_, gantt) in enumerate(drawings):
        running: dict[str, list[str]] = {}
        for row in gantt.rows:
            run = next((who for begin, to, who in row.runs if begin <= at < to), None)
            waits = next((bool(state) for begin, to, state in row.waits if begin <= at < to), None)
            name = "nobody, state comes back" if waits else "nobody" if run is None else gantt.instances[run]
            running.setdefault(name, []).append(row.task)
        for name, tasks in running.items():
            rows.setdefault(name, [""] * len(drawings))[number] = " ".join(tasks)
    return Moment(at, until, tuple((name, tuple(cells)) for name, cells in sorted(rows.items())))


def _neighbours(source: OpenedStates, view: View) -> list[Link]:
    links = []
    if view.state > 0:
        links.append(Link("Previous", view.url(state=view.state - 1, steps=(), task=None, round=None)))
    if view.state + 1 < len(source.scenarios):
        links.append(Link("Next", view.url(state=view.state + 1, steps=(), task=None, round=None)))
    return links


def _command(asked: Asked, source: OpenedStates, view: View) -> str:
    """The command that prints what is shown; a changed state has to be saved first."""
    names = view.contenders or asked.contenders
    words = [word for each in names for word in (("--variant", each) if "=" in each else ("--assignor", each))]
    file = "state.jsonl" if view.steps else source.name
    if asked.kind.plays:
        return shlex.join(["assignor", "replay", file, *words])
    if view.task:
        state = view.words(file, asked.scenario.id)
        return shlex.join(["assignor", "explain", *state, "--task", view.task, "--assignor", names[0]])
    return shlex.join(["assignor", "compare", *view.words(file, asked.scenario.id), *words])


def _time(time_ms: int | None) -> str | None:
    if time_ms is None:
        return None
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return None


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(plural=plural, **values)


@cache
def _environment() -> Environment:
    report = templates()
    assert report.loader is not None
    loader = ChoiceLoader([PackageLoader("assignor_lab.web", "templates"), report.loader])
    return report.overlay(loader=loader)
