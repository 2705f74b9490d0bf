"""``assignor replay``: a recorded history with other assignors, variants and protocols."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.capture.episodes import import_episode
from assignor_lab.cli.app import build_app
from assignor_lab.groups.variants import parse_variant
from assignor_lab.scenarios import write_lines

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
WARM = CAPTURES / "timelines" / "warm-classic.json.gz"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), arguments)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("replay") / "warm.jsonl"
    write_lines(str(file), [import_episode(WARM, CAPTURES / "warm")])
    return str(file)


@pytest.fixture(scope="module")
def told(warm: str) -> dict[str, Any]:
    result = run(
        "replay", warm, "--assignor", "high_availability", "--json",
        "--variant", "none=high_availability,num.standby.replicas=0",
        "--variant", "new=group_sticky_4_4,group.protocol=streams,streams.session.timeout.ms=10000",
        "--variant", "other=group_sticky",
    )  # fmt: skip
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_recorded_assignor_gives_what_really_happened(told: dict[str, Any]) -> None:
    ours, really = told["contenders"]["high_availability"], told["recorded"]
    assert [each["assigned"] for each in ours["generations"]] == [each["assigned"] for each in really["generations"]]
    for mine, theirs in zip(ours["actions"], really["actions"], strict=True):
        assert mine["rebalances"] == theirs["rebalances"]


def test_a_contender_has_the_form_of_simulate(told: dict[str, Any], warm: str) -> None:
    simulated = json.loads(run("simulate", warm, "--assignor", "high_availability", "--json").stdout)
    assert told["contenders"]["high_availability"] == simulated
    assert set(told["recorded"]) == set(simulated)


def test_a_variant_lives_its_own_history_and_copies_are_counted_once(told: dict[str, Any]) -> None:
    with_copies, without = (told["contenders"][name]["totals"] for name in ("high_availability", "none"))
    assert without["warmups"] > 0
    # Ten tasks with state, 100 bytes a record: what the second instance loads, at most once each.
    state = with_copies["restored_bytes"] - without["restored_bytes"]
    changelogs = import_episode(WARM, CAPTURES / "warm")["changelogs"].values()
    everything = sum(each["records"] + each["backlog_records"] for each in changelogs) * 100  # fmt: skip
    assert 0 < state < everything


def test_an_upgrade_of_the_protocol_is_a_variant(told: dict[str, Any]) -> None:
    assert told["contenders"]["new"]["assignor"] == "group_sticky_4_4"
    scaled_out = next(each["t_ms"] for each in told["contenders"]["new"]["actions"] if each["who"] == "v2")
    restoring = {
        name: sum(
            to - begin
            for task in told["contenders"][name]["tasks"].values()
            for begin, to, cause in task["intervals"]
            if cause == "restoring" and begin >= scaled_out
        )
        for name in ("high_availability", "new")
    }
    # There are no warm-ups: tasks that move wait for their whole state.
    assert restoring["new"] > 1.5 * restoring["high_availability"]
    assert told["contenders"]["new"]["totals"]["warmups"] == 0


def test_a_contender_that_cannot_be_played_costs_the_others_nothing(told: dict[str, Any]) -> None:
    assert set(told["contenders"]["other"]) == {"assignor", "error"}
    assert "broker-side assignor" in told["contenders"]["other"]["error"]


def test_the_table_has_what_really_happened_beside_each_contender(warm: str) -> None:
    result = run("replay", warm, "--variant", "mine=high_availability")
    assert result.exit_code == 0
    header = next(line for line in result.stdout.splitlines() if "at s" in line)
    assert header.split()[-2:] == ["recorded", "mine"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ([], "name somebody who decides"),
        (["--variant", "high_availability"], "is no variant"),
        (["--variant", "a=sticky,2"], "expected key=value"),
        (["--variant", "a=sticky,group.protocol=new"], "classic or streams"),
        (["--variant", "a=sticky,session.timeout.ms=soon"], "milliseconds"),
        (["--variant", "a=sticky", "--variant", "a=static"], "two contenders of the name"),
        (["--variant", "a=sticky,num.standby.replica=1"], "num.standby.replicas"),
    ],
)
def test_what_is_no_contender_is_refused(warm: str, options: list[str], what: str) -> None:
    result = run("replay", warm, *options)
    assert result.exit_code != 0
    assert what in result.output + str(result.exception)


def test_a_value_may_hold_commas() -> None:
    found = parse_variant("a=sticky,rack.aware.assignment.tags=zone,cluster,num.standby.replicas=1")
    assert dict(found.overrides) == {"rack.aware.assignment.tags": "zone,cluster", "num.standby.replicas": "1"}
