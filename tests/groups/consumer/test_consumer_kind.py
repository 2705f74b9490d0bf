"""The kinds of consumer groups: metrics computed by hand, result lines, and other processes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.consumer import (
    ConsumerGroupState,
    ConsumerPartitionAssignor,
    ConsumerSubscription,
    ConsumerTopic,
    PartitionAssignment,
)
from assignment_api.plugins import Found, PartitionAssignorPlugin, Policy, discover
from assignor_lab.cli.main import main
from assignor_lab.groups.consumer.assignor_calls import CONSUMER_CALLS
from assignor_lab.groups.consumer.kind import CONSUMER, CONSUMER_GROUP, SHARE_GROUP
from assignor_lab.groups.consumer.metrics import CONSUMER_METRICS, METRICS_BY_KIND
from assignor_lab.groups.consumer.placement import placement_of
from assignor_lab.groups.consumer.rounds import AppliedAssignment, PartitionState
from assignor_lab.groups.consumer.transfer import answer_document, answer_in, packed_group, received_consumers
from assignor_lab.groups.entries import kind_named
from assignor_lab.runtime.assignor_calls import InProcessAssignor
from assignor_lab.runtime.isolation.errors import AnswerFormatError
from assignor_lab.scenarios import Place, scenario_from_document

GOLDEN = Path(__file__).parents[2] / "data" / "golden" / "consumer"
SCENARIOS = GOLDEN / "consumer-edge.scenarios.jsonl.gz"


def state(rates: Any = None) -> PartitionState:
    racks = (("a",), ("b",), ("a",), ("b",))
    topics = {name: ConsumerTopic(name, 4, racks) for name in ("left", "right")}
    members = {
        "x": ConsumerSubscription(["left", "right"], {"left": (0, 1), "right": (0, 1)}, 1, rack_id="a"),
        "y": ConsumerSubscription(["left", "right"], {"left": (2, 3), "right": (2, 3)}, 1, rack_id="b"),
        "z": ConsumerSubscription(["left", "right"], rack_id="a"),
    }
    return PartitionState(ConsumerGroupState(topics, members), rates)


ANSWER = PartitionAssignment({"x": {"left": (0, 1), "right": (0,)}, "y": {"left": (2,), "right": (1, 2, 3)}, "z": {}})


def figures(answer: PartitionAssignment, *, stops_all: bool, rates: Any = None) -> dict[str, float | None]:
    placement = placement_of(state(rates), AppliedAssignment(answer, stops_all))
    return {metric.name: metric.figure(placement) for metric in CONSUMER_METRICS}


def test_movement_under_the_cooperative_protocol() -> None:
    found = figures(ANSWER, stops_all=False)
    # right-1 goes from x to y, left-3 waits.
    assert found["partitions_moved"] == 2
    assert found["partitions_revoked"] == 2
    assert found["partitions_revoked_and_returned"] == 0
    assert found["partitions_waiting"] == 1
    assert found["partitions_not_assigned"] == 0


def test_under_the_eager_protocol_all_partitions_stop_and_none_waits() -> None:
    found = figures(ANSWER, stops_all=True)
    assert found["partitions_revoked"] == 8
    assert found["partitions_revoked_and_returned"] == 6
    assert found["partitions_waiting"] == 0
    assert found["partitions_not_assigned"] == 1


def test_balance_racks_and_co_partitioning() -> None:
    found = figures(ANSWER, stops_all=True)
    assert found["partitions_per_member_range"] == 4
    # 7 placed partitions: an even share is 3.
    assert found["partitions_above_even_share"] == 1
    assert found["topic_partitions_per_member_range"] == 3
    assert found["idle_members"] == 1
    # left-1 on x and right-1 on y; left-3 has no member, right-3 has.
    assert found["co_partitions_split"] == 2
    # left-1 on x (rack a); left-2 and right-2 on y (rack b).
    assert found["partition_racks_crossed"] == 3


def test_rates_give_bytes_across_zones_and_the_busiest_member() -> None:
    rates = {"left": {1: 10.0, 2: 30.0}, "right": {0: 20.0}}
    found = figures(ANSWER, stops_all=True, rates=rates)
    assert found["partition_cross_zone_bytes_per_s"] == 40.0
    # x and y read 30 of 60 bytes each, and the mean of three members is 20.
    assert found["partition_input_above_even_share"] == pytest.approx(0.5)
    assert figures(ANSWER, stops_all=True)["partition_input_above_even_share"] is None


def test_without_reports_moves_are_unknown() -> None:
    topics = {"t": ConsumerTopic("t", 1)}
    group = ConsumerGroupState(topics, {"x": ConsumerSubscription(["t"])})
    placement = placement_of(PartitionState(group), AppliedAssignment(PartitionAssignment({"x": {"t": (0,)}}), True))
    found = {metric.name: metric.figure(placement) for metric in CONSUMER_METRICS}
    assert found["partitions_moved"] is None
    assert found["partition_racks_crossed"] is None


def test_eager_members_are_measured_by_what_they_ran() -> None:
    topics = {"t": ConsumerTopic("t", 4)}
    group = ConsumerGroupState(topics, {"x": ConsumerSubscription(["t"]), "y": ConsumerSubscription(["t"])})
    ran = {"x": {"t": (0, 1, 2, 3)}, "y": {}}
    answer = AppliedAssignment(PartitionAssignment({"x": {"t": (0, 1)}, "y": {"t": (2, 3)}}), True)
    placement = placement_of(PartitionState(group, ran=ran), answer)
    found = {metric.name: metric.figure(placement) for metric in CONSUMER_METRICS}
    assert found["partitions_moved"] == 2
    assert found["partitions_revoked"] == 4
    assert found["partitions_revoked_and_returned"] == 2


@pytest.mark.parametrize("assignor", ["cooperative-sticky", "sticky", "range"])
def test_a_sticky_strategy_knows_what_eager_members_ran(assignor: str, tmp_path: Path) -> None:
    member: dict[str, Any] = {
        "client_id": None,
        "instance_id": None,
        "rack": None,
        "topics": ["t"],
        "owned": {},
        "generation": None,
    }
    members = [
        {**member, "id": "x", "user_data": None, "ran": {"t": [2, 3, 4]}},
        {**member, "id": "y", "user_data": None, "ran": {"t": [0, 1]}},
    ]
    document = {
        "format": 1, "kind": "consumer", "id": "c", "topics": [{"name": "t", "partitions": 5, "racks": None}],
        "members": members, "observed": {"assignor": "range", "members": {"x": {"t": [0, 1, 2]}, "y": {"t": [3, 4]}}},
    }  # fmt: skip
    file = tmp_path / "group.jsonl"
    file.write_text(json.dumps(document) + "\n")
    with pytest.raises(SystemExit) as left:
        main(["assign", str(file), "--assignor", assignor, "--out", str(tmp_path / "answer.jsonl")])
    assert left.value.code == 0
    answer = json.loads((tmp_path / "answer.jsonl").read_text())
    found = {identity: sorted(given["t"]) for identity, given in answer["members"].items()}
    assert found == ({"x": [0, 1, 2], "y": [3, 4]} if assignor == "range" else {"x": [2, 3, 4], "y": [0, 1]})


def test_the_newest_claim_is_the_owner_before() -> None:
    group = ConsumerGroupState(
        {"t": ConsumerTopic("t", 1)},
        {
            "old": ConsumerSubscription(["t"], {"t": (0,)}, 1),
            "new": ConsumerSubscription(
                ["t"], user_data=bytes.fromhex("0000000100017400000001" + "00000000" + "00000002")
            ),
        },
    )
    answer = AppliedAssignment(PartitionAssignment({"new": {"t": (0,)}}), stops_all=False)
    placement = placement_of(PartitionState(group), answer)
    assert placement.state.before == [[1]]


def test_every_metric_is_in_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "metrics.md").read_text(encoding="utf-8")
    for metric in METRICS_BY_KIND["consumer"]:
        if metric.group != "life cycle":
            line = f"| `{metric.name}` | {metric.unit} | {metric.direction} | {metric.summary} | {metric.unavoidable} |"
            assert line in page


@pytest.mark.parametrize(
    ("kind", "name"), [(CONSUMER, "consumer"), (CONSUMER_GROUP, "consumer-group"), (SHARE_GROUP, "share-group")]
)
def test_the_kinds_are_found_by_name(kind: object, name: str) -> None:
    assert kind_named(name) is kind


@pytest.mark.parametrize("assignor", ["sticky", "org.apache.kafka.clients.consumer.StickyAssignor"])
def test_the_command_gives_kafkas_lines(assignor: str, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", assignor, str(SCENARIOS), "--out", str(out)])
    assert left.value.code == 0
    with gzip.open(GOLDEN / "consumer-edge.consumer_sticky.results.jsonl.gz", "rt", encoding="utf-8") as recorded:
        expected = [json.loads(line) for line in recorded]
    for found, row in zip(map(json.loads, out.read_text().splitlines()), expected, strict=True):
        if row["error"]:
            assert found["error"]["java_type"] == row["error"]["type"]
            assert found["members"] is None
        else:
            assert json.dumps(found) == json.dumps(row)


def test_an_assignor_of_streams_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", "high_availability", str(SCENARIOS), "--out", str(tmp_path / "out")])
    assert left.value.code != 0
    assert "kind 'consumer'" in capsys.readouterr().err


def test_a_state_travels_to_another_process_and_back() -> None:
    group = state().group
    assert isinstance(group, ConsumerGroupState)
    assert received_consumers(*packed_group(group)) == group
    assert answer_in(group, json.loads(json.dumps(answer_document(ANSWER)))) == ANSWER


@pytest.mark.parametrize(
    "document",
    [None, {"members": 1}, {"members": [["x"]]}, {"members": [["nobody", []]]}, {"members": [["x", [["left", [-1]]]]]},
     {"members": [["x", [["left", [True]]]]]}, {"members": [["x", []], ["x", []]]}],
)  # fmt: skip
def test_a_forged_answer_is_refused(document: object) -> None:
    with pytest.raises(AnswerFormatError):
        answer_in(state().group, document)


class Careless(ConsumerPartitionAssignor):
    def assign(self, group: ConsumerGroupState) -> PartitionAssignment:
        return PartitionAssignment({"x": {"left": (7,)}})


def test_a_partition_that_does_not_exist_is_refused() -> None:
    found = Found("careless", PartitionAssignorPlugin("careless", Careless), None, None)
    outcome = InProcessAssignor(CONSUMER_CALLS, found, {}).ask(state().group)
    assert outcome.failure is not None
    assert "a partition that does not exist" in outcome.failure.message


def test_named_code_is_found_by_its_interface() -> None:
    registry = discover(Policy(), installed=())
    selector = f"{__name__}:Careless"
    assert registry.assignor_kinds(selector, may_run_code=True) == ("consumer-assignor",)
    assert registry.partition_assignor("consumer-assignor", selector, may_run_code=True).plugin.factory is Careless


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"topics": [{"name": "t", "partitions": 2, "racks": [["a"]]}]}, "topics[0].racks"),
        ({"topics": [{"name": "t", "partitions": 10**9, "racks": None}]}, "topics[0].partitions"),
        ({"max_generation": "1"}, "max_generation"),
        ({"members": [{"id": "a"}]}, "members[0]"),
    ],
)
def test_a_document_outside_the_format_is_refused_with_its_place(change: dict[str, Any], place: str) -> None:
    document = {"format": 1, "kind": "consumer", "id": "s", "topics": [], "members": [], **change}
    with pytest.raises(Exception, match=place.replace("[", r"\[").replace("]", r"\]")):
        scenario_from_document(document, Place("file"))


def gaps(answer: PartitionAssignment) -> dict[str, tuple[float, float]]:
    found = CONSUMER.gaps(state(), AppliedAssignment(answer, stops_all=True))
    return {} if found is None else {goal: (gap.value, gap.bound) for goal, gap in found.items()}


def test_a_gap_is_the_avoidable_part_of_a_goal() -> None:
    even = PartitionAssignment(
        {"x": {"left": (0,), "right": (0, 1)}, "y": {"left": (2, 3), "right": (3,)}, "z": {"left": (1,), "right": (2,)}}
    )
    found = gaps(even)
    assert list(found["balance"]) == [3, 3]
    assert list(found["moves"]) == [2, 2]
    # left-1, left-2 and right-1 are read from the other rack; with two moves alone that is the least.
    assert list(found["racks"]) == [3, 3]


def test_a_partition_without_a_member_has_no_gap() -> None:
    assert gaps(ANSWER) == {}
