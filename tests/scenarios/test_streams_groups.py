"""Scenarios of kind ``streams-group``: their values, refusals, and the conversion of a Streams group."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignment_api.group import (
    AssignmentConfigs,
    GroupAssignment,
    GroupConfigError,
    GroupMember,
    MemberAssignment,
    MemberAssignmentState,
    MemberMetadata,
    Subtopology,
    TaskId,
    TopologyDescriber,
)
from assignor_lab.scenarios import (
    DocumentFormatError,
    Place,
    Scenario,
    ScenarioKindError,
    error_row,
    group_document,
    group_result_row,
    read_scenarios,
    scenario_from_document,
    write_lines,
)
from tests.scenarios.documents import refusal, streams_document

DATA = Path(__file__).parents[1] / "data"

MEMBER: dict[str, Any] = {
    "id": "m1",
    "instance_id": "i1",
    "rack": "r1",
    "process_id": "p1",
    "tags": {"zone": "a"},
    "active": {"10": [1], "0": [3, 0], "2": []},
    "standby": {"0": [1]},
    "warmup": {"0": [2]},
    "task_offsets": {"0": {"0": 10}},
    "task_end_offsets": {"0": {"0": 12}},
}
GROUP: dict[str, Any] = {
    "format": 1,
    "kind": "streams-group",
    "id": "g",
    "config": {"num.standby.replicas": 1},
    "subtopologies": [{"id": "2", "tasks": 1, "stateful": False}, {"id": "0", "tasks": 4, "stateful": True}],
    "members": [MEMBER],
}


def group(**changes: Any) -> Scenario:
    return scenario_from_document({**copy.deepcopy(GROUP), **changes}, Place("test.jsonl", 1))


# --- values of a document ---------------------------------------------------------------------------


def test_a_member_has_everything_that_the_document_says() -> None:
    assert group().group_spec.members == {
        "m1": GroupMember(
            MemberMetadata("p1", "i1", "r1", {"zone": "a"}),
            MemberAssignmentState(
                {"0": (0, 3), "10": (1,)}, {"0": (1,)}, {"0": (2,)}, {TaskId("0", 0): 10}, {TaskId("0", 0): 12}
            ),
        )
    }
    assert list(group().group_spec.members["m1"].state.active_tasks) == ["0", "10"]


def test_the_topology_is_sorted_as_texts() -> None:
    assert group().topology.subtopologies() == ("0", "2")
    assert group().topology == TopologyDescriber([Subtopology("0", 4, True), Subtopology("2", 1, False)])


def test_of_two_sub_topologies_with_one_id_the_last_one_counts() -> None:
    twice = [{"id": "0", "tasks": 4, "stateful": True}, {"id": "0", "tasks": 2, "stateful": False}]
    assert group(subtopologies=twice).topology == TopologyDescriber([Subtopology("0", 2, False)])


def test_members_keep_the_order_of_the_document() -> None:
    names = ["b", "a", "c"]
    assert group(members=[{**MEMBER, "id": name} for name in names]).member_ids == tuple(names)


def test_an_empty_config_means_no_standbys() -> None:
    assert group(config={}).group_spec.configs == AssignmentConfigs(0)


def test_explicit_configuration_replaces_the_scenarios_own() -> None:
    spec = group().group_spec_with({"num.standby.replicas": 2, "max.warmup.replicas": 5})
    assert spec.configs == AssignmentConfigs(2)
    assert group(config={}).group_spec_with({"max.warmup.replicas": 5}).configs == AssignmentConfigs(0)


def test_a_config_may_name_the_tags_of_racks() -> None:
    config = {"num.standby.replicas": 1, "rack.aware.assignment.tags": ["zone", "cluster"]}
    assert group(config=config).group_spec.configs == AssignmentConfigs(1, ("zone", "cluster"))
    spec = group(config=config).group_spec_with({"rack.aware.assignment.tags": "region"})
    assert spec.configs == AssignmentConfigs(1, ("region",))


def test_tags_from_outside_need_no_number_of_standbys() -> None:
    assert group(config={}).group_spec_with({"rack.aware.assignment.tags": ["zone"]}).configs == AssignmentConfigs(
        0, ("zone",)
    )


def test_tags_in_the_file_need_the_number_of_standbys_as_kafkas_map_does() -> None:
    with pytest.raises(GroupConfigError):
        _ = group(config={"rack.aware.assignment.tags": ["zone"]}).group_spec


def test_a_number_that_kafka_could_not_parse_is_no_fault_of_the_file() -> None:
    with pytest.raises(GroupConfigError):
        _ = group(config={"num.standby.replicas": 2**31}).group_spec


def test_a_group_has_no_streams_application_and_the_other_way_round() -> None:
    with pytest.raises(ScenarioKindError, match="no Streams application"):
        _ = group().application
    streams = scenario_from_document(streams_document(), Place("test.jsonl", 1))
    with pytest.raises(ScenarioKindError, match="no group of the broker-side protocol"):
        _ = streams.group_spec
    with pytest.raises(ScenarioKindError):
        _ = streams.topology


# --- refusals ---------------------------------------------------------------------------------------


def with_member(**changes: Any) -> dict[str, Any]:
    return {**GROUP, "members": [{**MEMBER, **changes}]}


def without(document: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


@pytest.mark.parametrize("key", ["config", "subtopologies", "members"])
def test_every_key_of_a_group_is_required(key: str) -> None:
    assert refusal(without(GROUP, key)).key == key


@pytest.mark.parametrize("key", sorted(MEMBER))
def test_every_key_of_a_member_is_required(key: str) -> None:
    assert refusal({**GROUP, "members": [without(MEMBER, key)]}).key == f"members[0].{key}"


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({**GROUP, "params": {}}, "params"),
        ({**GROUP, "observed": {}}, "observed.members"),
        ({**GROUP, "observed": {"members": {"m1": {"active": {}}}}}, "observed.members.m1.standby"),
        ({**GROUP, "source": {"time_ms": -1}}, "source.time_ms"),
        ({**GROUP, "assumptions": "none"}, "assumptions"),
        ({**GROUP, "config": {"max.warmup.replicas": 1}}, 'config["max.warmup.replicas"]'),
        ({**GROUP, "config": {"num.standby.replicas": None}}, 'config["num.standby.replicas"]'),
        ({**GROUP, "config": {"rack.aware.assignment.tags": "zone"}}, 'config["rack.aware.assignment.tags"]'),
        ({**GROUP, "config": {"rack.aware.assignment.tags": ["a", 1]}}, 'config["rack.aware.assignment.tags"][1]'),
        ({**GROUP, "config": {"num.standby.replicas": 10**60}}, 'config["num.standby.replicas"]'),
        ({**GROUP, "subtopologies": [{"id": "0", "tasks": -1, "stateful": True}]}, "subtopologies[0].tasks"),
        ({**GROUP, "subtopologies": [{"id": "0", "tasks": 1, "stateful": 1}]}, "subtopologies[0].stateful"),
        ({**GROUP, "subtopologies": [{"id": "0", "tasks": 1_000_001, "stateful": True}]}, "subtopologies[0].tasks"),
        ({**GROUP, "members": [MEMBER, MEMBER]}, "members[1].id"),
        (with_member(host=None), "members[0].host"),
        (with_member(process_id=None), "members[0].process_id"),
        (with_member(tags=None), "members[0].tags"),
        (with_member(active={"0": [0, 1, 0]}), 'members[0].active["0"][2]'),
        (with_member(standby={"0": [-1]}), 'members[0].standby["0"][0]'),
        (with_member(warmup={"0": ["1"]}), 'members[0].warmup["0"][0]'),
        (with_member(task_offsets={"0": [1]}), 'members[0].task_offsets["0"]'),
        (with_member(task_offsets={"0": {"01": 1}}), 'members[0].task_offsets["0"]["01"]'),
        (with_member(task_offsets={"0": {"2147483648": 1}}), 'members[0].task_offsets["0"]["2147483648"]'),
        (with_member(task_end_offsets={"0": {"1": 1.0}}), 'members[0].task_end_offsets["0"]["1"]'),
        (with_member(task_end_offsets={"0": {"1": 2**63}}), 'members[0].task_end_offsets["0"]["1"]'),
    ],
)
def test_what_is_not_in_the_format_is_refused_with_its_place(document: Any, key: str) -> None:
    error = refusal(document)
    assert (error.line, error.key) == (1, key)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(MEMBER)), _JSON)
def test_any_value_of_a_member_is_read_or_refused_there(key: str, value: Any) -> None:
    assert (_place_of_refusal(key, value) or f"members[0].{key}").startswith(f"members[0].{key}")


def _place_of_refusal(key: str, value: Any) -> str | None:
    try:
        _ = group(members=[{**MEMBER, key: value}]).group_spec
    except DocumentFormatError as error:
        return error.key
    return None


# --- result rows ------------------------------------------------------------------------------------


def test_every_member_is_in_a_result_row() -> None:
    scenario = group(members=[{**MEMBER, "id": name} for name in ("b", "a")])
    answer = GroupAssignment({"a": MemberAssignment({"10": [1], "0": [3, 0]}, {}, {"2": [0]})})
    assert group_result_row(scenario, "mine", answer) == {
        "format": 1,
        "kind": "streams-group",
        "id": "g",
        "assignor": "mine",
        "members": {
            "b": {"active": {}, "standby": {}, "warmup": {}},
            "a": {"active": {"0": [0, 3], "10": [1]}, "standby": {}, "warmup": {"2": [0]}},
        },
        "error": None,
    }


def test_a_row_without_an_answer_has_no_members() -> None:
    assert error_row(group(), "mine", "Oops", None, "why") == {
        "format": 1,
        "kind": "streams-group",
        "id": "g",
        "assignor": "mine",
        "members": None,
        "error": {"type": "Oops", "java_type": None, "message": "why"},
    }


# --- from the classic protocol ----------------------------------------------------------------------


def converted(**changes: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    result = group_document(scenario_from_document(streams_document(**changes), Place("test.jsonl", 1)))
    return result.document, result.assumptions


def test_a_consumer_becomes_a_member_with_what_it_had() -> None:
    document, assumptions = converted()
    assert [
        (member["id"], member["process_id"][-1], member["active"], member["standby"]) for member in document["members"]
    ] == [
        ("c2", "2", {"1": [0]}, {}),
        ("c1", "2", {"0": [0]}, {}),
        ("00000000-0000-0000-0000-000000000001-1", "1", {}, {"0": [0]}),
    ]
    assert [sentence.partition(" ")[0] for sentence in assumptions] == ["which", "clients"]


def test_a_converted_group_is_a_scenario() -> None:
    document, _ = converted()
    scenario = scenario_from_document(document, Place("converted.jsonl", 1))
    assert scenario.group_spec.configs == AssignmentConfigs(1)
    assert scenario.topology == TopologyDescriber([Subtopology("0", 1, True), Subtopology("1", 1, False)])
    first = document["members"][0]
    assert (first["rack"], first["tags"], first["instance_id"]) == ("r1", {"zone": "a"}, None)


def test_a_named_topology_is_part_of_the_sub_topologys_name() -> None:
    def renamed(value: Any) -> Any:
        names = {"0_0": "orders__0_0", "1_0": "orders__1_0"}
        if isinstance(value, dict):
            return {names.get(key, key): renamed(item) for key, item in value.items()}
        if isinstance(value, list):
            return [renamed(item) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    document = renamed(streams_document())
    result = group_document(scenario_from_document(document, Place("test.jsonl", 1))).document
    assert [each["id"] for each in result["subtopologies"]] == ["orders__0", "orders__1"]
    assert result["members"][1]["active"] == {"orders__0": [0]}


def test_a_gap_among_the_partitions_is_filled_and_told() -> None:
    tasks = copy.deepcopy(streams_document()["tasks"])
    tasks[1]["id"] = "1_2"
    document, assumptions = converted(tasks=tasks)
    assert document["subtopologies"][1] == {"id": "1", "tasks": 3, "stateful": False}
    assert any("lacks 2 of the partitions 0 to 2" in sentence for sentence in assumptions)


def test_every_recorded_group_can_be_seen_under_the_new_protocol() -> None:
    for name in ("warm", "tagged", "orders-2", "plain-ha"):
        for scenario in read_scenarios(DATA / "golden" / "recorded" / f"{name}.scenarios.jsonl.gz"):
            group = scenario_from_document(group_document(scenario).document, scenario.place)
            previous = {
                (str(client.process_id), str(task))
                for client in scenario.clients
                for task in client.previous_active_tasks
            }
            members = group.group_spec.members.values()
            assert {
                (member.metadata.process_id, f"{subtopology}_{partition}")
                for member in members
                for subtopology, partitions in member.state.active_tasks.items()
                for partition in partitions
            } == previous


SETTINGS = {"processing.guarantee": "exactly_once_v2", "session.timeout.ms": 10_000}


def with_settings() -> dict[str, Any]:
    document = streams_document()
    told = {
        name: {"client_id": f"shop-StreamThread-{number}-consumer", "instance_id": f"shop-{number}"}
        for number, name in enumerate(document["clients"][0]["consumers"], start=1)
    }
    clients = [{**document["clients"][0], "members": told}, *document["clients"][1:]]
    return {**document, "settings": SETTINGS, "clients": clients}


def test_a_converted_group_keeps_settings_client_ids_and_instance_ids() -> None:
    source = with_settings()
    made = group_document(scenario_from_document(source, Place("f", 1))).document
    assert made["settings"] == SETTINGS
    known = source["clients"][0]["members"]
    assert {name: known[name] for name in known} == {
        member["id"]: {key: member[key] for key in ("client_id", "instance_id")}
        for member in made["members"]
        if member["id"] in known
    }


def test_settings_and_members_come_out_of_each_format_as_they_went_in(tmp_path: Path) -> None:
    state = with_settings()
    group = group_document(scenario_from_document(state, Place("f", 1))).document
    start = {"at_ms": 0, "type": "start", "client": "late", "instance_id": "late"}
    episode = {
        "format": 1, "kind": "streams-episode", "id": "e", "initial": state, "events": [start], "until_ms": 1_000,
        "settings": SETTINGS, "timings": {},
    }  # fmt: skip
    file = tmp_path / "all.jsonl"
    write_lines(str(file), [state, group, episode])
    read = list(read_scenarios(file))
    write_lines(str(tmp_path / "again.jsonl"), [each.document for each in read])
    assert [each.document for each in read] == [state, group, episode]
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()
