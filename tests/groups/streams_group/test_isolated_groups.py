from __future__ import annotations

from typing import Any

import pytest

from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from tests.plugins.installing import MISBEHAVING

pytestmark = [pytest.mark.slow, pytest.mark.long]

BAD = "assignor_misbehaving.group_assignors:"
LIMITS = ("assignor.plugins.call.timeout.ms=1000", "assignor.plugins.memory.mb=192", "assignor.plugins.output.kb=64")
FAMILY = "group_steady_state"
METRICS = ("tasks_not_assigned", "tasks_active_twice", "active_tasks_above_even_share")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(MISBEHAVING))


def rows_of(*names: str, isolate: str = "untrusted", seed: int = 2) -> list[dict[str, Any]]:
    config = config_sources(overrides=[*LIMITS, f"assignor.plugins.isolate={isolate}"], environ={})
    spec = JobSpec(names, METRICS, (FAMILY,), config=config, may_run_code=True, kind="streams-group")
    scorer = Scorer(spec)
    try:
        rows = scorer.rows(WorkItem(1, 0, family=FAMILY, seed=seed))
    finally:
        scorer.close()
    times = ("assign_ms", "assign_wall_ms", "build_ms", "metrics_ms")
    return [{key: value for key, value in row.items() if key not in times} for row in rows]


def errors(name: str) -> list[str | None]:
    return [row["error_type"] for row in rows_of(f"{BAD}{name}", "group_sticky") if row["assignor"].startswith(BAD)]


@pytest.mark.parametrize(
    ("name", "error_type", "said"),
    [
        ("Hangs", "DeadlineExceededError", "did not answer within 1 s"),
        ("Dies", "ProcessDiedError", "with exit code 7"),
        ("EatsMemory", "MemoryLimitError", "needed more than 192 MiB"),
        ("PrintsForEver", "OutputLimitError", "printed more than 64 KiB"),
        ("Raises", "RuntimeError", "no target today"),
        ("Leaves", "SystemExit", "gone"),
        ("ReturnsText", "InvalidAnswerError", "returned str, expected GroupAssignment"),
        ("GarbageAmongMembers", "InvalidAnswerError", "members: "),
        ("GarbageAmongTasks", "InvalidAnswerError", "active_tasks"),
        ("UnknownTask", "InvalidAnswerError", "a task that the topology does not have"),
        ("UnknownMember", "InvalidAnswerError", "there is no member"),
        ("Mutates", "InputMutatedError", "changed its input"),
    ],
)
def test_a_bad_one_has_rows_that_say_what_it_did_and_the_others_have_theirs(
    name: str, error_type: str, said: str
) -> None:
    rows = rows_of(f"{BAD}{name}", "group_sticky")
    bad, good = rows[0::2], rows[1::2]
    assert len(bad) == 5
    assert bad[0]["error_type"] == error_type
    assert said in bad[0]["error_message"]
    assert {row["error_type"] for row in bad} <= {error_type, "ExcludedError"}
    assert good == rows_of("group_sticky")


def test_after_a_limit_an_assignor_is_not_asked_again_in_the_history() -> None:
    assert errors("Hangs") == ["DeadlineExceededError", *["ExcludedError"] * 4]
    assert errors("Dies") == ["ProcessDiedError"] * 3 + ["ExcludedError"] * 2


def test_where_an_assignor_runs_shows_in_no_row() -> None:
    names = ("group_sticky", f"{BAD}AllOnFirst", f"{BAD}Raises", f"{BAD}UnknownMember", f"{BAD}AssignsTwice")
    assert rows_of(*names, isolate="all") == rows_of(*names, isolate="none")


def test_an_isolated_assignor_sees_the_tags_to_spread_over() -> None:
    by_tags, first = f"{BAD}GoesByTags", f"{BAD}AllOnFirst"
    apart, here = (rows_of(by_tags, first, isolate=isolate, seed=1) for isolate in ("all", "none"))
    assert apart == here
    # The tags decide: without them its answer would equal the other one's.
    answers = {row["assignor"]: row["answer_digest"] for row in here if row["round"] == 0}
    assert answers[by_tags] != answers[first]


def test_what_kafka_would_not_notice_is_found() -> None:
    nothing, twice = (rows_of(f"{BAD}{name}")[1] for name in ("AssignsNothing", "AssignsTwice"))
    tasks = nothing["tasks"]
    assert (nothing["tasks_not_assigned"], nothing["finding_count"]) == (tasks, tasks)
    assert twice["tasks_active_twice"] == tasks
    assert twice["finding_count"] >= tasks
