"""Every figure of spread, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.groups.streams.states import Client, figure

ZONES = {"num.standby.replicas": 1, "rack.aware.assignment.tags": ["zone"]}
BOTH = {"num.standby.replicas": 2, "rack.aware.assignment.tags": ["zone", "cluster"]}


def in_zone(zone: str, after: str, cluster: str = "x") -> Client:
    return Client(after=after, tags={"zone": zone, "cluster": cluster})


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("tag_values_achieved", 0.75), ("tag_values_achieved_worst_key", 0.75), ("replicas_all_on_one_value", 1.0)],
)
def test_one_of_two_tasks_has_both_replicas_in_one_zone(metric: str, expected: float) -> None:
    # 0_0 reaches both zones of two; 0_1 has both replicas in zone a: 1 of 2.
    clients = [in_zone("a", "0_0 0_1"), in_zone("a", "| 0_1"), in_zone("b", "| 0_0")]
    assert figure(metric, clients, tasks="0_0 0_1", config=ZONES) == expected


def test_the_worst_key_is_the_one_with_the_smallest_mean() -> None:
    # Zones: 3 of 3. Clusters: 1 of 2.
    clients = [
        in_zone("a", "0_0", "x"),
        in_zone("b", "| 0_0", "x"),
        in_zone("c", "| 0_0", "x"),
        in_zone("a", "", "y"),
    ]
    assert figure("tag_values_achieved", clients, tasks="0_0", config=BOTH) == 0.75
    assert figure("tag_values_achieved_worst_key", clients, tasks="0_0", config=BOTH) == 0.5
    assert figure("replicas_all_on_one_value", clients, tasks="0_0", config=BOTH) == 1.0


@pytest.mark.parametrize("config", [{"num.standby.replicas": 1}, {"rack.aware.assignment.tags": ["zone"]}])
def test_without_tags_or_without_standbys_there_is_no_spread_to_reach(config: dict[str, Any]) -> None:
    clients = [in_zone("a", "0_0"), in_zone("b", "| 0_0")]
    assert figure("tag_values_achieved", clients, tasks="0_0", config=config) is None
    assert figure("replicas_all_on_one_value", clients, tasks="0_0", config=config) is None


def test_a_missing_standby_is_a_value_not_reached_but_not_a_pair_in_one_zone() -> None:
    clients = [in_zone("a", "0_0"), in_zone("b", "")]
    assert figure("tag_values_achieved", clients, tasks="0_0", config=ZONES) == 0.5
    assert figure("replicas_all_on_one_value", clients, tasks="0_0", config=ZONES) == 0.0


RACKS = [Client(after="0_0 1_0", rack="r1"), Client(after="0_1 | 0_0", rack="r2")]
SOURCE = {"0_0": ["r1", "r2"], "0_1": ["r1"], "1_0": ["r2"]}
LOG = {"0_0": ["r1"], "0_1": ["r2"]}


def test_racks_are_crossed_by_sources_of_actives_and_changelogs_of_standbys() -> None:
    # 0_0 reads at home; 0_1 in r2 reads from r1; 1_0 in r1 reads from r2; the standby of 0_0 in r2 reads from r1.
    given = {"tasks": "0_0 0_1 1_0", "stateless": "1_0", "source_racks": SOURCE, "log_racks": LOG}
    assert figure("racks_crossed", RACKS, **given) == 3.0  # type: ignore[arg-type]
    assert figure("rack_traffic_cost", RACKS, **given) == 10 + 1 + 10  # type: ignore[arg-type]


def test_the_configured_traffic_cost_is_for_tasks_with_state() -> None:
    assert (
        figure(
            "rack_traffic_cost",
            RACKS,
            tasks="0_0 0_1 1_0",
            stateless="1_0",
            source_racks=SOURCE,
            log_racks=LOG,
            config={"rack.aware.assignment.traffic_cost": 7},
        )
        == 7 + 1 + 7
    )


def test_where_a_rack_is_unknown_there_is_no_figure() -> None:
    without_client = [Client(after="0_0", rack="r1"), Client(after="0_1")]
    assert figure("racks_crossed", without_client, tasks="0_0 0_1", source_racks=SOURCE) is None
    without_partition = [Client(after="0_0", rack="r1"), Client(after="0_1", rack="r2")]
    assert figure("racks_crossed", without_partition, tasks="0_0 0_1", source_racks={"0_0": ["r1"]}) is None


def test_replicas_in_one_rack() -> None:
    config = {"num.standby.replicas": 1}
    clients = [
        Client(after="0_0 0_1", rack="r1"),
        Client(after="| 0_0", rack="r1"),
        Client(after="| 0_1", rack="r2"),
    ]
    assert figure("replicas_in_one_rack", clients, tasks="0_0 0_1", config=config) == 1.0


def test_one_rack_only_is_nobodys_fault() -> None:
    clients = [Client(after="0_0", rack="r1"), Client(after="| 0_0", rack="r1")]
    assert figure("replicas_in_one_rack", clients, tasks="0_0", config={"num.standby.replicas": 1}) is None
