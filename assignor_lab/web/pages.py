"""The pages as values and as HTML: every sentence and figure comes from where the commands have it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from assignor_lab.compare.figures import FigureCompared, compared_figures
from assignor_lab.documents.values import value_of
from assignor_lab.documents.wording import figure, mean, moment, plural, signed
from assignor_lab.groups.work import OBSERVED
from assignor_lab.report.groups import group_panel
from assignor_lab.report.pictures import Group, Placement
from assignor_lab.report.view import panel
from assignor_lab.web.address import ONE_MORE, View, text_of
from assignor_lab.web.asking import Asked, Asking
from assignor_lab.web.commands import command_of, is_saved
from assignor_lab.web.episode import moment_of
from assignor_lab.web.plays import Underway
from assignor_lab.web.rendering import environment, render
from assignor_lab.web.states import OpenedStates
from assignor_lab.web.why import knobs_of, why_of

__all__ = ["error_page", "moment_part", "state_page", "underway_page"]

_HINT = "this is a mistake of the page: say how it came about"
#: Most rows of what was done in an episode.
MOST_ACTIONS = 200


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
class Choice:
    """Assignors that can be chosen together: under which words, and their names."""

    words: str
    names: tuple[str, ...]


@attrs.frozen
class Done:
    """Something that was done to a group: when, what, to whom, and for each play what it led to."""

    at_s: str
    action: str
    who: str
    cells: tuple[str, ...]


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


def underway_page(asking: Asking, view: View, underway: Underway) -> str:
    """A page in place of one whose plays are under way: it is asked for again until they are done."""
    found = asking.scenario(view)
    back = View(view.source).url("/history") if view.past is not None else "/"
    return render("underway.html.j2", title=found.id, sentence=underway.sentence, back=back)


def state_page(asking: Asking, view: View) -> str:
    """One state with its contenders' answers, or one episode as they play it, and everything that can be changed.

    Raises:
        AssignorLabError: a subclass, if the view means nothing.
    """
    source = asking.opened.states(view.source)
    asked = asking.asked(view)
    recording = asking.opened.recording(view.source)
    names = _names(asked)
    time_ms = source.entries[view.state].time_ms if view.past is None else None
    return render(
        "state.html.j2",
        title=asked.scenario.id,
        view=view,
        asked=asked,
        source=source,
        time=None if time_ms is None else moment(time_ms),
        picture=_drawn(asked, names, view),
        moment=moment_of(asked.picture, view, names) if asked.kind.plays else None,
        figures=_figures(asking, asked),
        not_comparable=[
            f"Not comparable: {names[answer.assignor]}: {answer.not_comparable}."
            for answer in asked.answers
            if answer.not_comparable
        ],
        who=[names[answer.assignor] for answer in asked.answers],
        contenders=view.contenders or asked.contenders,
        choices=list(_choices(asking, asked)),
        done=_done(asked),
        with_recording=asked.kind.plays and any(answer.assignor == OBSERVED for answer in asked.answers),
        keys=asked.kind.config_keys,
        clients=list(_clients(asked, view)),
        more=_one_more(asked, view),
        undo=_undo(view),
        why=why_of(asking, asked, view, view.task) if view.task else None,
        steps=text_of(view.steps),
        among=_among(source, asked, view),
        pulse=None if recording is None else recording.pulse(),
        changed_on_disk=source.changed_on_disk(),
        command=command_of(asked, source.name, view, asking.words, asking.around),
        is_saved=is_saved(asked, view, asking.around),
        download=view.url("/state.jsonl"),
        is_changed=bool(view.steps or view.settings),
    )


def moment_part(asking: Asking, view: View) -> str:
    """Who runs what at a moment of an episode: the part of its page that changes while it is played."""
    asked = asking.asked(view)
    names = _names(asked)
    shown = moment_of(asked.picture, view, names) if asked.kind.plays else None
    return render("moment.html.j2", moment=shown)


def _names(asked: Asked) -> dict[str, str]:
    really = "What really happened" if asked.kind.plays else "Kafka itself"
    return {name: name for name in asked.contenders} | {OBSERVED: really}


def _choices(asking: Asking, asked: Asked) -> Iterator[Choice]:
    """Who can be chosen, by the protocol that a group speaks with them."""
    registry, by_protocol = asking.plugins.registry, dict[str, list[str]]()
    for found in (*asked.kind.installed(registry), *asked.kind.others(registry)):
        by_protocol.setdefault(asked.kind.protocol(found) or "", []).append(found.name)
    for protocol, names in by_protocol.items():
        yield Choice(f"{protocol} protocol" if protocol else "", tuple(sorted(names)))


def _done(asked: Asked) -> list[Done]:
    return [
        Done(f"{row.at_ms / 1000:.1f}", row.action, row.who, tuple(map(_led_to, row.led_to)))
        for row in asked.actions[:MOST_ACTIONS]
    ]


def _led_to(found: tuple[int, int | None] | None) -> str:
    if found is None:
        return "–"
    rebalances, stable_ms = found
    stable = "" if stable_ms is None else f", stable after {stable_ms / 1000:.1f} s"
    return f"{plural(rebalances, 'rebalance')}{stable}"


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
        dict.fromkeys(metrics) | {"error_type": None} | ({} if answer.not_comparable else dict(row))
        for answer, row in zip(asked.answers, asked.figures, strict=True)
    ]
    if not known:
        return []
    compared = [compared_figures(asked.kind.headline, [(known[0], row)], metrics) for row in known]
    rows = list(_rebalances(asked))
    is_told = [not asked.kind.plays or answer.assignor != OBSERVED for answer in asked.answers]
    for of_figure in zip(*compared, strict=True):
        if any(each.means is not None for each in of_figure):
            first = of_figure[0]
            title = first.title if not first.unit else f"{first.title} ({_unit(first)})"
            cells = [
                "not comparable" if answer.not_comparable else _cell(each, number, first, is_told=is_told[number])
                for number, (answer, each) in enumerate(zip(asked.answers, of_figure, strict=True))
            ]
            rows.append(Row(title, tuple(cells)))
    return rows


def _rebalances(asked: Asked) -> Iterator[Row]:
    """How often a played group rebalances, beside how often it did."""
    counts = [row.get("rebalances") for row in asked.figures] if asked.kind.plays else []
    if any(count is not None for count in counts):
        yield Row("Rebalances", tuple(_count(count, counts[0], number) for number, count in enumerate(counts)))


def _count(count: float | None, first: float | None, number: int) -> str:
    if count is None:
        return "–"
    if not number or first is None:
        return figure(count)
    more = count - first
    sign = "+" if more > 0 else "\u2212" if more else ""
    return f"{figure(count)} ({sign}{figure(abs(more))})"


def _unit(figure: FigureCompared) -> str:
    return {"share": "share of decisions"}.get(figure.unit, figure.unit)


def _cell(figure: FigureCompared, number: int, first: FigureCompared, *, is_told: bool) -> str:
    # A recording tells some measures alone: another one than that of the plays is none to compare them with.
    if figure.means is None or (not is_told and (figure.metric is None or figure.metric != first.metric)):
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
    if view.past is not None:
        return Steps("", (), None, View(view.source).url("/history"))
    rounds = asked.kind.rounds(asked.scenario)
    found = source.past_of(view.state, asked.number)
    if found is not None:
        decisions = found[0].decisions
        urls = [plain.url(state=each.state, round=each.round) for each in decisions]
        is_all = [each.state for each in decisions] == list(range(len(decisions))) and rounds == 1
        last = len(decisions) - 1 if is_all else None
        words = f"{'Decision' if rounds == 1 else 'Round'} {found[1] + 1} of {len(decisions)}"
        return Steps(words, _links(found[1], urls), last, View(view.source).url("/history"))
    if rounds > 1:
        links = _links(asked.number, [plain.url(round=number) for number in range(rounds)])
        return Steps(f"Round {asked.number + 1} of {rounds}", links, None, None)
    count = len(source.scenarios)
    if count < 2:
        return None
    links = _links(view.state, [plain.url(state=state, round=None) for state in range(count)])
    return Steps(f"State {view.state + 1} of {count}", links, count - 1, None)


def _links(at: int, urls: Sequence[str]) -> tuple[Link, ...]:
    """To the first, the one before, the next and the last, as far as these are others."""
    last = len(urls) - 1
    places = (("First", 0), ("Previous", at - 1), ("Next", at + 1), ("Last", last))
    return tuple(Link(text, urls[place]) for text, place in places if place != at and 0 <= place <= last)
