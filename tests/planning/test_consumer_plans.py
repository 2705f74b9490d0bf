"""Plans of consumer groups beside the times that were measured on a real broker (reference, section 15)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.planning.consumer_groups import classic_group, written

#: The measured rolls: a session of 10 s, and each step waits until the group is at rest.
MEASURED = ("-c", "session.timeout.ms=10000", "-c", "group.initial.rebalance.delay.ms=0", "--wait", "calm")


@pytest.fixture
def eager(tmp_path: Path) -> Path:
    return written(tmp_path / "eager.jsonl", classic_group())


def run(file: Path, *words: str) -> Any:
    return CliRunner().invoke(build_app(), ["plan", str(file), *words, "--plays", "20"])


def planned(file: Path, *words: str) -> dict[str, Any]:
    done = run(file, *words, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def holds(figure: dict[str, float], measured: float) -> bool:
    return figure["low"] <= measured <= figure["high"]


def test_an_eager_roll_interrupts_each_partition_six_times_for_little_time(eager: Path) -> None:
    made = planned(eager, "roll", *MEASURED, "--no-variants")
    assert made["by_partition"]["interruptions"]["median"] == 6
    assert holds(made["by_partition"]["seconds"], 1.3)
    assert made["by_partition"]["seconds"]["high"] < 2.5
    assert [step["name"] for step in made["steps"]] == ["c1", "c2", "c3"]
    assert made["verified"]["reproduced"] == made["verified"]["decisions"] == 1


def test_a_cooperative_roll_interrupts_twice_for_a_heartbeat_interval(tmp_path: Path) -> None:
    state = written(tmp_path / "cooperative.jsonl", classic_group(strategies=["cooperative-sticky"]))
    made = planned(state, "roll", *MEASURED, "--no-variants")
    assert made["by_partition"]["interruptions"]["median"] == 2
    assert holds(made["by_partition"]["seconds"], 4.0)


@pytest.mark.parametrize("beat_ms", [3000, 6000])
def test_a_cooperative_move_costs_nearly_one_heartbeat_interval(tmp_path: Path, beat_ms: int) -> None:
    state = written(tmp_path / "cooperative.jsonl", classic_group(strategies=["cooperative-sticky"]))
    made = planned(state, "scale", "--to", "4", "--no-variants", "-c", f"heartbeat.interval.ms={beat_ms}")
    assert made["by_partition"]["interruptions"]["median"] == 3 / 12
    assert beat_ms / 1000 - 0.3 < made["total"]["worst_task_seconds"]["median"] < beat_ms / 1000 + 0.5


def test_static_members_are_away_as_long_as_their_restart(tmp_path: Path) -> None:
    state = written(tmp_path / "static.jsonl", classic_group(static=True))
    made = planned(state, "roll", *MEASURED, "--start-seconds", "4", "--no-variants")
    assert made["by_partition"]["interruptions"]["median"] == 1
    assert 4 <= made["by_partition"]["seconds"]["median"] < 5
    assert made["total"]["rebalances"]["high"] == 0
    assert set(made["spent_on"]) == {"process restart"}


def test_a_kill_waits_for_the_session(eager: Path) -> None:
    made = planned(eager, "kill", "c2", *MEASURED, "--no-variants")
    assert holds(made["total"]["worst_task_seconds"], 10.0)
    assert made["total"]["tasks"]["median"] == 12
    assert made["spent_on"]["session timeout"] > 5 * made["spent_on"]["rebalancing"] / 3


def test_the_usual_variants_show_strategies_static_members_and_sessions(eager: Path) -> None:
    made = planned(eager, "roll", *MEASURED)
    variants = made["variants"]
    assert {"cooperative-sticky", "static", "session timeout 6 s", "two at once"} <= set(variants)
    assert variants["static"]["by_partition"]["interruptions"]["median"] == 1
    assert (
        variants["cooperative-sticky"]["by_partition"]["seconds"]["median"]
        > 2 * made["by_partition"]["seconds"]["median"]
    )


def test_a_slow_poll_loop_decides_how_long_a_round_waits(eager: Path) -> None:
    quick = planned(eager, "scale", "--to", "4", "--no-variants")
    slow = planned(eager, "scale", "--to", "4", "--no-variants", "--poll-seconds", "20")
    assert slow["total"]["worst_task_seconds"]["high"] > 5 > quick["total"]["worst_task_seconds"]["high"]


def test_a_seed_gives_the_same_bytes(eager: Path) -> None:
    words = ("roll", "--json", "--no-variants", "--seed")
    assert run(eager, *words, "3").stdout == run(eager, *words, "3").stdout != run(eager, *words, "4").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("kill", "c9"), "fits no consumer: the group has c1, c2, c3"),
        (("scale", "--to", "3"), "the group has 3 consumers"),
        (("roll", "--wipe"), "--wipe is an option of kill"),
        (("roll", "--surge", "1"), "--surge is for Streams groups"),
        (("upgrade", "--to", "4.3"), "is a plan of Streams groups: a consumer group has"),
        (("roll", "--variant", "a=range,num.standby.replicas=1"), "has no effect on a plan of consumers"),
    ],
)
def test_impossible_plans_are_refused_with_the_remedy(eager: Path, words: tuple[str, ...], message: str) -> None:
    done = run(eager, *words)
    assert done.exit_code != 0
    assert message in str(done.exception) + done.output


def test_an_empty_group_and_one_without_a_common_strategy_have_no_plan(tmp_path: Path) -> None:
    empty = classic_group()
    empty |= {"members": [], "observed": {"members": {}}}
    assert "the group has no members" in str(run(written(tmp_path / "a.jsonl", empty), "roll").exception)
    mixed = classic_group()
    mixed["members"][0]["strategies"] = ["roundrobin"]
    del mixed["observed"]
    assert "no strategy in common" in str(run(written(tmp_path / "b.jsonl", mixed), "roll").exception)
