"""Why a task is where an answer leaves it, and the numbers of the state that can be set to others."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import attrs

from assignment_api import AssignorLabError
from assignor_lab.explain import Budget, explain, question_of, words
from assignor_lab.groups.changes import Knob
from assignor_lab.groups.labels import client_labels
from assignor_lab.groups.variants import as_variant, overridden
from assignor_lab.web.address import View
from assignor_lab.web.asking import Asked, Asking

__all__ = ["Slider", "Why", "knobs_of", "why_of"]

#: Calls and seconds that an explanation may take while somebody waits.
MOST_CALLS, MOST_SECONDS = 200, 5.0
#: What can be set by sliding, and what that is called.
_SLID = {"lag": "Lag of {task} on {client}", "threads": "Threads of {client}", "time": "Time of the rebalance, ms"}
#: A value that nothing has, to find the place where a change would put it.
_MARK = 987_654_321


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


@attrs.frozen
class Why:
    """An explanation.

    Args:
        task: The task.
        sentences: What becomes of it.
        rows: What was known on each client.
        sliders: Numbers of the state that may be set to others.
        error: Why there is no explanation, or ``None``.
        rules: Each step: id of the rule, what it did, and what it says, or ``None``: that is not told.
        would: What would have led elsewhere, and what was tried.
    """

    task: str
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sliders: tuple[Slider, ...]
    error: str | None = None
    rules: tuple[tuple[str, str, str | None], ...] = ()
    would: tuple[str, ...] = ()


def why_of(asking: Asking, asked: Asked, view: View, task: str) -> Why:
    """Why a task is where the first contender leaves it."""
    sliders = tuple(_sliders(knobs_of(asked, task), task, _labels(asked)))
    variant = as_variant(view.contenders[0]) if view.contenders else None
    try:
        question = question_of(
            asked.scenario,
            asked.number,
            None if variant is None else variant.assignor,
            asking.plugins.registry,
            overridden(asking.sources(view), {} if variant is None else variant.overrides),
            asking.plugins.isolation,
        )
        explained = explain(question, task, view.why_not, lambda: Budget(MOST_CALLS, MOST_SECONDS))
    except AssignorLabError as error:
        return Why(task, (), (), sliders, str(error))
    (each,) = explained.explanations
    sentences = [words.headline(explained, each)]
    for remark in (
        words.kafka_sentence(explained, each),
        words.stand_in_sentence(explained),
        words.no_rules_sentence(explained),
    ):
        sentences += [] if remark is None else [remark]
    return Why(
        task,
        tuple(sentences),
        tuple(map(tuple, words.client_rows(each))),
        sliders,
        rules=tuple((rule, told, explained.rules.get(rule)) for rule, told in words.step_sentences(explained, each)),
        would=(*words.would_sentences(explained, each), words.tried_sentence(each)),
    )


def knobs_of(asked: Asked, task: str | None) -> list[Knob]:
    """What of the state can be changed.

    Args:
        asked: What was asked.
        task: The task that single changes are about; ``None``: any.
    """
    changes, holding, state = asked.kind.changes, asked.kind.holding, asked.state
    if changes is None or holding is None or state is None:
        return []
    tasks, labels = holding.tasks(state), _labels(asked)
    chosen = task if task in tasks else next(iter(tasks), None)
    if chosen is None:
        return []
    return list(changes.knobs(asked.scenario, asked.number, state, chosen, lambda client: labels.get(client, client)))


def _labels(asked: Asked) -> Mapping[str, str]:
    holding, state = asked.kind.holding, asked.state
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
