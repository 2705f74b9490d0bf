"""Totals of simulated episodes: traffic across zones, takeovers, and the longest interruptions."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from assignor_lab.simulation.streams.formats.plays import document_of
from assignor_lab.simulation.streams.results import totals_of
from assignor_lab.simulation.streams.traffic import ReadsFrom, TrafficTerms
from tests.simulation.streams.episodes import happens, played, started, task

GIB = 1 << 30


def in_racks(racks: list[str], source: list[str]) -> list[dict[str, Any]]:
    """One task, with replicas of its changelog in some racks and its input in others."""
    return [
        {
            **task("0_0"),
            "partitions": [
                {"topic": "in", "partition": 0, "source": True, "changelog": False, "racks": source},
                {"topic": "log", "partition": 0, "source": False, "changelog": True, "racks": racks},
            ],
        }
    ]


def totals(*events: dict[str, Any], reads_from: ReadsFrom = "leader", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = attrs.asdict(totals_of(played(list(events), **more), TrafficTerms(reads_from, 0.02)))
    return found


@pytest.mark.parametrize(
    ("racks", "reads_from", "share"),
    [
        (["b", "c"], "leader", 1.0), (["b", "c"], "nearest", 1.0), (["a", "b"], "leader", 0.5),
        (["a", "b"], "nearest", 0.0), (["a"], "leader", 0.0),
    ],
)  # fmt: skip
def test_state_that_comes_back_crosses_zones_where_it_is_not_read_at_home(
    racks: list[str], reads_from: ReadsFrom, share: float
) -> None:
    found = totals(
        started("x", rack="a"), tasks=in_racks(racks, ["a"]), records=1_000, until_ms=60_000, reads_from=reads_from
    )
    assert found["restored_bytes"] == 1_000_000
    assert found["cross_zone_bytes"] == 1_000_000 * share
    assert found["dollars"] == 1_000_000 * share / GIB * 0.02
    assert found["reads_from"] == reads_from


UNSIZED = {"0_0": {"records": 2_000, "bytes_per_record": None}}
LIVES = [started("x"), happens("crash", "x", 60_000), started("y", 60_000)]


def test_nothing_known_of_a_state_leaves_bytes_and_restoring_unknown() -> None:
    found = totals(*LIVES, tasks=[task("0_0")], until_ms=120_000, changelogs={})
    assert (found["restored_bytes"], found["restored_before_processing_bytes"]) == (None, None)
    assert (found["cross_zone_bytes"], found["dollars"]) == (None, None)
    causes = found["unavailable_by_cause_s"]
    assert causes["restoring"] is None
    assert (found["unavailable_task_s"], found["worst_task_s"]) == (None, None)
    assert found["unavailable_without_restoring_task_s"] == pytest.approx(sum(each or 0.0 for each in causes.values()))
    # Both instances begin without a copy.
    assert found["cold_takeovers"] == 2


def test_an_unknown_state_that_is_not_restored_leaves_the_time_known() -> None:
    known = {"0_0": {"records": 2_000, "bytes_per_record": 100}}
    stateless = task("0_1", stateful=False)
    found = totals(*LIVES, tasks=[task("0_0"), stateless], until_ms=120_000, changelogs=known)
    assert found["unavailable_task_s"] == pytest.approx(sum(found["unavailable_by_cause_s"].values()))
    restoring = found["unavailable_by_cause_s"]["restoring"]
    assert found["unavailable_task_s"] - restoring == pytest.approx(found["unavailable_without_restoring_task_s"])


def test_one_unknown_state_makes_the_sums_of_all_unknown() -> None:
    two = [task("0_0"), task("0_1")]
    known = {"0_0": {"records": 2_000, "bytes_per_record": 100}}
    found = totals(*LIVES, tasks=two, until_ms=120_000, changelogs=known)
    assert found["restored_bytes"] is None
    assert found["unavailable_by_cause_s"]["restoring"] is None


def test_known_records_of_unknown_bytes_take_their_time() -> None:
    timings = {"restore_records_per_s": 1_000}
    found = totals(*LIVES, tasks=[task("0_0")], until_ms=120_000, changelogs=UNSIZED, timings=timings)
    assert (found["restored_bytes"], found["cross_zone_bytes"]) == (None, None)
    assert found["unavailable_by_cause_s"]["restoring"] == pytest.approx(4.0, abs=0.1)


def test_nothing_that_is_restored_is_no_byte_whatever_a_record_has() -> None:
    empty = {"0_0": {"records": 0, "bytes_per_record": None}}
    found = totals(started("x"), tasks=[task("0_0")], until_ms=60_000, changelogs=empty)
    assert found["restored_bytes"] == 0


def test_without_a_size_the_window_of_a_probe_has_no_simulated_bytes() -> None:
    window = {"t_ms": 0, "end_ms": 60_000, "action": "start", "tasks": {}, "restored_bytes": 7, "standby_bytes": 0}
    recorded = {"generations": [], "probe": [window]}
    simulated = played(LIVES, tasks=[task("0_0")], until_ms=120_000, changelogs=UNSIZED, recorded=recorded)
    (row,) = document_of(simulated, "sticky@4.3")["compared"]["probe"]
    assert row["restored_bytes"] == {"recorded": 7, "simulated": None}


def test_input_is_read_for_as_long_as_the_task_runs() -> None:
    tasks = in_racks(["a"], ["b"])
    workload = {"tasks": {"0_0": {"state_bytes": 0, "input_bytes_per_s": 100}}}
    found = totals(started("x", rack="a"), tasks=tasks, until_ms=64_000, workload=workload)
    # Started at 0, joined at 1 s, task assigned at 4 s.
    assert found["cross_zone_bytes"] == 60 * 100


def test_copies_read_what_others_write() -> None:
    tasks = in_racks(["a"], ["a"])
    growing = {"0_0": {"records": 0, "bytes_per_record": 10, "records_per_s": 5}}
    events = [started("x", rack="a"), started("y", rack="b")]
    found = totals(*events, tasks=tasks, until_ms=67_000, changelogs=growing, config={"num.standby.replicas": 1})
    # One instance runs it from 7 s on and catches up with the records; if the other is y, it reads all across zones.
    assert found["restored_bytes"] == 0
    runs = played(events, tasks=tasks, until_ms=67_000, config={"num.standby.replicas": 1}).world.ledger.runs[0]
    assert found["cross_zone_bytes"] == (67 * 5 * 10 if runs[0][2] == "x" else 0)


@pytest.mark.slow
def test_racks_that_are_not_known_give_no_figure() -> None:
    known = totals(started("x", rack="a"), tasks=in_racks(["b"], ["a"]), records=10)
    client = totals(started("x"), tasks=in_racks(["b"], ["a"]), records=10)
    partition = totals(started("x", rack="a"), tasks=in_racks([], ["a"]), records=10)
    assert known["cross_zone_bytes"] == 10_000
    assert (client["cross_zone_bytes"], client["dollars"]) == (None, None)
    assert (partition["cross_zone_bytes"], partition["dollars"]) == (None, None)


@pytest.mark.slow
def test_a_takeover_is_cold_where_the_copy_lacks_more_than_the_recovery_lag() -> None:
    events = [started("x"), happens("stop", "x", 100_000), happens("lose_disk", "x", 110_000), started("x", 120_000)]
    few, many = (totals(*events, records=records)["cold_takeovers"] for records in (9_000, 11_000))
    # At both starts all four tasks lack all state.
    assert (few, many) == (0, 8)
    kept = totals(started("x"), happens("stop", "x", 100_000), started("x", 120_000), records=11_000)
    assert kept["cold_takeovers"] == 4


def test_causes_add_up_to_the_whole_and_the_worst_task_is_one_of_them() -> None:
    found = totals(started("x"), happens("crash", "x", 100_000), started("x", 130_000), records=1_000)
    assert sum(found["unavailable_by_cause_s"].values()) == pytest.approx(found["unavailable_task_s"])
    assert found["unavailable_task_s"] / 4 <= found["worst_task_s"] < found["unavailable_task_s"]
    assert found["restored_before_processing_bytes"] == found["restored_bytes"]
    assert found["longest_until_stable_s"] == 4.0
