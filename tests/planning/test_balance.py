"""The time of the balance, which probing rebalances reach long after a new instance runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.public_cases import run, unpacked


@pytest.mark.slow
def test_scaling_out_names_the_time_of_the_balance_and_a_faster_setting(tmp_path: Path) -> None:
    file = unpacked("08-warm-up-tail", "s5-two.jsonl", tmp_path)
    plan = ("plan", str(file), "scale", "--to", "3", "--plays", "2", "--start-seconds", "2.2")

    found = json.loads(run(*plan, "--json").stdout)
    shown = " ".join(run(*plan).stdout.split())

    assert 11_900 < found["total"]["rest_seconds"]["median"] < 12_200
    many = found["variants"]["20 warm-ups"]["total"]
    assert many["rest_seconds"]["median"] < 1_300
    assert many["rebalances"]["median"] <= 6
    probes = found["variants"]["probing every 60 s"]["total"]
    assert probes["rest_seconds"]["median"] < 1_300
    assert found["total"]["later"]["task_seconds"]["median"] > 10 * found["total"]["now"]["task_seconds"]["median"]
    assert "Now fall" in shown
    assert "at later probing rebalances" in shown
    assert "with 20 warm-ups after 120" in shown
    assert "the group is at rest after 120" in shown
    assert "(3 h 21 min)" in shown


def of_p1(*words: str) -> tuple[str, ...]:
    folder = Path(__file__).parents[1] / "data" / "captures" / "plans" / "P1"
    config = ("--config", str(folder / "application.properties"), "--plays", "2", "--start-seconds", "2.2")
    return ("plan", str(folder / "capture.jsonl"), "roll", "--only", "d1", *config, *words)


@pytest.mark.slow
def test_a_group_that_never_rests_is_named_before_the_plan() -> None:
    shown = run(*of_p1("--assignor", "fallback_prior", "--no-variants")).stdout
    assert "This group never rests after the plan: FallbackPriorTaskAssignor." in " ".join(shown.split())
    assert shown.index("never rests") < shown.index("A rolling restart")
    assert json.loads(run(*of_p1("--no-variants", "--json")).stdout)["restless"] is None


@pytest.mark.slow
def test_variants_without_effect_are_left_out_with_one_sentence(tmp_path: Path) -> None:
    (line,) = (Path(__file__).parents[1] / "data/captures/plans/P1/capture.jsonl").read_text().splitlines()
    state = json.loads(line)
    for client in state["clients"]:
        name = client["consumers"][0].split("-StreamThread")[0]
        client["members"] = {
            each: {"client_id": name, "instance_id": f"{name}-{place}"}
            for place, each in enumerate(client["consumers"])
        }
    static = tmp_path / "static.jsonl"
    static.write_text(f"{json.dumps(state)}\n")
    config = ("-c", "session.timeout.ms=30000", "--plays", "2", "--start-seconds", "2.2")
    plan = ("plan", str(static), "roll", "--order", "d1,d2,d3", *config)
    found = json.loads(run(*plan, "--json").stdout)
    assert found["without_effect"] == ["session timeout 10 s"]
    assert "session timeout 10 s" not in found["variants"]
    assert "Without effect on this plan, and left out: session timeout 10 s." in " ".join(run(*plan).stdout.split())
