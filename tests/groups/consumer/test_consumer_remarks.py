"""The strategy of a group, and behaviours of Kafka that an answer shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.consumer import PartitionAssignment
from assignor_lab.cli.main import main
from assignor_lab.groups.consumer.kind import CONSUMER
from assignor_lab.kafka.wire.connect.errors import InconsistentProtocolsError
from assignor_lab.scenarios import Place, Scenario, scenario_from_document

CONSUMER_NOTHING = PartitionAssignment({})


def member(name: str, **fields: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "client_id": None,
        "instance_id": None,
        "rack": None,
        "owned": {},
        "generation": None,
        "user_data": None,
    }
    return {"id": name, **plain, "topics": ["t"], **fields}


def group(*members: dict[str, Any], partitions: int = 2, racks: Any = None) -> dict[str, Any]:
    topics = [{"name": "t", "partitions": partitions, "racks": racks}]
    return {"format": 1, "kind": "consumer", "id": "g", "topics": topics, "members": list(members)}


def scenario(*lists: list[str] | None) -> Scenario:
    members = [
        member(f"m{number}", **({} if each is None else {"strategies": each})) for number, each in enumerate(lists)
    ]
    return scenario_from_document(group(*members), Place("file"))


def test_the_group_uses_the_strategy_with_most_votes_among_the_common_ones() -> None:
    assert CONSUMER.usual(scenario(["sticky", "range"], ["range", "sticky"], ["range", "sticky", "x"])) == "range"
    assert CONSUMER.usual(scenario(["cooperative-sticky", "range"], ["range"])) == "range"


def test_without_lists_the_strategy_is_unknown() -> None:
    assert CONSUMER.usual(scenario(["range"], None)) is None
    assert CONSUMER.usual(scenario()) is None


def test_members_without_a_common_strategy_are_named() -> None:
    with pytest.raises(InconsistentProtocolsError, match="m0 lists range; m1 lists sticky"):
        CONSUMER.usual(scenario(["range"], ["sticky"]))


def answered(tmp_path: Path, document: dict[str, Any], assignor: str, capsys: pytest.CaptureFixture[str]) -> str:
    file = tmp_path / "group.jsonl"
    file.write_text(json.dumps(document) + "\n")
    with pytest.raises(SystemExit):
        main(["assign", "--assignor", assignor, str(file), "--out", str(tmp_path / "out.jsonl")])
    return " ".join(capsys.readouterr().err.split())


def test_a_partition_in_another_rack_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    members = [member(f"m{number}", rack=("a", "b", "a")[number]) for number in range(3)]
    racks = [[("a", "b")[number % 2]] for number in range(8)]
    told = answered(tmp_path, group(*members, partitions=8, racks=racks), "sticky", capsys)
    assert "in another rack: the sticky assignors take them away in every rebalance" in told


def test_a_member_without_a_subscription_and_its_partition_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = answered(tmp_path, group(member("a", topics=[]), member("b")), "range", capsys)
    assert "1 member without a subscribed topic that exists: a" in told


def test_a_misspelt_strategy_is_answered_with_the_near_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = answered(tmp_path, group(member("a")), "stickyy", capsys)
    assert "unknown consumer assignor 'stickyy'; did you mean 'sticky'? Installed: consumer_range" in told


def test_uneven_topics_are_named_though_each_member_has_as_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """librdkafka 4044: two topics of 18 partitions and nine members."""
    document = {
        **group(),
        "topics": [{"name": name, "partitions": 18, "racks": None} for name in ("a", "b")],
        "members": [
            member(
                f"m{number}", topics=["a", "b"], generation=3,
                owned={"a": list(range(4 * number, min(4 * number + 4, 18)))},
            )
            for number in range(9)
        ],
    }  # fmt: skip
    said = answered(tmp_path, document, "consumer_cooperative_sticky", capsys)
    assert "uneven shares of members" in said
    assert "balance the sum over topics, not each topic" in said
    assert "uneven shares" not in answered(tmp_path, document, "consumer_range", capsys)


def test_a_large_group_with_unequal_topics_is_named_as_slow() -> None:
    from assignor_lab.groups.consumer.behaviours import remarks_of
    from assignor_lab.groups.consumer.rounds import AppliedAssignment, PartitionState

    members = [member(f"m{number:04}", topics=["t"] if number else ["t", "u"]) for number in range(1_000)]
    read = scenario_from_document(group(*members, partitions=1_000), Place("file"))
    nothing = AppliedAssignment(
        CONSUMER_NOTHING, stops_all=False, state=PartitionState(read.content), assignor="consumer_sticky"
    )
    assert not any("compares every pair" in each for each in remarks_of(nothing))
    document = group(*members, partitions=1_000)
    document["topics"].append({"name": "u", "partitions": 1, "racks": None})
    read = scenario_from_document(document, Place("file"))
    nothing = AppliedAssignment(
        CONSUMER_NOTHING, stops_all=False, state=PartitionState(read.content), assignor="consumer_sticky"
    )
    (said,) = [each for each in remarks_of(nothing) if "compares every pair" in each]
    assert said.startswith("members differ in their topics: sticky compares every pair")
