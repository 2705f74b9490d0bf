"""The URL of a view. It contains everything that decides the view, so it can be shared and stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self
from urllib.parse import urlencode

import attrs
from starlette.datastructures import QueryParams

from assignor_lab.documents.edits import Edit
from assignor_lab.groups.changes import InputChange
from assignor_lab.web.errors import PageError

__all__ = ["ONE_MORE", "Step", "View", "text_of"]

#: Step that adds an empty client, whose lags follow from the state.
ONE_MORE = "one more"
#: A change of a state: edits of its document, or :data:`ONE_MORE`.
Step = tuple[Edit, ...] | str

MOST_EDITS, MOST_CONTENDERS = 100, 4
_MOST_STEPS = 8


@attrs.frozen
class View:
    """A view: its subject and its changes.

    Args:
        round: The round; ``None``: the last one.
        contenders: Contenders, as in ``--assignor`` and ``--variant``; none: Kafka's own assignor for such groups.
        steps: Successive changes of the state, each of some edits; positions are those after the earlier steps.
        settings: Configuration keys and values that replace the state's own.
        at_ms: The shown moment of an episode, or ``None``.
        past: Number of the played past in the source, from 0; ``None``: a state is shown.
    """

    source: int = 0
    state: int = 0
    round: int | None = None
    contenders: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    settings: Mapping[str, str] = attrs.field(factory=dict)
    task: str | None = None
    why_not: str | None = None
    at_ms: int | None = None
    past: int | None = None

    @classmethod
    def read(cls, query: QueryParams) -> Self:
        """Reads a view from the query of a URL.

        Raises:
            PageError: if a value is invalid.
        """
        contenders = tuple(dict.fromkeys(each.strip() for each in query.getlist("a") if each.strip()))
        if len(contenders) > MOST_CONTENDERS:
            raise PageError(f"{len(contenders)} contenders are named: at most {MOST_CONTENDERS} fit side by side")
        settings: dict[str, str] = {}
        for text in (*query.getlist("c"), *query.getlist("set")):
            if text.strip():
                key, separator, value = text.partition("=")
                if not separator or not key.strip():
                    raise PageError(f"{text!r:.80} is no setting: write key=value")
                settings[key.strip()] = value.strip()
        steps = _steps(query.get("e", ""))
        for text in query.getlist("step"):
            steps += _steps(text)
        if sum(1 if isinstance(step, str) else len(step) for step in steps) > MOST_EDITS:
            raise PageError(f"more than {MOST_EDITS} changes: save the state, and open the saved one")
        return cls(
            _number(query, "s") or 0,
            _number(query, "n") or 0,
            _number(query, "round"),
            contenders,
            steps,
            settings,
            query.get("task") or None,
            query.get("whynot") or None,
            _number(query, "t"),
            _number(query, "past"),
        )

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Names and values of the query, in a fixed order."""
        pairs = [("s", str(self.source)), ("n", str(self.state)) if self.past is None else ("past", str(self.past))]
        pairs += [] if self.round is None else [("round", str(self.round))]
        pairs += [("a", each) for each in self.contenders]
        pairs += [("e", text_of(self.steps))] if self.steps else []
        pairs += [("c", f"{key}={value}") for key, value in self.settings.items()]
        pairs += [(name, value) for name, value in (("task", self.task), ("whynot", self.why_not)) if value]
        return pairs + ([] if self.at_ms is None else [("t", str(self.at_ms))])

    def url(self, path: str = "/state", **changes: Any) -> str:
        return f"{path}?{urlencode(attrs.evolve(self, **changes).fields)}"

    def after(self, change: InputChange) -> Self:
        settings = dict(self.settings)
        if change.setting is not None:
            key, value = change.setting
            settings[key] = value
        steps = (*self.steps, change.edits) if change.edits else self.steps
        return attrs.evolve(self, steps=steps, settings=settings)


def _number(query: QueryParams, name: str) -> int | None:
    text = query.get(name)
    if text is None or not text.strip():
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise PageError(f"{name}={text!r:.80} is no number")
    return int(text)


def text_of(steps: Sequence[Step]) -> str:
    return json.dumps(
        [step if isinstance(step, str) else list(map(_fields_of, step)) for step in steps], separators=(",", ":")
    )


def _fields_of(edit: Edit) -> list[Any]:
    return [list(edit.path)] if edit.remove else [list(edit.path), edit.value]


def _steps(text: str) -> tuple[Step, ...]:
    if not text.strip():
        return ()
    try:
        steps = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PageError(f"the changes of the state are no JSON: {error}") from error
    if type(steps) is not list or not all((type(step) is list and step) or step == ONE_MORE for step in steps):
        raise PageError("the changes of the state are no list of steps")
    return tuple(step if isinstance(step, str) else tuple(map(_edit, step)) for step in steps)


def _edit(fields: Any) -> Edit:
    if type(fields) is not list or len(fields) not in (1, 2) or type(fields[0]) is not list or not fields[0]:
        raise PageError(f"{json.dumps(fields)[:80]} is no change: expected [path] or [path, value]")
    path = fields[0]
    if len(path) > _MOST_STEPS or not all(type(step) in (str, int) for step in path):
        raise PageError(f"{json.dumps(path)[:80]} is no path of a state: expected keys and positions")
    return Edit(tuple(path), remove=True) if len(fields) == 1 else Edit(tuple(path), fields[1])
