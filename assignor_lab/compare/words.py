"""A comparison in words: the moves of each contender, the differences, and the costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignment_api.optimum import Gap
from assignor_lab.compare.compared import Compared, Side, StateCompared
from assignor_lab.documents.wording import listed, mean, plain, plural, shortened, signed
from assignor_lab.groups.metrics.gaps import has_solver
from assignor_lab.groups.ownership.ownership import NOBODY_LABEL
from assignor_lab.groups.shown_gaps import NO_SOLVER, gap_cell, moves_sentence, moves_words
from assignor_lab.model.comparisons import FigureCompared

__all__ = ["client_rows", "differing_rows", "figure_rows", "gap_rows", "sentences", "state_rows", "state_sentences"]

MOST_NAMED = 8
NAME_LIMIT = 40


def sentences(compared: Compared) -> Iterator[str]:
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
            given = sum(len(state.sides[number].taken_up) for state in answered)
            waiting = sum(len(state.sides[number].waiting) for state in answered)
            parts += [f"gives out {given} that no member here ran"] if given else []
            parts += [f"leaves {waiting} waiting"] if waiting else []
            parts += [f"has no answer to {failed}"] if failed else []
            unavoidable = _unavoidable([state.sides[number] for state in answered])
            yield f"{name} {listed(parts)}.{unavoidable}"
        yield "Each decision is made from its recorded state, independent of earlier answers."
    for figure in compared.figures:
        sentence = _sentence(figure, one, other)
        if sentence is not None:
            yield sentence
    if not answered:
        yield "Nothing else is measured: there are no two answers to one state."
        return
    unknown = [f"{each.title.lower()} ({each.not_measured})" for each in compared.figures if each.means is None]
    if not has_solver():
        unknown.append(f"the avoidable part of each goal ({NO_SOLVER})")
    if unknown:
        yield f"Not measured here: {'; '.join(unknown)}."


def state_sentences(compared: Compared, state: StateCompared) -> Iterator[str]:
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
    """A row for each state: its name, moved or stopped tasks of each contender, different actives, different copies."""
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
    """A row for each task with different clients: before, then owner and copies of each contender."""
    rows = []
    for each in state.differing:
        owners = [_label(state, owner) for owner in each.owners]
        copies = [" ".join(_label(state, client) for client in held) for held in each.copies]
        both = [f"{owner} ({held})" if held else owner for owner, held in zip(owners, copies, strict=True)]
        rows.append([each.task, _label(state, each.before), *both])
    return rows


def client_rows(state: StateCompared) -> list[list[str]]:
    """A row for each client: its tasks under each contender, its gains and losses with the second one."""
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
    """A row for each measured one of the five figures: its title, both means, the difference."""
    return [
        [
            figure.title if figure.metric is None else f"{figure.title} ({_unit(figure)})",
            *(mean(value, figure.unit or "") for value in figure.means),
            signed(figure.difference, figure.unit or ""),
        ]
        for figure in compared.figures
        if figure.means is not None
    ]


def gap_rows(compared: Compared) -> list[list[str]]:
    """A row for each goal: value and avoidable part of both answers, as means over the states with both."""
    pairs: dict[str, list[tuple[Gap, Gap]]] = {}
    for state in compared.states:
        one, other = ({str(gap.goal): gap for gap in side.gaps or ()} for side in state.sides)
        for goal in one.keys() & other.keys():
            pairs.setdefault(goal, []).append((one[goal], other[goal]))
    order = [str(gap.goal) for state in compared.states for side in state.sides for gap in side.gaps or ()]
    return [
        [goal, *(gap_cell(_average(column)) for column in zip(*pairs[goal], strict=True))]
        for goal in dict.fromkeys(order)
        if goal in pairs
    ]


def _average(gaps: Sequence[Gap]) -> Gap:
    number = len(gaps)
    value, bound = sum(gap.value for gap in gaps) / number, sum(gap.bound for gap in gaps) / number
    return Gap(gaps[0].goal, value, bound, all(gap.is_exact for gap in gaps))


def _unavoidable(sides: Sequence[Side]) -> str:
    """The unavoidable moves of some answers in words, after a space; empty if there are none."""
    moves = [gap for side in sides for gap in side.gaps or () if gap.goal.kind == "moves"]
    value, bound = sum(gap.value for gap in moves), sum(gap.bound for gap in moves)
    return f" {moves_words(bound, value, is_exact=all(gap.is_exact for gap in moves))}" if value else ""


def _unit(figure: FigureCompared) -> str:
    return "ratio" if figure.unit == "1" else figure.unit or ""


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
            f"gives out {plural(len(side.taken_up), state.noun)} that no member here ran ({_tasks(side.taken_up)})"
        )
    if side.waiting:
        parts.append(f"leaves {plural(len(side.waiting), state.noun)} waiting ({_tasks(side.waiting)})")
    unavoidable = moves_sentence(side.gaps)
    end = "" if unavoidable is None else f" {unavoidable}"
    return f"{name} {listed(parts) if parts else f'leaves every {state.noun} where it ran'}.{end}"


def _sentence(figure: FigureCompared, one: str, other: str) -> str | None:
    if figure.means is None or not figure.difference:
        return None
    of = figure.unit or ""
    unit = "" if of in ("share", "bytes", "1") else f" {of}"
    more = "more" if figure.difference > 0 else "less"
    average = " on average" if figure.states > 1 else ""
    return (
        f"{figure.title}: {other} {mean(figure.means[1], of)}{unit}{average}, {one} "
        f"{mean(figure.means[0], of)}; {mean(abs(figure.difference), of)} {more}."
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
