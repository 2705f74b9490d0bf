"""``assignor replay``: a recorded history with other assignors, variants and protocols."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app
from assignor_lab.cli.main import main
from assignor_lab.groups.variants import parse_variant
from assignor_lab.scenarios import write_lines
from calibration.episodes import import_episode
from tests.simulation.streams.episodes import document, happens, started

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
WARM = CAPTURES / "timelines" / "warm-classic.json.gz"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), arguments)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("replay") / "warm.jsonl"
    document = import_episode(WARM, CAPTURES / "warm")
    changelogs = {task: {**each, "bytes_per_record": 100} for task, each in document["changelogs"].items()}
    write_lines(str(file), [{**document, "changelogs": changelogs}])
    return str(file)


@pytest.fixture(scope="module")
def told(warm: str) -> dict[str, Any]:
    result = run(
        "replay", warm, "--assignor", "high_availability", "--plays", "1", "--json",
        "--variant", "none=high_availability,num.standby.replicas=0",
        "--variant", "new=group_sticky_4_4,group.protocol=streams,streams.session.timeout.ms=10000",
        "--variant", "other=connect_eager",
    )  # fmt: skip
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.mark.slow
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
    # Ten tasks with state, 100 bytes a record: the load of the second instance, at most once each.
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
    assert "connect_eager" in told["contenders"]["other"]["error"]
    assert set(told["figures"]) - set(told["contenders"]) == set()
    assert told["figures"]["other"] is None


def test_an_assignor_plays_in_its_own_protocol_as_in_score(warm: str) -> None:
    result = run("replay", warm, "--assignor", "high_availability", "--assignor", "group_sticky_4_4", "--json")
    told = json.loads(result.stdout)
    assert told["figures"]["group_sticky_4_4"]["warmups"] == 0
    assert told["best"] == ["high_availability"]
    assert told["verdict"].startswith("high_availability did best in this history. Best in ")


@pytest.mark.slow
def test_the_verdict_is_printed_before_the_tables(warm: str) -> None:
    shown = run("replay", warm, "--assignor", "high_availability", "--variant", "same=high_availability")
    assert "All do the same in this history, as far as the figures below go." in shown.stdout
    alone = run("replay", warm, "--assignor", "high_availability")
    assert "high_availability is alone: there is no other contender to compare it with." in alone.stdout


def test_the_table_has_what_really_happened_beside_each_contender(warm: str) -> None:
    result = run("replay", warm, "--variant", "mine=high_availability")
    assert result.exit_code == 0
    header = next(line for line in result.stdout.splitlines() if "at s" in line)
    assert header.split()[-2:] == ["recorded", "mine"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ([], "name a contender"),
        (["--variant", "high_availability"], "is no variant"),
        (["--variant", "a=sticky,2"], "expected key=value"),
        (["--variant", "a=sticky,group.protocol=new"], "classic, streams or consumer"),
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


# --- output of import ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = str(tmp_path_factory.mktemp("replay") / "decisions.jsonl")
    logs = sorted(map(str, (CAPTURES / "plain-ha").glob("*.log.gz")))
    properties = str(CAPTURES / "plain-ha" / "application.properties")
    assert run("import", *logs, "--config", properties, "--out", file).exit_code == 0
    return file


@pytest.mark.slow
def test_decisions_of_a_log_are_a_history_that_can_be_replayed(imported: str) -> None:
    properties = str(CAPTURES / "plain-ha" / "application.properties")
    result = run("replay", imported, "--config", properties, "--assignor", "high_availability", "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert len(told["recorded"]["generations"]) == 14
    ours = told["contenders"]["high_availability"]["actions"]
    assert [(each["action"], each["who"]) for each in ours] == [
        ("start", "h2"), ("start", "h1"), ("start", "h3"), ("stop", "h3"),
    ]  # fmt: skip
    recorded = {each["who"]: each["rebalances"] for each in told["recorded"]["actions"]}
    assert {each["who"]: each["rebalances"] for each in ours}["h3"] == pytest.approx(recorded["h3"], abs=2)


@pytest.mark.slow
def test_simulate_plays_the_world_behind_a_history_and_prints_it(imported: str) -> None:
    properties = str(CAPTURES / "plain-ha" / "application.properties")
    simulated = json.loads(run("simulate", "--from", imported, "--config", properties, "--json").stdout)
    replayed = run(
        "replay", imported, "--config", properties, "--assignor", "high_availability", "--plays", "1", "--json"
    )
    told = json.loads(replayed.stdout)
    verified = simulated.pop("verified")
    assert (verified["status"], verified["reproduced"]) == ("verified", 14)
    assert told["verified"] == verified
    assert simulated == told["contenders"]["high_availability"]
    shown = run("replay", imported, "--config", properties, "--assignor", "sticky")
    assert shown.stdout.startswith("Decisions: 14 of 14 reproduced. Play of the group's own assignor: ")
    printed = run("simulate", "--from", imported, "--config", properties, "--document")
    assert json.loads(printed.stdout)["kind"] == "streams-episode"


@pytest.mark.slow
def test_unknown_racks_that_decide_leave_nothing_to_compare(imported: str) -> None:
    properties = str(CAPTURES / "plain-ha" / "application.properties")
    traffic = "rack.aware.assignment.strategy=min_traffic"
    words = ["replay", imported, "--config", properties, "--assignor", "high_availability"]
    told = json.loads(run(*words, "--variant", f"near=high_availability,{traffic}", "--json").stdout)
    assert told["not_comparable"]["near"].startswith("racks decide, and are unknown: give them with --racks")
    assert told["verdict"] == "high_availability is alone: there is no other contender to compare it with."
    assert "Not comparable: high_availability: racks decide" in run(*words, "-c", traffic).stdout
    aware = json.loads(run(*words, "--assignor", "rack_aware", "--json").stdout)
    assert list(aware["not_comparable"]) == ["rack_aware"]


def test_several_groups_have_a_verdict_each_and_one_over_all(tmp_path: Path) -> None:
    file = tmp_path / "two.jsonl"
    both = [started("a"), started("b", 60_000), happens("crash", "a", 120_000)]
    alone = [started("a"), happens("stop", "a", 60_000), started("a", 90_000)]
    write_lines(
        str(file), [{**document(each, records=20_000), "id": name} for name, each in (("both", both), ("alone", alone))]
    )
    words = ["replay", str(file), "--assignor", "sticky", "--variant", "one=sticky,num.standby.replicas=1"]
    shown = run(*words).stdout
    assert "over 2 histories:" in shown
    decoder, rest, found = json.JSONDecoder(), run(*words, "--json").stdout.strip(), []
    while rest:
        each, end = decoder.raw_decode(rest)
        found.append(each)
        rest = rest[end:].strip()
    assert [each["episode"] for each in found] == ["both", "alone"]
    assert found[0]["best"] == ["one"]
    # With one member there is no room for a standby.
    assert found[1]["verdict"] == "All do the same in this history, as far as the figures below go."
    assert found[0]["overall"] == found[1]["overall"]
    assert (found[0]["overall"]["histories"], found[0]["overall"]["best"]) == (2, [])
    assert (
        found[0]["overall"]["verdict"]
        == "No contender is best: no figure has an interval (too few states differ, or too unevenly)."
    )


@pytest.mark.slow
def test_state_of_unknown_size_is_shown_as_unknown(tmp_path: Path) -> None:
    file = tmp_path / "unknown.jsonl"
    write_lines(str(file), [document([started("a")], changelogs={})])
    totals = json.loads(run("simulate", str(file), "--json").stdout)["totals"]
    assert (totals["restored_bytes"], totals["unavailable_by_cause_s"]["restoring"]) == (None, None)
    shown = run("simulate", str(file)).stdout
    assert "restoring unknown" in shown
    assert "restored: unknown bytes, unknown bytes of them before processing" in shown
    replayed = run("replay", str(file), "--assignor", "sticky")
    assert replayed.exit_code == 0
    (row,) = (line for line in replayed.stdout.splitlines() if "restored bytes" in line)
    assert row.split() == ["restored", "bytes", "-"]
    assert "nothing is known of the state of 4 tasks" in replayed.stderr


def test_an_episode_and_a_history_at_once_are_refused(imported: str) -> None:
    result = run("simulate", imported, "--from", imported)
    assert result.exit_code == 2
    assert "not both" in result.stderr


def test_states_that_are_no_decisions_are_named_with_what_makes_histories(
    tmp_path: Path, imported: str, capsys: pytest.CaptureFixture[str]
) -> None:
    state = {
        key: value for key, value in json.loads(Path(imported).read_text().splitlines()[0]).items() if key != "observed"
    }
    file = tmp_path / "state.jsonl"
    write_lines(str(file), [state])
    with pytest.raises(SystemExit) as left:
        main(["replay", str(file), "--assignor", "high_availability"])
    assert left.value.code == 2
    printed = capsys.readouterr().err
    assert "state.jsonl, line 1" in printed
    assert "assignor import and record make histories" in printed


def test_a_name_of_no_assignor_is_refused_before_the_plays(warm: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", warm, "--assignor", "high_availability", "--variant", "new=group_stiky"])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert "unknown assignor 'group_stiky'" in printed.err
    assert printed.out == ""
