"""Groups of the streams protocol in the contest: paired, each from its own target, every failure a row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TaskAssignor, TopologyDescriber
from assignment_api.plugins import discover
from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import NO_CONFIG, JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scenarios import canonical_line
from assignor_lab.scenarios.families import STREAMS_GROUP_FAMILIES
from assignor_lab.scoring.output.summary_file import picture_document
from builtin_assignors.group_sticky import GroupStickyTaskAssignor

HERE = "tests.groups.streams_group.test_group_contest:"
STICKY, IN_TURN = "group_sticky", f"{HERE}InTurn"
FAMILIES = {family.name: family for family in STREAMS_GROUP_FAMILIES}
METRICS = tuple(kind_named("streams-group").metrics(discover()))
TIMES = ("assign_ms", "assign_wall_ms", "build_ms", "metrics_ms")


class InTurn(TaskAssignor):
    """Tasks in turn over the members, independent of their previous ones."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        members = sorted(group.members)
        hands: dict[str, dict[str, list[int]]] = {member: {} for member in members}
        turn = 0
        for key in topology.subtopologies():
            for partition in range(topology.max_num_input_partitions(key)):
                hands[members[turn % len(members)]].setdefault(key, []).append(partition)
                turn += 1
        return GroupAssignment({member: MemberAssignment(tasks) for member, tasks in hands.items()})


class FailsInThirdCall(TaskAssignor):
    calls = 0

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        type(self).calls += 1
        if type(self).calls == 3:
            raise RuntimeError("no target \udcff today")
        return GroupStickyTaskAssignor().assign(group, topology)


