from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from assignment_api import AssignorLabError
from assignor_lab.cli.app import build_app

pytestmark = pytest.mark.slow

PLANS = Path(__file__).parents[1] / "data" / "captures" / "plans"


START = ("--start-seconds", "2.2")
ALONE = ("--variant", "same=high_availability")


def run(name: str, *words: str) -> Result:
    source, config = PLANS / name / "capture.jsonl", PLANS / name / "application.properties"
    return CliRunner().invoke(build_app(), ["plan", str(source), *words, "--config", str(config), "--plays", "2"])


def document(name: str, *words: str) -> dict[str, Any]:
    done = run(name, *words, "--json")
    assert done.exit_code == 0, done.output
    made: dict[str, Any] = json.loads(done.stdout)
    return made


@pytest.mark.parametrize(
    "words", [(), ("--batch", "2"), ("--batch", "3"), ("--batch", "all"), ("--leave",)], ids=" ".join
)
@pytest.mark.parametrize("name", ["P1", "P5"])
def test_a_roll_prints_the_fixed_form(name: str, words: tuple[str, ...]) -> None:
    made = document(name, "roll", "--order=d1,d2,d3", *START, *words, *ALONE)
    assert {
        "source", "plan", "verified", "plays", "steps", "total", "spent_on", "naive", "variants", "assumptions",
    } <= set(made)  # fmt: skip
    assert [step["name"] for step in made["steps"]] == {
        "2": ["d1, d2", "d3"], "3": ["d1, d2, d3"], "all": ["d1, d2, d3"],
    }.get(words[1] if len(words) == 2 else "", ["d1", "d2", "d3"])  # fmt: skip
    for figures in (*made["steps"], made["total"]):
        for key in ("task_seconds", "worst_task_seconds", "rebalances"):
            assert figures[key]["low"] <= figures[key]["median"] <= figures[key]["high"]
    assert made["verified"]["reproduced"] == 1


def test_a_scale_out_has_one_step() -> None:
    made = document("P8", "scale", "--to", "4", "--start-seconds", "2.2")
    assert [step["name"] for step in made["steps"]] == ["d4"]


def test_names_that_the_source_lacks_are_labels_and_the_answer_says_so() -> None:
    made = document("P5", "roll", "--order=d1,d2,d3")
    assert any("label its processes in their order" in sentence for sentence in made["assumptions"])


def test_the_answer_begins_with_the_check_and_a_sentence() -> None:
    done = run("P1", "roll", "--start-seconds", "2.2")
    verified, sentence = done.stdout.splitlines()[:2]
    assert verified.startswith("Decisions: ")
    assert sentence.startswith("A rolling restart of 3 instances takes ")


