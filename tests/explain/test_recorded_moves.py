"""Thirty named moves of recorded groups: the explanation names the cause, and Kafka's own log proves it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from assignment_api.plugins import ConfigSources
from assignor_lab.explain import Budget, Explained, explain, question_of, words
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.scenarios import Scenario, read_scenarios

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "explained-moves.md"
ROW = re.compile(r"^\| (\S+) \| (\S+) \| (\S+) → (\S+) \| ([^|]+) \| `(\S+): ([^`]+)` \|$", re.MULTILINE)
LAG = re.compile(r"(\S+) lag (\S+)=(-?\d+)")
ACTIVE = re.compile(r"(\S+) active (\S+)")
TAGS = re.compile(r"tags (\S+) (\{.*\})")


@pytest.fixture(scope="module")
def states(tagged: str, orders: str, warm: str) -> dict[str, Scenario]:
    return {scenario.id: scenario for file in (tagged, orders, warm) for scenario in read_scenarios(file)}


@cache
def log(file: Path) -> tuple[str, ...]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return tuple(lines)


def of_client(line: str, client: str) -> dict[str, list[str]]:
    """A client's active tasks and lags in a log line."""
    found = re.search(re.escape(client) + r"=\[activeTasks: \(\[(.*?)\]\).*?taskLagTotals: \(\[(.*?)\]\)", line)
    assert found is not None, (client, line[:200])
    return {"active": found.group(1).split(", "), "lags": found.group(2).split(", ")}


def rows() -> list[tuple[str, ...]]:
    return [match.groups() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def proofs(text: str) -> Iterator[tuple[int, str]]:
    """Line numbers, with the expected content of each line."""
    for part in text.split("; "):
        line, _, says = part.partition(" ")
        yield int(line), says


def check(line: str, says: str, ids: dict[str, str], task: str, sentences: str) -> None:
    """The log line has the table's content, and the explanation agrees."""
    if tags := TAGS.fullmatch(says):
        assert tags[1] == task
        # The client of the ideal placement, by its tags.
        assert f"active task [{task}] with" in line
        assert tags[2] in line
    elif lag := LAG.fullmatch(says):
        assert lag[2] == task
        assert "Decided on assignment" in line
        assert f"{task}={lag[3]}" in of_client(line, ids[lag[1]])["lags"]
        assert f"lag {int(lag[3]):,}" in sentences
    else:
        active = ACTIVE.fullmatch(says)
        assert active is not None
        assert active[2] == task
        assert " active task optimization is" in line
        assert task in of_client(line, ids[active[1]])["active"]


def test_there_are_ten_moves_of_each_group() -> None:
    groups = [decision.partition("-classic")[0] for decision, *_ in rows()]
    assert {group: groups.count(group) for group in groups} == {"tagged": 10, "orders": 10, "warm": 10}


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}:{row[1]}")
def test_the_explanation_names_the_cause_and_the_log_proves_it(
    row: tuple[str, ...], states: dict[str, Scenario], sources: ConfigSources, plugins: Plugins
) -> None:
    decision, task, before, after, rules, file, lines = row
    scenario = states[decision]
    question = question_of(scenario, None, None, plugins.registry, sources, plugins.isolation)
    explained: Explained = explain(question, task, None, lambda: Budget(0, 1.0))
    (explanation,) = explained.explanations
    assert explained.label(explanation.before) == before
    assert explained.label(explanation.after) == after
    assert explanation.kafka == (explanation.after,)
    told = [(rule, text) for rule, text in words.step_sentences(explained, explanation) if "standby" not in rule]
    assert [rule for rule, _ in told if rule != "ha-deal"] == rules.split()
    ids = {label: client for client, label in explained.labels.items()}
    assert scenario.source is not None
    assert str(scenario.source["file"]).endswith(file)
    for number, says in proofs(lines):
        assert number <= scenario.source["line"]
        check(log(Path(scenario.source["file"]))[number - 1], says, ids, task, " ".join(text for _, text in told))
