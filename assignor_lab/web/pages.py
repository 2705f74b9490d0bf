"""The pages as values and as HTML; sentences and figures come from the code of the commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api.plugins import MetricPlugin
from assignor_lab.compare.figures import compared_figures
from assignor_lab.compare.plays import compared_plays
from assignor_lab.documents.wording import figure, mean, moment, plural, signed
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.comparisons import FigureCompared
from assignor_lab.model.pictures import SnapshotPlacement
from assignor_lab.report.sections.groups import group_panel
from assignor_lab.report.view import panel
from assignor_lab.web.address import ONE_MORE, View, text_of
from assignor_lab.web.commands import command_of, is_saved
from assignor_lab.web.episode import moment_of
from assignor_lab.web.plays import PlayProgress
from assignor_lab.web.rendering import environment, render
from assignor_lab.web.states import OpenedStates
from assignor_lab.web.view_answers import AnsweredState, ViewAnswers
from assignor_lab.web.why import choices_of, knobs_of, why_of

__all__ = ["error_page", "moment_part", "state_page", "underway_page"]

_HINT = "this is an error of the page: please report how to reproduce it"
MOST_ACTIONS = 200


@attrs.frozen
class FigureRow:
    """A figure of the headline: its title, each contender's value, and the differences from the first."""

    title: str
    cells: tuple[str, ...]


@attrs.frozen
class TextLink:
    """A link with its text."""

    text: str
    url: str


@attrs.frozen
class AssignorChoice:
    """Assignors of one group of the selection: a heading, and their names."""

    words: str
    names: tuple[str, ...]


@attrs.frozen
class ActionLine:
    """An action on a group: time, type, instance, and the result in each play."""

    at_s: str
    action: str
    who: str
    cells: tuple[str, ...]


@attrs.frozen
class Steps:
    """Position of a state among others, with links."""

    words: str
    links: tuple[TextLink, ...]
    last: int | None
    history: str | None


def error_page(message: str, back: str) -> str:
    return render("error.html.j2", title="This cannot be shown", message=message, back=back)


def underway_page(asking: ViewAnswers, view: View, underway: PlayProgress) -> str:
    """A page for unfinished plays, which reloads until they are finished."""
    found = asking.scenario(view)
    back = View(view.source).url("/history") if view.past is not None else "/"
    return render("underway.html.j2", title=found.id, sentence=underway.sentence, back=back)


def state_page(asking: ViewAnswers, view: View) -> str:
    """One state with the contenders' answers, or one episode with their plays, and all possible changes.

    Raises:
        AssignorLabError: a subclass, if the view is invalid.
    """
    source = asking.opened.states(view.source)
    answered = asking.asked(view)
    recording = asking.opened.recording(view.source)
    names = _names(answered)
    tasks, labels = choices_of(answered)
    time_ms = source.entries[view.state].time_ms if view.past is None else None
    return render(
        "state.html.j2",
        title=answered.scenario.id,
        view=view,
        asked=answered,
        source=source,
        time=None if time_ms is None else moment(time_ms),
        picture=_drawn(answered, names, view),
        moment=moment_of(answered.picture, view, names) if answered.kind.plays else None,
        figures=_figures(asking, answered),
        verdict=_verdict(asking, source, answered),
        not_comparable=[
            f"Not comparable: {names[answer.assignor]}: {answer.not_comparable}."
            for answer in answered.answers
            if answer.not_comparable
        ],
        who=[names[answer.assignor] for answer in answered.answers],
        contenders=view.contenders or answered.contenders,
        choices=list(_choices(asking, answered)),
        done=_done(answered),
        with_recording=answered.kind.plays and any(answer.assignor == OBSERVED for answer in answered.answers),
        keys=answered.kind.config_keys,
        clients=list(_clients(answered, view)),
        more=_one_more(answered, view),
        undo=_undo(view),
        why=why_of(asking, answered, view, view.task) if view.task else None,
        tasks=tasks,
        labels=labels,
        steps=text_of(view.steps),
        among=_among(source, answered, view),
        pulse=None if recording is None else recording.pulse(),
        changed_on_disk=source.changed_on_disk(),
        command=command_of(answered, source.name, view, asking.words, asking.around),
        is_saved=is_saved(answered, view, asking.around),
        download=view.url("/state.jsonl"),
        is_changed=bool(view.steps or view.settings),
    )