class Mutates(TaskAssignor):
    """Removes all previous tasks from its input, and answers correctly."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        for member in group.members.values():
            object.__setattr__(member.metadata, "process_id", "one for all")
        return InTurn().assign(group, topology)


def scorer(*assignors: str, family: str = "group_rolling_restart", overrides: Sequence[str] = ()) -> Scorer:
    config = config_sources(overrides=["assignor.plugins.isolate=none", *overrides], environ={})
    return Scorer(
        JobSpec(assignors, METRICS, (family,), config=config, may_run_code=True, kind=kind_named("streams-group").name)
    )


def rows_of(seed: int, *assignors: str, family: str = "group_rolling_restart") -> list[dict[str, Any]]:
    rows = scorer(*assignors, family=family).rows(WorkItem(0, 0, family=family, seed=seed))
    return [{key: value for key, value in row.items() if key not in TIMES} for row in rows]


def state(seed: int = 3, number: int = 1) -> WorkItem:
    history = FAMILIES["group_histories"].history(seed)
    document = [history.round(each, None) for each in range(number + 1)][-1]
    return WorkItem(0, 0, document=canonical_line(document).decode(), file="groups.jsonl", line=1)


def by_assignor(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["assignor"] == name]


def test_a_row_has_the_size_the_answer_and_every_figure() -> None:
    document = json.loads(state().document or "")
    row = by_assignor(scorer(STICKY).rows(state()), STICKY)[0]
    tasks = sum(each["tasks"] for each in document["subtopologies"])
    stateful = sum(each["tasks"] for each in document["subtopologies"] if each["stateful"])
    processes = {member["process_id"] for member in document["members"]}
    assert (row["clients"], row["members"], row["tasks"], row["stateful_tasks"]) == (
        len(processes),
        len(document["members"]),
        tasks,
        stateful,
    )
    assert (row["finding_count"], row["followup"], len(row["answer_digest"])) == (0, False, 16)
    assert (row["validation"], row["equals_observed"], row["racks_unknown"], row["error_type"]) == (None,) * 4
    assert row["tasks_not_assigned"] == 0.0
    assert set(METRICS) <= row.keys()


@pytest.mark.slow
def test_the_first_round_is_the_same_for_all_and_then_each_goes_on_from_its_own_target() -> None:
    rows = rows_of(4, STICKY, IN_TURN, family="group_scale_out")
    sticky, in_turn = by_assignor(rows, STICKY), by_assignor(rows, IN_TURN)
    assert [row["round"] for row in sticky] == list(range(7))
    assert {row["tasks_kept_on_member"] for row in (sticky[0], in_turn[0])} == {None}
    # Sticky keeps its own tasks in the uneventful round, and so does an assignor that deals in the same order again.
    assert [row["tasks_kept_on_member"] for row in (sticky[1], in_turn[1])] == [1.0, 1.0]
    assert sum(row["stateful_actives_moved"] for row in sticky) < sum(row["stateful_actives_moved"] for row in in_turn)


@pytest.mark.slow
def test_alone_an_assignor_has_the_rows_that_it_has_beside_others() -> None:
    assert by_assignor(rows_of(5, IN_TURN, STICKY), STICKY) == rows_of(5, STICKY)


@pytest.mark.slow
def test_after_a_failed_round_everybody_keeps_its_target_and_the_history_goes_on() -> None:
    FailsInThirdCall.calls = 0
    rows = rows_of(1, f"{HERE}FailsInThirdCall", STICKY, family="group_steady_state")
    failing = by_assignor(rows, f"{HERE}FailsInThirdCall")
    assert [row["error_type"] for row in failing] == [None, None, "RuntimeError", None, None]
    assert failing[2]["error_message"] == "no target \\udcff today"
    assert all(failing[2][metric] is None for metric in METRICS)
    # In the steady state the target of round 1 is that of all later ones.
    assert [row["answer_digest"] for row in failing if row["answer_digest"]] == [
        row["answer_digest"] for row in by_assignor(rows, STICKY) if row["round"] != 2
    ]


@pytest.mark.slow
def test_who_changes_its_input_costs_nobody_else_anything() -> None:
    rows = scorer(f"{HERE}Mutates", STICKY).rows(state())
    assert [row["error_type"] for row in rows] == ["InputMutatedError", None]
    assert rows[1]["answer_digest"] == scorer(STICKY).rows(state())[0]["answer_digest"]


def test_a_group_without_members_is_a_failed_row_with_kafkas_exception() -> None:
    empty = {**json.loads(state().document or ""), "members": []}
    (row,) = scorer(STICKY).rows(WorkItem(0, 0, document=json.dumps(empty), file="g.jsonl", line=1))
    assert (row["error_type"], row["members"]) == ("GroupAssignorError", 0)
    assert row["error_java_type"].endswith("TaskAssignorException")


def test_configuration_replaces_single_keys_of_a_scenario() -> None:
    plain, more = (
        scorer(STICKY, overrides=[f"num.standby.replicas={standbys}"]).rows(state())[0] for standbys in (0, 2)
    )
    assert plain["answer_digest"] != more["answer_digest"]
    assert more["standbys_missing"] == 0.0


def test_a_number_of_standbys_that_kafka_could_not_parse_is_a_failed_row() -> None:
    document = json.loads(state().document or "")
    document["config"]["num.standby.replicas"] = 2**40
    (row,) = scorer(STICKY).rows(WorkItem(0, 0, document=json.dumps(document), file="g.jsonl", line=1))
    assert (row["error_type"], row["clients"], row["scenario"]) == ("GroupConfigError", None, document["id"])


def test_an_assignor_that_is_not_here_has_rows_that_say_so() -> None:
    rows = rows_of(0, "nowhere", STICKY, family="group_steady_state")
    assert [row["error_type"] for row in by_assignor(rows, "nowhere")] == ["UnknownPluginError"] * 5
    assert [row["error_type"] for row in by_assignor(rows, STICKY)] == [None] * 5


def test_a_history_tells_in_its_last_row_when_an_assignor_came_to_rest() -> None:
    rows = by_assignor(rows_of(2, STICKY, family="group_scale_out"), STICKY)
    assert all(row["rounds_to_converge"] is None for row in rows[:-1])
    assert rows[-1]["rounds_to_converge"] >= 1.0
    assert rows[-1]["not_converged"] == 0.0


@pytest.mark.slow
def test_equal_answers_have_equal_digits_whatever_their_order() -> None:
    (first,) = scorer(IN_TURN).rows(state())
    document = json.loads(state().document or "")
    document["members"].reverse()
    (second,) = scorer(IN_TURN).rows(WorkItem(0, 0, document=json.dumps(document), file="g.jsonl", line=1))
    assert first["answer_digest"] == second["answer_digest"]


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_scored_without_a_failure(family: str) -> None:
    rows = rows_of(7, STICKY, IN_TURN, family=family)
    assert len(rows) == 2 * FAMILIES[family].rounds
    assert {row["error_type"] for row in rows} == {None}
    assert {row["metric_errors"] for row in rows} == {None}


def test_scenarios_stand_under_their_own_configuration() -> None:
    spec = JobSpec((STICKY,), METRICS, config=NO_CONFIG, kind="streams-group")
    document = json.loads(state().document or "")
    rows = []
    for standbys in (0, 1):
        document["config"] = {"num.standby.replicas": standbys}
        rows += Scorer(spec).rows(WorkItem(0, 0, document=json.dumps(document), file="g.jsonl", line=1))
    assert rows[0]["standby_tasks_per_member_range"] == 0.0
    assert rows[0]["answer_digest"] != rows[1]["answer_digest"]


# --- pictures ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_picture_has_a_row_for_each_member_with_its_process() -> None:
    item = state()
    ((number, shown_picture),) = scorer(STICKY, IN_TURN).pictures(item, {(0, 0): None})
    picture = picture_document(shown_picture)
    document = json.loads(item.document or "")
    assert (number, picture["scenario"]) == (0, document["id"])
    shown = [(client["process"], client["process_id"]) for client in picture["clients"]]
    assert sorted(shown) == sorted((member["process_id"], member["id"]) for member in document["members"])
    # Those of one process are adjacent.
    processes = [process for process, _ in shown]
    assert [each for index, each in enumerate(processes) if each != processes[index - 1] or not index] == list(
        dict.fromkeys(processes)
    )
    assert [answer["assignor"] for answer in picture["after"]] == [STICKY, IN_TURN]
    for answer in picture["after"]:
        active = [task for held in answer["assignment"].values() for task in held["active"]]
        assert sorted(active) == sorted(task["id"] for task in picture["tasks"])
    json.dumps(picture)


@pytest.mark.slow
def test_in_a_later_round_a_picture_is_of_one_assignors_state_with_the_answers_to_that() -> None:
    item = WorkItem(0, 0, family="group_scale_out", seed=4)
    contest = scorer(STICKY, IN_TURN, family="group_scale_out")
    ((_, shown_picture),) = contest.pictures(item, {(0, 3): IN_TURN})
    picture = picture_document(shown_picture)
    assert [answer["assignor"] for answer in picture["after"]] == [IN_TURN]


def test_a_failure_is_in_the_picture() -> None:
    ((_, shown_picture),) = scorer(STICKY, "nowhere").pictures(state(), {(0, 0): None})
    picture = picture_document(shown_picture)
    assert [answer["error"] and answer["error"]["type"] for answer in picture["after"]] == [None, "UnknownPluginError"]
    assert picture["after"][1]["assignment"] is None
