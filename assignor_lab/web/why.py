"""The explanation of a task's place, and the numbers of the state that can be changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import attrs

from assignment_api import AssignorLabError
from assignor_lab.explain import Budget, explain, question_of, words
from assignor_lab.groups.changes import Knob
from assignor_lab.groups.ownership.labels import client_labels
from assignor_lab.groups.variants import as_variant, overridden
from assignor_lab.web.address import View
from assignor_lab.web.view_answers import AnsweredState, ViewAnswers

__all__ = ["choices_of", "Slider", "Why", "knobs_of", "why_of"]

MOST_CALLS, MOST_SECONDS = 200, 5.0
_SLID = {"lag": "Lag of {task} on {client}", "threads": "Threads of {client}", "time": "Time of the rebalance, ms"}
#: An impossible value, to find its position in a change.
_MARK = 987_654_321

#: Most tasks in a selection.
MOST_CHOICES = 2_000


@attrs.frozen
class Slider:
    """A number of the state with a slider.

    Args:
        step: The step of the URL as JSON, with ``null`` in place of the value.
    """

    label: str
    now: int
    step: str
    highest: int


@attrs.frozen
class Why:
    """An explanation.

    Args:
        rules: For each step the rule's id, its effect, and its text, or ``None`` if unknown.
    """

    task: str
    sentences: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sliders: tuple[Slider, ...]
    error: str | None = None
    rules: tuple[tuple[str, str, str | None], ...] = ()
    would: tuple[str, ...] = ()


def why_of(asking: ViewAnswers, answered: AnsweredState, view: View, task: str) -> Why:
    sliders = tuple(_sliders(knobs_of(answered, task), task, _labels(answered)))
    variant = as_variant(view.contenders[0]) if view.contenders else None
    try:
        question = question_of(
            answered.scenario,
            answered.number,
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
        words.moves_of_state(explained),
    ):
        sentences += [] if remark is None else [remark]
    return Why(
        task,
        tuple(sentences),
        tuple(map(tuple, words.client_rows(each))),
        sliders,
        rules=tuple(
            (rule, sentence, explained.rules.get(rule)) for rule, sentence in words.step_sentences(explained, each)
        ),
        would=(*words.counterfactual_sentences(explained, each), words.tried_sentence(each)),
    )


def choices_of(answered: AnsweredState) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The tasks of the state, and its clients, each with its label; empty for a state without owners.

    A state with more than :data:`MOST_CHOICES` tasks has none: a selection of that length is slower than typing.
    """
    ownership, state = answered.kind.ownership, answered.state
    if ownership is None or state is None or len(ownership.tasks(state)) > MOST_CHOICES:
        return (), ()
    return tuple(ownership.tasks(state)), tuple(_labels(answered).items())


def knobs_of(answered: AnsweredState, task: str | None) -> list[Knob]:
    changes, ownership, state = answered.kind.changes, answered.kind.ownership, answered.state
    if changes is None or ownership is None or state is None:
        return []
    tasks, labels = ownership.tasks(state), _labels(answered)
    chosen = task if task in tasks else next(iter(tasks), None)
    if chosen is None:
        return []
    return list(
        changes.knobs(answered.scenario, answered.number, state, chosen, lambda client: labels.get(client, client))
    )


def _labels(answered: AnsweredState) -> Mapping[str, str]:
    ownership, state = answered.kind.ownership, answered.state
    return {} if ownership is None or state is None else client_labels(ownership.clients(state))


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