def moment_part(asking: ViewAnswers, view: View) -> str:
    """The placement at a moment of an episode: the part of its page that changes while it is played."""
    answered = asking.asked(view)
    names = _names(answered)
    shown = moment_of(answered.picture, view, names) if answered.kind.plays else None
    return render("moment.html.j2", moment=shown)


def _names(answered: AnsweredState) -> dict[str, str]:
    really = "Recorded outcome" if answered.kind.plays else "Kafka itself"
    return {name: name for name in answered.contenders} | {OBSERVED: really}


def _choices(asking: ViewAnswers, answered: AnsweredState) -> Iterator[AssignorChoice]:
    """Selectable assignors, by the protocol of their groups."""
    registry, by_protocol = asking.plugins.registry, dict[str, list[str]]()
    for found in (*answered.kind.installed(registry), *answered.kind.others(registry)):
        by_protocol.setdefault(answered.kind.protocol(found) or "", []).append(found.name)
    for protocol, names in by_protocol.items():
        yield AssignorChoice(f"{protocol} protocol" if protocol else "", tuple(sorted(names)))


def _done(answered: AnsweredState) -> list[ActionLine]:
    return [
        ActionLine(f"{row.at_ms / 1000:.1f}", row.action, row.who, tuple(map(_led_to, row.led_to)))
        for row in answered.actions[:MOST_ACTIONS]
    ]


def _led_to(found: tuple[int, int | None] | None) -> str:
    if found is None:
        return "–"
    rebalances, stable_ms = found
    stable = "" if stable_ms is None else f", stable after {stable_ms / 1000:.1f} s"
    return f"{plural(rebalances, 'rebalance')}{stable}"


def _drawn(answered: AnsweredState, names: dict[str, str], view: View) -> str:
    picture = answered.picture
    if isinstance(picture, SnapshotPlacement):
        shown = panel(1, picture, names, {OBSERVED})

        def why(task: str, assignor: str) -> str:
            return view.url(contenders=_first(answered.contenders, assignor, view), task=task) + "#why"

        return environment().get_template("panel.html.j2").render(panel=shown, opened=True, why=why)
    drawn = group_panel(1, picture, names)
    at = (view.at_ms or 0) if answered.kind.plays else None
    return environment().get_template("group.html.j2").render(panel=drawn, opened=True, at=at)


def _first(contenders: Sequence[str], assignor: str, view: View) -> tuple[str, ...]:
    texts = list(view.contenders) or list(contenders)
    chosen = [text for text in texts if text.partition("=")[0] == assignor]
    return tuple(dict.fromkeys([*chosen, *texts]))


def _metrics(asking: ViewAnswers, answered: AnsweredState) -> dict[str, MetricPlugin]:
    return {name: found.plugin for name, found in answered.kind.metrics(asking.plugins.registry).items()}


def _rows(answered: AnsweredState, metrics: Mapping[str, MetricPlugin]) -> list[dict[str, Any]]:
    """The figures of each answer; unknown for an answer that is not comparable."""
    return [
        dict.fromkeys(metrics) | {"error_type": None} | ({} if answer.not_comparable else dict(row))
        for answer, row in zip(answered.answers, answered.figures, strict=True)
    ]


def _verdict(asking: ViewAnswers, source: OpenedStates, answered: AnsweredState) -> str | None:
    """The verdict over the plays of a past, as in `score` and `replay`; ``None``: there is none."""
    if not answered.kind.plays or len(answered.contenders) < 2 or source.banner:
        return None
    rows = {
        answer.assignor: None if answer.not_comparable else row
        for answer, row in zip(answered.answers, answered.figures, strict=True)
        if answer.assignor != OBSERVED
    }
    return compared_plays(rows, answered.kind.headline, _metrics(asking, answered), answered.settings).verdict


