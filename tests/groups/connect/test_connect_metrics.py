from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.groups.connect.metrics import CONNECT_METRICS, EPISODE_METRICS
from tests.groups.connect.states import decision, figure

DOCS = Path(__file__).parents[3] / "docs"

# w1 ran a and its three tasks, w2 ran b and its task; c is no longer configured; w3 is new.
CONFIGURED = {"a": 3, "b": 1}
BEFORE = {"w1": "a a-0 a-1 a-2 c", "w2": "b b-0 c-0", "w3": ""}
AFTER = {"w1": "a a-0 a-1", "w2": "b", "w3": "b-0"}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # w1 gives up a-2, w2 gives up b-0; c and c-0 have to stop anyway.
        ("jobs_stopped", 2),
        ("jobs_moved", 2),
        # 3, 1, 1.
        ("jobs_per_worker_range", 2),
        # Five jobs on three workers: an even share is 2, and w1 has 3.
        ("jobs_above_even_share", 1),
        # a: 2, 0, 0. b: 0, 0, 1.
        ("tasks_of_connector_per_worker_range", 2),
        # a-2.
        ("jobs_unassigned", 1),
        ("rebalances", 1),
        ("rounds_to_stable", 2),
    ],
)
def test_a_group_of_three(metric: str, expected: int) -> None:
    assert figure(metric, decision(CONFIGURED, BEFORE, AFTER, followup=True, rounds=2)) == expected


def test_an_eager_group_stops_everything_that_it_runs() -> None:
    state = decision({"a": 1, "b": 0}, {"w1": "a a-0", "w2": "b gone"}, {"w1": "a a-0", "w2": "b"}, stops_all=True)
    assert figure("jobs_stopped", state) == 3
    # All of it starts again on the same worker.
    assert figure("jobs_moved", state) == 0


def test_a_job_that_is_on_another_worker_has_moved_also_in_an_eager_group() -> None:
    before, after = {"w1": "a a-0", "w2": "b"}, {"w1": "a b", "w2": "a-0"}
    for stops_all, stopped in ((True, 3), (False, 2)):
        state = decision({"a": 1, "b": 0}, before, after, stops_all=stops_all)
        assert (figure("jobs_stopped", state), figure("jobs_moved", state)) == (stopped, 2)


def test_a_worker_that_moves_nothing_stops_nothing() -> None:
    state = decision({"a": 2}, {"w1": "a a-0"}, {"w1": "a-1 a a-0"})
    assert figure("jobs_stopped", state) == 0
    assert figure("jobs_per_worker_range", state) == 0
    assert figure("jobs_above_even_share", state) == 0
    assert figure("jobs_unassigned", state) == 0
    assert figure("rebalances", state) == 0


def test_a_group_without_jobs_is_even() -> None:
    state = decision({}, {"w1": "", "w2": ""}, {"w1": "", "w2": ""})
    for metric in (
        "jobs_per_worker_range",
        "jobs_above_even_share",
        "tasks_of_connector_per_worker_range",
        "jobs_unassigned",
    ):
        assert figure(metric, state) == 0


@pytest.mark.parametrize("metric", [*CONNECT_METRICS, *EPISODE_METRICS], ids=lambda metric: metric.name)
def test_each_metric_is_in_the_page_word_by_word(metric: object) -> None:
    name, unit, summary = (getattr(metric, key) for key in ("name", "unit", "summary"))
    better, unavoidable = getattr(metric, "direction"), getattr(metric, "unavoidable")  # noqa: B009
    line = f"| `{name}` | {unit} | {better} | {summary} | {unavoidable} |"
    assert line in (DOCS / "reference" / "metrics.md").read_text(encoding="utf-8").splitlines()
