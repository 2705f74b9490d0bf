"""Every ``would`` of 500 generated moves is true: a change by hand and a call of the assignor prove it."""

from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from operator import eq
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import ConfigSources, config_sources
from assignor_lab.documents.edits import Edit
from assignor_lab.explain import Budget, question_of
from assignor_lab.explain.counterfactuals import ChangeSearch, search
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.scenarios import Place, Scenario, scenario_from_document

DATA = Path(__file__).parents[1] / "data"
SOURCES = [
    ("golden/streams/small.scenarios.jsonl.gz", ("high_availability", "sticky@4.3", "rack_aware"), 320),
    ("golden/streams-group-4.4/sticky.scenarios.jsonl.gz", ("group_sticky@4.3", "group_sticky_4_4"), 120),
    ("golden/connect/incremental.scenarios.jsonl.gz", ("connect_incremental", "connect_static"), 60),
]
#: Classes of changes, in turn for the moves.
TURNS = ("lag", "previous owner", "threads", "client", "tag", "setting", "time", "client")
CALLS = 8
#: Explained round of a history: each call repeats the rounds before it.
ROUND = 2
MOST_OF_A_STATE = 4


def documents(file: str) -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / file, "rt", encoding="utf-8") as lines:
        for document in map(json.loads, lines):
            yield {**document, "rounds": document["rounds"][: ROUND + 1]} if "rounds" in document else document


def moves(
    file: str, assignors: tuple[str, ...], wanted: int, plugins: Plugins, sources: ConfigSources
) -> Iterator[tuple[Scenario, str, str, ChangeSearch, Callable[[str | None], bool]]]:
    names, turns, found = cycle(assignors), cycle(TURNS), 0
    for document in documents(file):
        name = next(names)
        scenario = scenario_from_document(document, Place(file))
        question = question_of(scenario, None, name, plugins.registry, sources, plugins.isolation)
        said, changes = question.asked(), question.kind.changes
        assert changes is not None
        if said.held is None:
            continue
        before = question.ownership.before(said.state)
        tasks = question.ownership.tasks(said.state)
        moved = [task for task in tasks if before.owner(task) not in (None, said.held.owner(task))]
        for task in moved[:MOST_OF_A_STATE]:
            knobs = list(changes.knobs(scenario, question.number, said.state, task, str))
            turn = next(turns)
            chosen = [knob for knob in knobs if knob.what == turn] or knobs
            had, has = before.owner(task), said.held.owner(task)
            wish = partial(_elsewhere, has) if turn == "previous owner" else partial(eq, had)
            yield scenario, name, task, search(question, chosen, task, wish, Budget(CALLS, 60.0)), wish
            found += 1
            if found == wanted:
                return


def _elsewhere(has: str | None, owner: str | None) -> bool:
    return owner not in (None, has)


def by_hand(document: dict[str, Any], edits: tuple[Edit, ...]) -> dict[str, Any]:
    """The document after edits, created in another way than by the search."""
    made = copy.deepcopy(document)
    for edit in reversed(edits):
        *way, last = edit.path
        place: Any = made
        for step in way:
            place = place[step]
        if edit.remove:
            del place[last]
        else:
            place[last] = edit.value
    return made


def owner_in(line: dict[str, Any], task: str) -> str | None:
    """Owner of a task in a result line of classic Streams or of a group."""
    if "assignment" in line:
        return next((each for each, held in line["assignment"].items() if task in held["active"]), None)
    subtopology, _, partition = task.rpartition("_")
    return next(
        (each for each, held in line["members"].items() if int(partition) in held["active"].get(subtopology, ())), None
    )


def runs_after(document: dict[str, Any], line: dict[str, Any], job: str) -> str | None:
    """Owner of a job after the last round of a Connect history."""
    told, kind = line["rounds"][-1], "connectors" if job in document["rounds"][-1]["connectors"] else "tasks"
    for member in document["rounds"][-1]["members"]:
        name = member["id"]
        kept = job in member["owned"][kind] and job not in told["revoked"][name][kind]
        if kept or job in told["assigned"][name][kind]:
            return str(name)
    return None


@pytest.mark.slow
def test_every_would_of_500_moves_holds_when_it_is_made_by_hand(plugins: Plugins, sources: ConfigSources) -> None:
    moved, checked = 0, Counter[str]()
    for file, assignors, wanted in SOURCES:
        for scenario, name, task, found, is_wished in moves(file, assignors, wanted, plugins, sources):
            moved += 1
            assert found.calls <= CALLS
            for would in found.found:
                change = would.change
                document = by_hand(dict(scenario.document), change.edits)
                asked = (
                    sources if change.setting is None else config_sources(None, ["=".join(change.setting)], environ={})
                )
                options = AnswerOptions(asked, isolation=plugins.isolation)
                line = answerer(name, plugins.registry, options)(scenario_from_document(document, Place(file)))
                assert line["error"] is None
                owner = runs_after(document, line, task) if "rounds" in line else owner_in(line, task)
                assert owner == would.owner, change.words
                assert is_wished(owner), change.words
                checked[change.what] += 1
    assert moved == 500
    assert checked.total() >= 200
    assert set(checked) >= {"lag", "previous owner", "threads", "client", "setting", "tag"}