def _figures(asking: ViewAnswers, asked: AnsweredState) -> list[FigureRow]:
    metrics = _metrics(asking, asked)
    known = _rows(asked, metrics)
    if not known:
        return []
    has_figures = [not asked.kind.plays or answer.assignor != OBSERVED for answer in asked.answers]
    answered = [
        row
        for answer, row, is_shown in zip(asked.answers, known, has_figures, strict=True)
        if is_shown and row["error_type"] is None and not answer.not_comparable
    ]
    # A figure has one metric on the whole page: the one that all answers have.
    shared = compared_figures(asked.kind.headline, [tuple(answered)], metrics, [""] * len(answered))
    measured = {each.metric: metrics[each.metric] for each in shared if each.metric is not None}
    compared = [compared_figures(asked.kind.headline, [(known[0], row)], measured, ("", "")) for row in known]
    rows = list(_rebalances(asked))
    for of_figure in zip(*compared, strict=True):
        if any(each.means is not None for each in of_figure):
            first = of_figure[0]
            title = first.title if not first.unit else f"{first.title} ({_unit(first)})"
            cells = [
                "not comparable"
                if answer.not_comparable
                else _cell(each, number, first, has_figures=has_figures[number])
                for number, (answer, each) in enumerate(zip(asked.answers, of_figure, strict=True))
            ]
            rows.append(FigureRow(title, tuple(cells)))
    return rows


def _rebalances(answered: AnsweredState) -> Iterator[FigureRow]:
    counts = [row.get("rebalances") for row in answered.figures] if answered.kind.plays else []
    if any(count is not None for count in counts):
        yield FigureRow("Rebalances", tuple(_count(count, counts[0], number) for number, count in enumerate(counts)))


def _count(count: float | None, first: float | None, number: int) -> str:
    if count is None:
        return "–"
    if not number or first is None:
        return figure(count)
    more = count - first
    sign = "+" if more > 0 else "\u2212" if more else ""
    return f"{figure(count)} ({sign}{figure(abs(more))})"


def _unit(figure: FigureCompared) -> str:
    return "share of decisions" if figure.unit == "share" else figure.unit or ""


def _cell(figure: FigureCompared, number: int, first: FigureCompared, *, has_figures: bool) -> str:
    # A recording has only some measures; a measure other than the plays' is no comparison.
    if figure.means is None or (not has_figures and (figure.metric is None or figure.metric != first.metric)):
        return "–"
    text = mean(figure.means[1], figure.unit or "")
    return text if not number else f"{text} ({signed(figure.difference, figure.unit or '')})"


def _clients(answered: AnsweredState, view: View) -> Iterator[TextLink]:
    for knob in knobs_of(answered, None):
        if knob.what == "client":
            change = knob.at(None)
            yield TextLink(f"if {change.words}", attrs.evolve(view.after(change), task=None).url())


def _one_more(answered: AnsweredState, view: View) -> TextLink | None:
    changes, state = answered.kind.changes, answered.state
    change = None if changes is None or state is None else changes.one_more(answered.scenario, answered.number, state)
    return None if change is None else TextLink(f"if {change.words}", view.url(steps=(*view.steps, ONE_MORE)))


def _undo(view: View) -> list[TextLink]:
    links = []
    if view.steps:
        links.append(TextLink("Undo the last change of the state", view.url(steps=view.steps[:-1])))
    if view.steps or view.settings:
        links.append(TextLink("Back to the state as it was", view.url(steps=(), settings={}, task=None)))
    return links


def _among(source: OpenedStates, answered: AnsweredState, view: View) -> Steps | None:
    plain = attrs.evolve(view, steps=(), task=None, why_not=None, at_ms=None)
    if view.past is not None:
        return Steps("", (), None, View(view.source).url("/history"))
    rounds = answered.kind.rounds(answered.scenario)
    found = source.past_of(view.state, answered.number)
    if found is not None:
        decisions = [each for each in found[0].decisions if each.state is not None]
        urls = [plain.url(state=each.state, round=each.round) for each in decisions]
        is_all = [each.state for each in decisions] == list(range(len(decisions))) and rounds == 1
        last = len(decisions) - 1 if is_all else None
        words = f"{'Decision' if rounds == 1 else 'Round'} {found[1] + 1} of {len(decisions)}"
        return Steps(words, _links(found[1], urls), last, View(view.source).url("/history"))
    if rounds > 1:
        links = _links(answered.number, [plain.url(round=number) for number in range(rounds)])
        return Steps(f"Round {answered.number + 1} of {rounds}", links, None, None)
    count = len(source.scenarios)
    if count < 2:
        return None
    links = _links(view.state, [plain.url(state=state, round=None) for state in range(count)])
    return Steps(f"State {view.state + 1} of {count}", links, count - 1, None)


def _links(at: int, urls: Sequence[str]) -> tuple[TextLink, ...]:
    last = len(urls) - 1
    places = (("First", 0), ("Previous", at - 1), ("Next", at + 1), ("Last", last))
    return tuple(TextLink(text, urls[place]) for text, place in places if place != at and 0 <= place <= last)
