"""Every figure of coverage, computed by hand; and common properties of all metrics."""

from __future__ import annotations

import inspect

from assignor_lab.groups.streams.metrics import LAB_METRICS
from tests.groups.streams.states import Client, figure

STANDBYS = {"num.standby.replicas": 1}


def test_tasks_that_nobody_runs_are_counted() -> None:
    clients = [Client(after="0_0"), Client(after="| 0_1")]
    assert figure("tasks_not_assigned", clients, tasks="0_0 0_1 0_2") == 2.0


def test_a_standby_is_missing_where_there_is_another_client_for_it() -> None:
    clients = [Client(after="0_0 0_1"), Client(after="| 0_0")]
    assert figure("standbys_missing", clients, tasks="0_0 0_1 1_0", stateless="1_0", config=STANDBYS) == 2.0 - 1.0


def test_no_standby_is_missing_where_one_client_is_alone() -> None:
    assert figure("standbys_missing", [Client(after="0_0")], tasks="0_0", config=STANDBYS) == 0.0


def test_standbys_beyond_the_configured_number_are_warm_ups() -> None:
    clients = [Client(after="0_0"), Client(after="| 0_0"), Client(after="| 0_0")]
    assert figure("warmups_in_flight", clients, tasks="0_0", config=STANDBYS) == 1.0
    assert figure("warmups_in_flight", clients, tasks="0_0") == 2.0


def test_every_metric_says_in_words_what_it_measures() -> None:
    for metric in LAB_METRICS:
        assert metric.summary.endswith("."), metric.name
        assert metric.unit, metric.name
        assert metric.group in ("movement", "spread", "balance", "cost", "coverage", "life cycle"), metric.name
        assert metric.unavoidable.endswith("."), metric.name
        assert inspect.getdoc(metric.compute), metric.name


def test_no_two_metrics_share_a_name() -> None:
    names = [metric.name for metric in LAB_METRICS]
    assert len(set(names)) == len(names)
