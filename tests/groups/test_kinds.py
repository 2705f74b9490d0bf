from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TaskAssignor, TopologyDescriber
from assignment_api.plugins import Found, GroupAssignorPlugin, config_sources, discover
from assignor_lab.cli.main import main
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.groups.streams_group.assignor_calls import invoke_group
from assignor_lab.runtime.invocation import CallOutcome
from assignor_lab.scenarios import Scenario, ScenarioKindError, read_scenarios

DATA = Path(__file__).parents[1] / "data"
GROUPS = DATA / "golden" / "streams-group"
GROUP_FILE = GROUPS / "sticky.scenarios.jsonl.gz"
STREAMS_FILE = DATA / "golden" / "streams" / "small.scenarios.jsonl.gz"


def first(file: Path) -> Scenario:
    return next(iter(read_scenarios(file)))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_the_command_gives_kafkas_answers_for_groups(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", "group_sticky", "--release", "4.3", str(GROUP_FILE), "--out", str(out)])
    assert left.value.code == 0
    with gzip.open(GROUPS / "sticky.group_sticky.results.jsonl.gz", "rt", encoding="utf-8") as recorded:
        expected = [json.loads(line) for line in recorded]
    found = lines(out)
    for row in found:
        if row["error"]:
            assert row["error"]["type"] == "GroupAssignorError"
            row["error"] = {"type": row["error"]["java_type"], "message": row["error"]["message"]}
    assert found == expected


@pytest.mark.slow
def test_the_command_gives_the_newer_releases_answers_for_groups(tmp_path: Path) -> None:
    out, folder = tmp_path / "out.jsonl", DATA / "golden" / "streams-group-4.4"
    scenarios = str(folder / "medium.scenarios.jsonl.gz")
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", "group_sticky_4_4", scenarios, "--out", str(out)])
    assert left.value.code == 0
    with gzip.open(folder / "medium.group_sticky_4_4.results.jsonl.gz", "rt", encoding="utf-8") as recorded:
        assert lines(out) == [json.loads(line) for line in recorded]


@pytest.mark.slow
def test_explicit_configuration_asks_for_standbys(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ["assign", "--assignor", "group_sticky", "-c", "num.standby.replicas=0", str(GROUP_FILE)]
    with pytest.raises(SystemExit):
        main([*arguments, "--out", str(out)])
    assert not any(target["standby"] for row in lines(out) for target in (row["members"] or {}).values())


@pytest.mark.parametrize(
    ("assignor", "file", "kind"),
    [
        ("sticky", GROUP_FILE, "streams-group"),
        ("utils.identity", GROUP_FILE, "streams-group"),
        ("threads", GROUP_FILE, "streams-group"),
        ("group_sticky", STREAMS_FILE, "streams"),
        ("assignor-lab:group_sticky", STREAMS_FILE, "streams"),
    ],
)
def test_an_assignor_of_another_kind_is_wrong_use(
    assignor: str, file: Path, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", assignor, str(file), "--out", str(out)])
    assert left.value.code == 2
    message = capsys.readouterr().err
    assert f"line 1: scenario '{first(file).id}' is of kind '{kind}', and {assignor} answers" in message
    assert not out.exists()


@pytest.mark.slow
def test_the_conversion_is_a_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group, out = tmp_path / "group.jsonl.gz", tmp_path / "out.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["convert", str(STREAMS_FILE), "--out", str(group)])
    assert left.value.code == 0
    assert "assumed: which consumer had a previous task" in capsys.readouterr().err
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", "group_sticky", str(group), "--out", str(out)])
    assert left.value.code == 0
    assert [row["id"] for row in lines(out)] == [scenario.id for scenario in read_scenarios(STREAMS_FILE)]


def test_a_group_cannot_be_converted_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["convert", str(GROUP_FILE), "--out", str(tmp_path / "out.jsonl")])
    assert left.value.code == 2
    assert "is of kind 'streams-group'" in capsys.readouterr().err


def test_the_kinds_of_a_name_are_known() -> None:
    registry = discover()
    assert registry.assignor_kinds("group_sticky") == ("group-assignor",)
    assert registry.assignor_kinds("assignor-lab:Group-Sticky") == ("group-assignor",)
    assert registry.assignor_kinds("high_availability") == ("task-assignor",)
    assert registry.assignor_kinds("default") == ("task-assignor",)
    assert registry.assignor_kinds("nothing_of_this_name") == ()
    assert registry.assignor_kinds("other-distribution:group_sticky") == ()


def test_a_wrong_kind_is_an_error_of_its_own() -> None:
    answer = answerer("sticky", discover(), AnswerOptions(config_sources(environ={})))
    with pytest.raises(ScenarioKindError):
        answer(first(GROUP_FILE))


# --- permissions of plugins ---------------------------------------------------------------------------


def outcome(answer: Any, distribution: str = "somebody") -> CallOutcome[GroupAssignment]:
    class Mine(TaskAssignor):
        def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
            return answer(group, topology)  # type: ignore[no-any-return]

    found = Found("mine", GroupAssignorPlugin("mine", Mine), distribution, "1")
    scenario = first(GROUP_FILE)
    return invoke_group(found, scenario.group_spec, scenario.topology, {})


def nothing(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    return GroupAssignment({})


def leaves(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("answer", "failure", "says"),
    [
        (lambda group, topology: None, "InvalidAnswerError", "expected GroupAssignment"),
        (lambda group, topology: GroupAssignment({"m1": 1}), "InvalidAnswerError", "members"),  # type: ignore[dict-item]
        (lambda group, topology: GroupAssignment({"who": MemberAssignment()}), "InvalidAnswerError", "no member 'who'"),
        (
            lambda group, topology: GroupAssignment({next(iter(group.members)): MemberAssignment({"99": [0]})}),
            "InvalidAnswerError",
            "does not have",
        ),
        (
            lambda group, topology: GroupAssignment({next(iter(group.members)): MemberAssignment({"0": ["x"]})}),  # type: ignore[list-item]
            "InvalidAnswerError",
            "active_tasks",
        ),
        (leaves, "SystemExit", "3"),
    ],
)
def test_what_is_no_answer_is_a_failure_row(answer: Any, failure: str, says: str) -> None:
    found = outcome(answer)
    assert found.answer is None
    assert found.failure is not None
    assert found.failure.type == failure
    assert says in found.failure.message


def test_an_answer_that_leaves_members_out_is_one() -> None:
    assert outcome(nothing).answer == GroupAssignment({})


def test_a_factory_that_makes_something_else_is_a_failure_row() -> None:
    found = Found("mine", GroupAssignorPlugin("mine", dict), "somebody", "1")  # type: ignore[arg-type]
    scenario = first(GROUP_FILE)
    failed = invoke_group(found, scenario.group_spec, scenario.topology, {}).failure
    assert failed is not None
    assert failed.type == "PluginLoadError"
