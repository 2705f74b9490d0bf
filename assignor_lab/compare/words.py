"""A comparison in words: what each contender does, where they differ, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignor_lab.compare.compared import Compared, Side, StateCompared
from assignor_lab.compare.figures import FigureCompared
from assignor_lab.documents.wording import listed, mean, plain, plural, shortened, signed
from assignor_lab.groups.holding import NOBODY_LABEL

__all__ = ["client_rows", "differing_rows", "figure_rows", "sentences", "state_rows", "state_sentences"]

#: Tasks that a sentence names.
MOST_NAMED = 8
NAME_LIMIT = 40


def sentences(compared: Compared) -> Iterator[str]:
    """The comparison as a whole: over all of its states."""
    one, other = _names(compared)
    states = compared.states
    answered = [state for state in states if state.sides[0].error is None and state.sides[1].error is None]
    if len(states) > 1:
        same = sum(not state.differing for state in answered)
        yield f"{plural(len(states), 'decision')}; {one} and {other} decide {same} of them alike."
        for name, number in ((one, 0), (other, 1)):
            moved = sum(len(state.sides[number].moved) for state in answered)
            stopped = sum(len(state.sides[number].stopped) for state in answered)
            failed = sum(state.sides[number].error is not None for state in states)
            parts = [f"moves {moved} {_noun(states[0], moved)} in all"]
            parts += [f"stops {stopped} for now"] if stopped else []
            parts += [f"has no answer to {failed}"] if failed else []
            yield f"{name} {listed(parts)}."
        yield "Each decision is asked about as it stood, whatever was answered to the one before."
    for figure in compared.figures:
        told = _told(figure, one, other)
        if told is not None:
            yield told
    if not answered:
        yield "Nothing else is measured: there are no two answers to one state."
        return
    unknown = [figure for figure in compared.figures if figure.means is None]
    if unknown:
        yield "Not measured here: " + "; ".join(f"{each.title.lower()} ({each.not_measured})" for each in unknown) + "."


def state_sentences(compared: Compared, state: StateCompared) -> Iterator[str]:
    """One state: what each contender does with it, and how far they agree."""
    names = _names(compared)
    for name, side in zip(names, state.sides, strict=True):
        yield _side(name, side, state)
    if any(side.error is not None for side in state.sides):
        return
    elsewhere, copies = state.elsewhere, [each for each in state.differing if each.copies[0] != each.copies[1]]
    if not state.differing:
        yield f"The two answers are the same: {plural(state.tasks, state.noun)} in the same places."
        return
    parts = []
    if elsewhere:
        parts.append(f"run {len(elsewhere)} on different {_clients(state)}")
    if copies:
        parts.append(f"keep the copies of {len(copies)} in different places")
    yield f"Of {plural(state.tasks, state.noun)} they {listed(parts)}."
    for name, side in zip(names, state.sides, strict=True):
        if side.not_comparable is not None:
            yield f"Not comparable: {name}: {side.not_comparable}."


def state_rows(compared: Compared) -> list[list[str]]:
    """A row for each state: its name, what each contender moves or stops, what runs elsewhere, copies elsewhere."""
    return [
        [
            state.scenario if state.rounds == 1 else f"{state.scenario}, {state.round}",
            *(
                "no answer" if side.error is not None else str(len(side.moved) + len(side.stopped))
                for side in state.sides
            ),
            str(len(state.elsewhere)),
            str(sum(each.copies[0] != each.copies[1] for each in state.differing)),
        ]
        for state in compared.states
    ]


def differing_rows(state: StateCompared) -> list[list[str]]:
    """A row for each task that the two leave to different clients: before, then owner and copies of each."""
    rows = []
    for each in state.differing:
        owners = [_label(state, owner) for owner in each.owners]
        copies = [" ".join(_label(state, client) for client in held) for held in each.copies]
        both = [f"{owner} ({held})" if held else owner for owner, held in zip(owners, copies, strict=True)]
        rows.append([each.task, _label(state, each.before), *both])
    return rows


def client_rows(state: StateCompared) -> list[list[str]]:
    """A row for each client: how much each contender gives it, what it gains with the second one, and loses."""
    one, other = state.sides
    return [
        [
            label,
            *(f"{side.actives[client]} + {side.copies[client]}" for side in (one, other)),
            _tasks([each.task for each in state.elsewhere if each.owners[1] == client]),
            _tasks([each.task for each in state.elsewhere if each.owners[0] == client]),
        ]
        for client, label in state.labels.items()
    ]


def figure_rows(compared: Compared) -> list[list[str]]:
    """A row for each of the five figures that was measured: its title, both means, the difference."""
    return [
        [
            figure.title if figure.metric is None else f"{figure.title} ({_unit(figure)})",
            *(mean(value, figure.unit) for value in figure.means),
            signed(figure.difference, figure.unit),
        ]
        for figure in compared.figures
        if figure.means is not None
    ]


def _unit(figure: FigureCompared) -> str:
    return {"1": "ratio"}.get(figure.unit, figure.unit)


def _names(compared: Compared) -> tuple[str, str]:
    one, other = (shortened(name, NAME_LIMIT) for name in compared.names)
    return one, other


def _side(name: str, side: Side, state: StateCompared) -> str:
    if side.error is not None:
        return f"{name} has no answer: {plain(side.error)}"
    parts = []
    if side.moved:
        parts.append(f"moves {plural(len(side.moved), state.noun)} ({_tasks(side.moved)})")
    if side.stopped:
        parts.append(f"stops {plural(len(side.stopped), state.noun)} for now ({_tasks(side.stopped)})")
    if side.taken_up:
        parts.append(
            f"gives out {plural(len(side.taken_up), state.noun)} that nobody here ran ({_tasks(side.taken_up)})"
        )
    return f"{name} {listed(parts) if parts else f'leaves every {state.noun} where it ran'}."


def _told(figure: FigureCompared, one: str, other: str) -> str | None:
    if figure.means is None or not figure.difference:
        return None
    unit = "" if figure.unit in ("share", "bytes", "1") else f" {figure.unit}"
    more = "more" if figure.difference > 0 else "less"
    average = " on average" if figure.states > 1 else ""
    return (
        f"{figure.title}: {other} {mean(figure.means[1], figure.unit)}{unit}{average}, {one} "
        f"{mean(figure.means[0], figure.unit)}; {mean(abs(figure.difference), figure.unit)} {more}."
    )


def _noun(state: StateCompared, number: int) -> str:
    return state.noun if number == 1 else f"{state.noun}s"


def _clients(state: StateCompared) -> str:
    return "workers" if state.noun == "job" else "clients"


def _label(state: StateCompared, client: str | None) -> str:
    return NOBODY_LABEL if client is None else state.labels.get(client, client)


def _tasks(tasks: Sequence[str]) -> str:
    shown = [plain(task) for task in tasks[:MOST_NAMED]]
    more = len(tasks) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
