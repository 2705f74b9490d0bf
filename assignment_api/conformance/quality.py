"""Quality of answers beside Kafka's own assignor.

Both assignors play the same small groups: settle, join or leave, settle again. A clearly worse figure is a warning,
with the smallest such group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignment_api.conformance.history import Event, History, document_of, history_text
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.subject import Subject
from assignment_api.conformance.trial import Trial

__all__ = ["QualityWarning", "warnings_of"]

_SENTENCES: Mapping[str, str] = {
    "join": "moves {} tasks on a join",
    "leave": "moves {} tasks on a leave, besides those of the member that left",
    "balance": "gives its busiest member {} tasks a thread more than the fair share",
    "idle": "leaves {} members idle that could have a task",
    "restored": "restores {} records of state after a join or leave",
    "racks": "crosses racks for {} tasks",
}
#: Worse: above this factor of Kafka's figure, and by more than this amount.
_FACTOR, _LEAST = 1.5, 0.5
_MOST_ROUNDS = 12
_MEASURED = ("join", "leave")


@attrs.frozen
class QualityWarning:
    """A figure clearly worse than that of Kafka's own assignor.

    Args:
        figure: ``join``, ``leave``, ``balance``, ``idle``, ``restored`` or ``racks``.
        value: Mean over all groups.
        reference_value: Kafka's mean.
        history: The smallest such group, as JSON.
    """

    figure: str
    value: float
    reference: str
    reference_value: float
    found: str
    history: Mapping[str, Any]

    def text(self) -> str:
        """The finding and its smallest group, in two lines."""
        return f"quality: {self.found} (warning)\n  smallest group: {history_text(self.history)}"


def warnings_of(
    trial: Trial, reference: Subject[Any], reference_name: str, drawn: Iterable[History] = ()
) -> tuple[QualityWarning, ...]:
    """Figures clearly worse than those of ``reference``; failures have none.

    Args:
        drawn: Further histories; only those with join or leave count.
    """
    totals: dict[str, list[tuple[float, float, History]]] = {}
    fixed = _groups(trial.kind, standbys=1 if trial.capabilities.standbys else 0)
    for history in (*fixed, *(each for each in drawn if any(event.type in _MEASURED for event in each.events))):
        ours = _figures(trial, trial.subject, history)
        theirs = _figures(trial, reference, history)
        for figure in ours.keys() & theirs.keys():
            totals.setdefault(figure, []).append((ours[figure], theirs[figure], history))
    found = []
    for figure, sentence in _SENTENCES.items():
        pairs = totals.get(figure, [])
        if not pairs:
            continue
        own = sum(ours for ours, _, _ in pairs) / len(pairs)
        other = sum(theirs for _, theirs, _ in pairs) / len(pairs)
        if own > other * _FACTOR and own > other + _LEAST:
            smallest = min((history for ours, theirs, history in pairs if ours > theirs), key=History.size)
            text = f"{sentence.format(f'{own:.3g}')}; {reference_name} {other:.3g}"
            found.append(QualityWarning(figure, own, reference_name, other, text, document_of(smallest)))
    return tuple(found)


def _groups(kind: Kind[Any], standbys: int) -> Iterator[History]:
    """Small groups with one event, the smallest first."""
    for tasks in (4, 6, 9, 12):
        for members in (2, 3, 4):
            for number, word in enumerate(("join", "leave")):
                sort = min((tasks + members + number) % 2, kind.sorts)
                numbers = tuple(1 + place % kind.most_of_member for place in range(members))
                racks = 2 if tasks % 4 == 0 else 0
                yield History(
                    kind.name, ((tasks, sort),), numbers, min(standbys, sort), 1, racks, events=(Event(word, 1),)
                )


def _figures(trial: Trial, subject: Subject[Any], history: History) -> dict[str, float]:
    """None after a failing answer."""
    kind = trial.kind
    world = kind.world(history, trial.capabilities)
    leader = subject.leader()
    configs = {**trial.configs, **world.configs()}
    found: dict[str, list[float]] = {}
    before = _settled(kind, world, leader, configs)
    for event in history.events:
        world.happens(event)
        after = None if before is None else _settled(kind, world, leader, configs)
        if before is None or after is None:
            return {}
        if event.type in _MEASURED:
            figures = _figures_after(kind, event.type, before, after)
            if figures is None:
                return {}
            if history.racks:
                figures["racks"] = kind.racks_crossed(after[0], after[1])
            for name, value in figures.items():
                found.setdefault(name, []).append(value)
        before = after
    return {name: sum(values) / len(values) for name, values in found.items()}


def _figures_after(
    kind: Kind[Any], event: str, before: tuple[Any, Any, float], after: tuple[Any, Any, float]
) -> dict[str, float] | None:
    """``None`` if the answer loses a task."""
    had, has = kind.work(before[0], before[1]), kind.work(after[0], after[1])
    owner = {task: member for member, tasks in had.items() for task in tasks}
    if owner.keys() != {task for held in has.values() for task in held}:
        return None
    moved = sum(owner[task] in has and owner[task] != member for member, held in has.items() for task in held)
    threads = kind.threads(after[0])
    count = sum(len(held) for held in has.values())
    loads = [len(has.get(member, ())) / number for member, number in threads.items()]
    idle = sum(not load for load in loads) if count >= len(threads) else 0
    return {
        event: float(moved),
        "balance": max(loads, default=0.0) - count / max(sum(threads.values()), 1),
        "idle": float(idle),
        "restored": after[2],
    }


def _settled(kind: Kind[Any], world: Any, leader: Any, configs: Mapping[str, Any]) -> tuple[Any, Any, float] | None:
    """State, answer, and records restored on the way; ``None`` after a failure."""
    restored, last = 0.0, None
    state = reply = None
    for number in range(_MOST_ROUNDS):
        state = world.state()
        reply = leader.ask(state, configs)
        if reply.raised is not None or reply.badly_typed or kind.badly_typed(reply.answer):
            return None
        if any(rule == "accepted" for rule, _ in kind.troubles(state, reply.answer)):
            return None
        restored += kind.to_restore(state, reply.answer)
        world.carry_out(state, reply.answer)
        placement = kind.placement(state, reply.answer)
        if number and placement == last and not kind.asks_again(state, reply.answer):
            break
        last = placement
        world.rest()
    assert reply is not None
    return state, reply.answer, restored