@pytest.mark.parametrize(
    ("words", "least", "most"),
    [
        # One session of 10 s for each of the 12 tasks.
        (["roll"], 120, 140),
        (["roll", "--only", "d2"], 40, 47),
        (["roll", "--upgrade-from", "3.4"], 240, 280),
        (["roll", "--crash-in", "2"], 150, 190),
        (["roll", "--stuck", "2"], 80, 120),
        (["kill", "d2", "--back-after", "5"], 20, 80),
        (["kill", "d2", "--back-after", "5", "--wipe"], 20, 110),
        (["scale", "--to", "2"], 40, 100),
        (["scale", "--to", "2", "--leaving", "d1", "--leave"], 4, 40),
        (["upgrade-protocol"], 140, 330),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_plans_cost_what_kafkas_rules_make_them_cost(words: list[str], least: float, most: float) -> None:
    made = document("P1", *words, "--start-seconds", "2.2", "--variant", "session=high_availability")
    assert least <= made["total"]["task_seconds"]["median"] <= most


def test_new_processes_with_empty_disks_restore_their_tasks() -> None:
    made = document("P1", "roll", "--replace", "--start-seconds", "2.2", "--variant", "same=high_availability")
    assert made["total"]["restored_bytes"]["median"] > 200e6


def test_a_step_that_never_becomes_ready_ends_the_plan() -> None:
    made = document("P1", "roll", "--stuck", "2", "--variant", "same=high_availability")
    assert [step["name"] for step in made["steps"]] == ["d1", "d2"]
    assert made["failures"] == ["Step d2 is not ready within 600 s in 2 of 2 plays. The plan goes no further then."]


@pytest.mark.parametrize(
    ("interval_ms", "when"), [(1, "before the plan"), (2000, "after step d3, with 1,000 rebalances")]
)
def test_a_group_that_loses_its_members_without_an_end_is_given_up(interval_ms: int, when: str) -> None:
    done = run("P1", "roll", *START, "--no-variants", "--processes", "1", "-c", f"max.poll.interval.ms={interval_ms}")
    assert isinstance(done.exception, AssignorLabError)
    assert f"does not come to rest {when}" in str(done.exception)


def test_variants_stand_beside_the_plan_as_it_is() -> None:
    made = document("P1", "roll", "--start-seconds", "2.2")
    variants = made["variants"]
    assert list(variants) == [
        "static members", "LEAVE_GROUP", "session timeout 6 s", "two at once", "streams protocol",
    ]  # fmt: skip
    assert variants["static members"]["total"]["rebalances"]["high"] == 0
    totals = {name: each["total"]["task_seconds"]["median"] for name, each in variants.items()}
    assert totals["static members"] < totals["session timeout 6 s"] < made["total"]["task_seconds"]["median"]
    best = min(totals, key=totals.__getitem__)
    assert best in ("static members", "LEAVE_GROUP")
    assert f"With {best}: " in made["sentence"]


def test_a_release_without_the_streams_protocol_is_no_present_one_of_a_streams_group() -> None:
    assert "speaks the streams protocol" in str(run("P5", "roll", "--upgrade-from", "3.3").exception)


def test_a_script_has_the_steps_of_its_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    steps = [
        {"name": "add d4", "events": [{"type": "start", "client": "d4", "threads": 2}], "wait": "calm"},
        {"events": [{"type": "stop", "client": "d1"}, {"type": "start", "client": "d1", "after_ms": 5000}]},
    ]
    script.write_text(json.dumps({"steps": steps}))
    made = document("P1", "script", str(script), "--variant", "same=high_availability")
    assert [step["name"] for step in made["steps"]] == ["add d4", "step 2"]
    assert made["steps"][1]["task_seconds"]["median"] > 20


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({"type": "pause", "client": "d1"}, "event pause needs for_ms"),
        ({"type": "rolling_restart", "every_ms": 60_000}, "event rolling_restart needs down_ms"),
    ],
)
def test_an_event_of_a_script_has_its_keys(event: dict[str, Any], message: str, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": [{"events": [event]}]}))
    assert message in str(run("P1", "script", str(script), *ALONE).exception)


def test_a_script_restarts_a_broker(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": [{"events": [{"type": "broker_restart", "down_ms": 5_000}]}]}))
    assert document("P1", "script", str(script), *ALONE)["steps"][0]["name"] == "step 1"


def test_the_page_draws_the_absences_and_escapes_names(tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    steps = [{"name": "<script>alert(1)</script>", "events": [{"type": "crash", "client": "d1"}]}]
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": steps}))
    done = run("P1", "script", str(script), "--report", str(page), *ALONE)
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert text.count("<rect ") >= 4
    assert "<script>" not in text
    assert "&lt;script&gt;alert(1)" in text


@pytest.mark.parametrize(("bound", "code"), [("9", 1), ("30", 0)])
def test_a_condition_decides_the_exit_code(bound: str, code: int, tmp_path: Path) -> None:
    junit = tmp_path / "plan.xml"
    condition = f"total.worst_task_seconds.high > {bound}"
    done = run("P1", "roll", "--fail-if", condition, "--junit", str(junit), "--variant", "same=high_availability")
    assert done.exit_code == code
    assert ("<failure" in junit.read_text()) is bool(code)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["roll", "--fail-if", "total.worst > 3"], "total has no 'worst'"),
        (["roll", "--fail-if", "worst"], "write a figure of the answer's JSON"),
        (["roll", "--order=d1,d9,d3"], "'d9' fits no instance: the group has d2, d1, d3"),
        (["roll", "--order=d1,d1,d3"], "'d1' is named twice"),
        (["roll", "--order=d1,d2"], "--order leaves out d3"),
        (["scale", "--to", "3"], "the group has 3 instances already"),
        (["scale", "--to", "2", "--leaving", "d1,d2"], "--leaving names 2 instances, and --to 2 removes 1"),
        (["roll", "--stuck", "4"], "the plan has 3 steps"),
        (["roll", "--upgrade-from", "old"], "give a release of Kafka"),
        (["kill", "d2", "--wipe"], "give --back-after"),
        (["roll", "--to", "4"], "--to is an option of scale: it has no effect on roll"),
        (["scale", "--to", "4", "--batch", "2"], "--batch is an option of roll and upgrade: it has no effect on scale"),
        (["roll", "--surge", "1", "--batch", "2"], "leave out --batch"),
    ],
)
def test_a_plan_that_contradicts_the_state_is_refused(words: list[str], told: str) -> None:
    done = run("P1", *words)
    assert done.exit_code != 0
    assert told in str(done.exception)


def test_an_upgrade_is_a_roll_beside_the_same_roll_without_it() -> None:
    words = ("--to", "4.4", "--release", "4.3", "--assignor", "sticky", *START)
    made = document("P1", "upgrade", *words)
    assert made["plan"]["name"] == "upgrade"
    assert made["plan"]["release"] == "4.4"
    assert "same release" in [*made["variants"], *made["without_effect"]]
    assert any("the leader's release decides" in sentence for sentence in made["assumptions"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("upgrade",), "upgrade needs the release"),
        (("upgrade", "--to", "4.9"), "did you mean 4.4?"),
        (("upgrade", "--to", "4.4", "--release", "4.4"), "the group runs Kafka 4.4 already"),
        (("scale", "--to", "many"), "is no number of instances"),
    ],
)
def test_a_wrong_goal_of_a_plan_is_refused(words: tuple[str, ...], message: str) -> None:
    done = run("P5", *words)
    assert done.exit_code != 0
    assert message in f"{done.output} {done.exception}"
