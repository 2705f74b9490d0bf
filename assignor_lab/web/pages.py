"""The pages as values and as HTML: every sentence and figure comes from where the commands have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from assignor_lab.compare.figures import FigureCompared, compared_figures
from assignor_lab.documents.values import value_of
from assignor_lab.documents.wording import mean, moment, signed
from assignor_lab.groups.work import OBSERVED
from assignor_lab.report.groups import group_panel
from assignor_lab.report.pictures import Group, Placement
from assignor_lab.report.view import panel
from assignor_lab.web.address import ONE_MORE, View, text_of
from assignor_lab.web.asking import Asked, Asking
from assignor_lab.web.commands import command_of
from assignor_lab.web.episode import moment_of
from assignor_lab.web.rendering import environment, render
from assignor_lab.web.states import OpenedStates
from assignor_lab.web.why import knobs_of, why_of

__all__ = ["error_page", "moment_part", "state_page"]

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
class Steps:
    """Where a state stands among others, and the ways on.

    Args:
        words: Which one it is, of how many.
        links: Addresses of the ones before and after.
        last: Number of the last state, if they can be slid through; else ``None``.
        history: Address of the whole past, or ``None``: there is none.
    """

    words: str
    links: tuple[Link, ...]
    last: int | None
    history: str | None


def error_page(message: str, back: str) -> str:
    """A sentence in place of a page."""
    return render("error.html.j2", title="This cannot be shown", message=message, back=back)


def state_page(asking: Asking, view: View) -> str:
    """One state with its contenders' answers, or one episode as they play it, and everything that can be changed.

    Raises:
        AssignorLabError: a subclass, if the view means nothing.
    """
    source = asking.opened.states(view.source)
    asked = asking.asked(view)
    recording = asking.opened.recording(view.source)
    names = _names(asked)
    time_ms = source.entries[view.state].time_ms
    return render(
        "state.html.j2",
        title=asked.scenario.id,
        view=view,
        asked=asked,
        source=source,
        time=None if time_ms is None else moment(time_ms),
        picture=_drawn(asked, names, view),
        moment=moment_of(asked.picture, view) if asked.kind.plays else None,
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
        why=why_of(asking, asked, view, view.task) if view.task else None,
        steps=text_of(view.steps),
        among=_among(source, asked, view),
        pulse=None if recording is None else recording.pulse(),
        changed_on_disk=source.changed_on_disk(),
        command=command_of(asked, source.name, view, asking.words),
        download=view.url("/state.jsonl"),
        is_changed=bool(view.steps or view.settings),
    )


def moment_part(asking: Asking, view: View) -> str:
    """Who runs what at a moment of an episode: the part of its page that changes while it is played."""
    asked = asking.asked(view)
    names = _names(asked)
    shown = moment_of(asked.picture, view) if asked.kind.plays else None
    return render("moment.html.j2", moment=shown, who=[names[answer.assignor] for answer in asked.answers])


def _names(asked: Asked) -> dict[str, str]:
    return {name: name for name in asked.contenders} | {OBSERVED: "Kafka itself"}


def _drawn(asked: Asked, names: dict[str, str], view: View) -> str:
    if asked.kind.section == "placements":
        placement = value_of(Placement, _HINT)(asked.picture)
        shown = panel(1, placement, names, {OBSERVED})

        def why(task: str, assignor: str) -> str:
            return view.url(contenders=_first(asked.contenders, assignor, view), task=task) + "#why"

        return environment().get_template("panel.html.j2").render(panel=shown, opened=True, why=why)
    group = value_of(Group, _HINT)(asked.picture)
    drawn = group_panel(1, group, names)
    at = (view.at_ms or 0) if asked.kind.plays else None
    return environment().get_template("group.html.j2").render(panel=drawn, opened=True, at=at)


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
    for knob in knobs_of(asked, None):
        if knob.what == "client":
            change = knob.at(None)
            yield Link(f"if {change.words}", attrs.evolve(view.after(change), task=None).url())


def _one_more(asked: Asked, view: View) -> Link | None:
    changes, state = asked.kind.changes, asked.state
    change = None if changes is None or state is None else changes.one_more(asked.scenario, asked.number, state)
    return None if change is None else Link(f"if {change.words}", view.url(steps=(*view.steps, ONE_MORE)))


def _undo(view: View) -> list[Link]:
    """How to take back the last change, or all of them."""
    links = []
    if view.steps:
        links.append(Link("Undo the last change of the state", view.url(steps=view.steps[:-1])))
    if view.steps or view.settings:
        links.append(Link("Back to the state as it was", view.url(steps=(), settings={}, task=None)))
    return links


def _among(source: OpenedStates, asked: Asked, view: View) -> Steps | None:
    """Where the state stands in its past, its rounds, or its source; ``None``: it stands alone."""
    plain = attrs.evolve(view, steps=(), task=None, why_not=None, at_ms=None)
    rounds = asked.kind.rounds(asked.scenario)
    found = source.past_of(view.state)
    history = None if found is None else View(view.source).url("/history")
    if rounds > 1:
        links = _links(asked.number, [plain.url(round=number) for number in range(rounds)])
        return Steps(f"Round {asked.number + 1} of {rounds}", links, None, history)
    order = [each.state for each in found[0].decisions] if found else list(range(len(source.scenarios)))
    if len(order) < 2:
        return None
    at = found[1] if found else view.state
    links = _links(at, [plain.url(state=state, round=None) for state in order])
    last = len(order) - 1 if order == list(range(len(order))) else None
    return Steps(f"{'Decision' if found else 'State'} {at + 1} of {len(order)}", links, last, history)


def _links(at: int, urls: Sequence[str]) -> tuple[Link, ...]:
    """To the first, the one before, the next and the last, as far as these are others."""
    last = len(urls) - 1
    places = (("First", 0), ("Previous", at - 1), ("Next", at + 1), ("Last", last))
    return tuple(Link(text, urls[place]) for text, place in places if place != at and 0 <= place <= last)
