"""Episodes of Streams groups as a kind of scenario: every contender has its own course in the same world."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import FoundTaskAssignor, TaskAssignorPlugin, config_sources, discover
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.kind import ContenderAnswer, LoadedContender
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.runner.terms import NO_CONFIG
from assignor_lab.groups.streams_episode.metrics import DOLLARS, EPISODE_METRICS
from assignor_lab.groups.streams_episode.session import PlayedEpisode
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.output.summary_file import picture_document
from assignor_lab.simulation.streams.episode import StreamsEpisode
from tests.scoring import assignors
from tests.simulation.streams.episodes import document, happens, started, task

KIND = kind_named("streams-episode")
DOCS = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"
EVENTS = [started("a", rack="r1"), started("b", rack="r2"), happens("crash", "b", 100_000), started("b", 160_000)]


def partitions(number: int) -> list[dict[str, Any]]:
    """Partitions of a task, all in rack r1."""
    return [
        {"topic": topic, "partition": number, "source": topic == "in", "changelog": topic == "log", "racks": ["r1"]}
        for topic in ("in", "log")
    ]


Played = ContenderAnswer[StreamsEpisode, PlayedEpisode]


def answers(
    *selectors: str, more: Sequence[Any] = (), config: Mapping[str, Any] | None = None, overrides: Sequence[str] = ()
) -> dict[str, Played]:
    registry = discover()
    found = [KIND.find(registry, selector) for selector in selectors]
    tasks = [{**task(f"0_{number}"), "partitions": partitions(number)} for number in range(4)]
    text = json.dumps(document(EVENTS, tasks, records=20_000, config=config))
    contenders = [*(KIND.contender(registry, each) for each in found), *more]
    sources = config_sources(None, overrides, environ={}) if overrides else NO_CONFIG
    contest = ComparisonRunner(KIND, contenders, {}, sources)
    return {each.assignor: each for each in contest.answers(WorkItem(0, 0, text, "episodes.jsonl", 1))}


def figures(answer: Played) -> dict[str, float | None]:
    names = [metric.name for metric in EPISODE_METRICS]
    measures = KIND.figures(discover(), names, NO_CONFIG.effective())
    assert answer.state is not None
    assert answer.outcome.answer is not None
    return {name: measures[name](answer.state, answer.outcome.answer) for name in names}


@pytest.fixture(scope="module")
def played() -> dict[str, Played]:
    return answers("high_availability", "sticky", "group_sticky_4_4")


def test_each_competitor_plays_the_world_under_the_protocol_that_it_decides_in(played: dict[str, Played]) -> None:
    protocols = {name: each.outcome.answer.played.episode.protocol for name, each in played.items()}  # type: ignore[union-attr]
    assert protocols == {"high_availability": "classic", "sticky": "classic", "group_sticky_4_4": "streams"}


@pytest.mark.slow
def test_figures_are_the_totals_of_the_play(played: dict[str, Played]) -> None:
    for each in played.values():
        found, result = figures(each), each.outcome.answer
        assert result is not None
        assert found["unavailable_task_seconds"] == result.totals.unavailable_task_s
        parts = ("nobody_in_group", "not_noticed", "rebalance", "revoked", "restoring")
        assert found["unavailable_task_seconds"] == pytest.approx(
            sum(found[f"{part}_task_seconds"] or 0.0 for part in parts)
        )
        crossing = found["cross_zone_bytes"]
        assert crossing is not None
        assert found[DOLLARS] == pytest.approx(crossing / (1 << 30) * 0.02)
        assert found["tasks_not_owned"] == 0.0


def test_a_row_says_who_was_there_and_stands_for_what_was_decided(played: dict[str, Played]) -> None:
    rows = {name: KIND.row(each) for name, each in played.items()}
    assert {(row["clients"], row["tasks"], row["members"]) for row in rows.values()} == {(2, 4, 2)}
    assert rows["high_availability"]["answer_digest"] != rows["sticky"]["answer_digest"]
    assert rows["sticky"]["answer_digest"] == KIND.row(answers("sticky")["sticky"])["answer_digest"]


@pytest.mark.slow
def test_standbys_are_read_from_the_episode_and_replaced_by_what_is_said_on_purpose() -> None:
    with_copies = figures(answers("sticky", config={"num.standby.replicas": 1})["sticky"])
    overrides = ["num.standby.replicas=0"]
    without = figures(answers("sticky", config={"num.standby.replicas": 1}, overrides=overrides)["sticky"])
    assert (with_copies["restored_bytes"] or 0) > (without["restored_bytes"] or 0)


def test_whoever_fails_has_a_row_and_costs_the_others_nothing() -> None:
    fails = FoundTaskAssignor("fails", TaskAssignorPlugin("fails", assignors.Raises), "somebody-elses", None)
    found = answers("sticky", more=[LoadedContender("fails", fails, fails)])
    assert found["sticky"].outcome.failure is None
    failure = found["fails"].outcome.failure
    assert failure is not None
    assert failure.type == "RuntimeError"


def test_the_picture_has_a_timeline_and_the_rebalances_of_each(played: dict[str, Played]) -> None:
    picture = picture_document(KIND.picture(list(played.values()), None))
    assert [each["assignor"] for each in picture["answers"]] == list(played)
    for each, answer in zip(picture["answers"], played.values(), strict=True):
        result = answer.outcome.answer
        assert result is not None
        assert len(each["rebalances"]) == len(result.played.generations)
        assert any(line.startswith("0_0") for line in each["timeline"])
        changes = [(change["change"], change["instance"]) for change in each["gantt"]["changes"]]
        assert changes == [("start", "a"), ("start", "b"), ("crash", "b"), ("start", "b")]
        rows, until = each["gantt"]["rows"], each["gantt"]["until_ms"]
        assert [row["task"] for row in rows] == ["0_0", "0_1", "0_2", "0_3"]
        for row in rows:
            # At every time a task has an owner or none, never both.
            stretches = sorted([*row["runs"], *row["waits"]])
            assert [begin for begin, _, _ in stretches] == [0, *(to for _, to, _ in stretches[:-1])]
            assert stretches[-1][1] == until


def test_an_answer_is_kept_in_the_form_of_simulate(played: dict[str, Played]) -> None:
    kept = KIND.document(played["sticky"])
    assert {"generations", "actions", "tasks", "totals", "compared"} <= set(kept)


def test_the_page_describes_every_figure() -> None:
    page = DOCS.read_text(encoding="utf-8")
    for metric in EPISODE_METRICS:
        assert f"| `{metric.name}` | {metric.unit} | lower | {metric.summary} | {metric.unavoidable} |" in page
