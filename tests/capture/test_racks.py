"""A file of racks completes the leader's view in a log; every error in it is reported with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.groups.streams.assignor_calls import invoke
from assignor_lab.scenarios import Place, placement, scenario_from_document
from assignor_lab.scenarios.rack_provenance import RACKS_UNKNOWN, STRATEGY_UNKNOWN, racks_known
from assignor_lab.scenarios.racks import read_racks
from assignor_lab.scenarios.with_racks import RackContradictionError, RackFiller
from tests.capture.captured_logs import CAPTURES, GOLDEN, logs
from tests.capture.topologies import ORDERS
from tests.scenarios.documents import streams_document

CLIENTS = {"127.0.0.1:8081": "r1", "127.0.0.1:8082": "r2", "127.0.0.1:8083": "r3", "127.0.0.1:8084": "r1"}
#: Tasks and offsets of a member that has none.
NOTHING: dict[str, Any] = {key: {} for key in ("active", "standby", "warmup", "task_offsets", "task_end_offsets")}


def partition_racks() -> dict[str, list[list[str]]]:
    with gzip.open(GOLDEN / "orders-2.scenarios.jsonl.gz", "rt", encoding="utf-8") as lines:
        tasks = json.loads(next(lines))["tasks"]
    found: dict[str, dict[int, list[str]]] = {}
    for partition in (partition for task in tasks for partition in task["partitions"]):
        found.setdefault(partition["topic"], {})[partition["partition"]] = partition["racks"]
    return {topic: [racks[number] for number in sorted(racks)] for topic, racks in found.items()}


def rack_file(folder: Path, clients: dict[str, str], topics: dict[str, Any], more: str = "") -> Path:
    path = folder / "racks.toml"
    lines = [
        "format = 1",
        more,
        "[clients]",
        *(f"{json.dumps(name)} = {json.dumps(rack)}" for name, rack in clients.items()),
    ]
    lines += ["[topics]", *(f"{json.dumps(topic)} = {json.dumps(partitions)}" for topic, partitions in topics.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def imported(folder: Path, *, config: bool = True) -> list[dict[str, Any]]:
    topology = folder / "topology.txt"
    topology.write_text(ORDERS, encoding="utf-8")
    layers = config_sources(CAPTURES / "orders-2" / "application.properties" if config else None).above
    return list(import_log(logs("orders-2"), config_layers=layers, topology=topology))


@pytest.mark.slow
def test_with_racks_a_log_is_decided_exactly_as_kafka_did(tmp_path: Path) -> None:
    filler = RackFiller(read_racks(rack_file(tmp_path, CLIENTS, partition_racks())))
    assignor = discover().task_assignor("high_availability")
    equal = 0
    for document in imported(tmp_path):
        scenario = scenario_from_document(filler.filled(document), Place("orders-2"))
        assert scenario.observed is not None
        assert racks_known(scenario.assumptions)
        answer = invoke(assignor, scenario.application, {}).answer
        equal += answer is not None and placement(scenario, answer) == scenario.observed["assignment"]
    assert equal == 48
    assert list(filler.unused()) == []


@pytest.mark.slow
def test_what_the_file_lacks_stays_unknown_and_is_named(tmp_path: Path) -> None:
    clients = {name: rack for name, rack in CLIENTS.items() if rack != "r3"}
    racks = partition_racks()
    del racks["notes-in"]
    filled = RackFiller(read_racks(rack_file(tmp_path, clients, racks))).filled(imported(tmp_path)[0])
    (sentence,) = (text for text in filled["assumptions"] if text.startswith(RACKS_UNKNOWN))
    assert "client 127.0.0.1:8083, partition notes-in-0, partition notes-in-1 and 2 more" in sentence


@pytest.mark.slow
def test_a_strategy_that_nobody_told_stays_unknown_whatever_racks_there_are(tmp_path: Path) -> None:
    filler = RackFiller(read_racks(rack_file(tmp_path, CLIENTS, partition_racks())))
    filled = filler.filled(imported(tmp_path, config=False)[5])
    assert any(text.startswith(STRATEGY_UNKNOWN) for text in filled["assumptions"])


@pytest.mark.slow
def test_clients_are_found_by_their_end_point_client_id_tag_and_process(tmp_path: Path) -> None:
    document = imported(tmp_path)[20]
    names = [
        *(client["host"] for client in document["clients"]),
        *(client["consumers"][0].partition("-StreamThread-")[0] for client in document["clients"]),
        *(client["process_id"] for client in document["clients"]),
    ]
    for name in names:
        filled = RackFiller(read_racks(rack_file(tmp_path, {name: "r9"}, {"*": ["r1"]}))).filled(document)
        assert [client["rack"] for client in filled["clients"]].count("r9") == 1
    filled = RackFiller(read_racks(rack_file(tmp_path, {"zone=a": "r9"}, {}))).filled(document)
    in_zone_a = [client["tags"]["zone"] == "a" for client in document["clients"]]
    assert [client["rack"] == "r9" for client in filled["clients"]] == in_zone_a


def test_brokers_and_a_description_of_topics_tell_where_partitions_are(tmp_path: Path) -> None:
    (tmp_path / "topics.txt").write_text(
        "Topic: in\tTopicId: x\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: \n"
        "\tTopic: in\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n"
        "\tTopic: in\tPartition: 1\tLeader: 3\tReplicas: 3,1\tIsr: 3\tElr: \n",
        encoding="utf-8",
    )
    path = tmp_path / "racks.toml"
    path.write_text('format = 1\ndescribed = "topics.txt"\n[brokers]\n1 = "a"\n2 = "b"\n3 = "a"\n', encoding="utf-8")
    racks = read_racks(path)
    assert racks.of_partition("in", 0) == ("a", "b")
    assert racks.of_partition("in", 1) == ("a",)
    assert racks.of_partition("in", 2) == racks.of_partition("out", 0) == ()


def test_the_configuration_of_an_instance_tells_its_rack(tmp_path: Path) -> None:
    path = tmp_path / "i1.properties"
    path.write_text("client.rack=r1\nconsumer.client.rack=r2\napplication.server=h\\:1\nsasl.jaas.config=secret\n")
    assert dict(read_racks([path]).clients) == {"h:1": "r2"}
    path.write_text("client.rack=r1\nclient.tag.zone=a\nclient.tag.cluster=k\n")
    assert dict(read_racks([path]).clients) == {"cluster=k,zone=a": "r1"}


FAULTS = [
    ("format = 2", 1, "format", "2"),
    ("format = 1\n[client]\n", 2, "client", 'did you mean "clients"?'),
    ('format = 1\n[clients]\n\n"i1" = 7', 4, "clients.i1", "a text"),
    ('format = 1\n[clients]\n"i1" = ""', 3, "clients.i1", "empty"),
    ('format = 1\n[brokers]\none = "r1"', 3, "brokers.one", "number of a broker"),
    ('format = 1\n[brokers]\n1 = "r1"\n', None, "", "neither clients nor topics"),
    ('format = 1\n[topics]\n"in" = [[1]]', 3, 'topics["in"][0][0]', "broker 1 is not among the brokers"),
    ('format = 1\n[topics]\n"in" = ["r1"]', 3, 'topics["in"][0]', "a list for each partition"),
    ('format = 1\n[topics]\n"in" = [["r1"], []]', 3, 'topics["in"][1]', "at least one replica"),
    ('format = 1\n[topics]\n"in" = [["r1", 1.5]]', 3, 'topics["in"][0][1]', "number of a broker, or the name"),
    ("format = 1\n[topics\n", 2, "", "no TOML"),
]


@pytest.mark.parametrize(("content", "line", "key", "reason"), FAULTS)
def test_every_fault_has_its_place(tmp_path: Path, content: str, line: int | None, key: str, reason: str) -> None:
    path = tmp_path / "racks.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DocumentFormatError) as raised:
        read_racks(path)
    assert (raised.value.file, raised.value.line, raised.value.key.replace(".in", '["in"]')) == (str(path), line, key)
    assert reason in raised.value.reason


def test_files_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "one.toml", tmp_path / "two.toml"
    first.write_text('format = 1\n[clients]\ni1 = "r1"\n', encoding="utf-8")
    second.write_text('format = 1\n[clients]\ni2 = "r1"\ni1 = "r2"\n', encoding="utf-8")
    with pytest.raises(DocumentFormatError, match="keep one of them") as raised:
        read_racks([first, second])
    assert (raised.value.file, raised.value.line) == (str(second), 4)


def test_a_recorded_decision_keeps_its_racks_and_the_contradiction_is_named(tmp_path: Path) -> None:
    document = streams_document() | {"observed": {"assignment": {}}}
    document["clients"][0]["rack"] = "r1"
    process = document["clients"][0]["process_id"]
    filler = RackFiller(read_racks(rack_file(tmp_path, {process: "r2"}, {})))
    assert filler.filled(document)["clients"][0]["rack"] == "r1"
    (sentence,) = filler.unused()
    assert sentence.endswith(f"one client is in r2 by {process} and r1 by the state: the state's is used")
    assert filler.foreign() == sentence.removesuffix(": the state's is used")


def test_what_a_state_knows_is_not_overwritten(tmp_path: Path) -> None:
    document = streams_document()
    document["clients"][0]["rack"] = "r1"
    process = document["clients"][0]["process_id"]
    with pytest.raises(RackContradictionError, match="r2 by"):
        RackFiller(read_racks(rack_file(tmp_path, {process: "r2"}, {}))).filled(document)


def test_a_name_that_no_state_has_is_told(tmp_path: Path) -> None:
    filler = RackFiller(read_racks(rack_file(tmp_path, {"i9": "r1"}, {"inn": [["r1"]]})))
    filler.filled(streams_document())
    assert [sentence.partition(": ")[2] for sentence in filler.unused()] == [
        "i9 is no client of any state: it is not used",
        "inn is no topic of any state: it is not used",
    ]


def test_topics_that_no_state_has_are_told_in_one_sentence(tmp_path: Path) -> None:
    filler = RackFiller(read_racks(rack_file(tmp_path, {}, {f"t{number}": [["r1"]] for number in range(21)})))
    document = streams_document()
    document["tasks"] = [{**task, "partitions": None} for task in document["tasks"]]
    filler.filled(document)
    (sentence,) = filler.unused()
    assert "t0, t1, t2 and 18 more are no topics of any state: they are not used" in sentence
    assert sentence.endswith("(the tasks' partitions are unknown: give --topology)")


def test_groups_of_connect_have_no_racks_and_stay_as_they_are(tmp_path: Path) -> None:
    filler = RackFiller(read_racks(rack_file(tmp_path, {"w": "r1"}, {})))
    assert filler.filled({"kind": "connect", "id": "c"}) == {"kind": "connect", "id": "c"}
    (sentence,) = filler.unused()
    assert sentence.endswith("groups of Connect have no racks: it is not used")


def test_topics_are_no_matter_to_a_group_that_brokers_assign(tmp_path: Path) -> None:
    filler = RackFiller(read_racks(rack_file(tmp_path, {"m1": "r1"}, {"in": [["r1"]]})))
    member: dict[str, Any] = {"id": "m1", "process_id": "p1", "instance_id": None, "tags": {}, "rack": None}
    filler.filled({"kind": "streams-group", "id": "g", "members": [{**NOTHING, **member}]})
    assert list(filler.unused()) == []


def test_an_episode_gets_the_racks_of_its_state_and_of_what_is_started(tmp_path: Path) -> None:
    initial = streams_document()
    start = {"at_ms": 0, "type": "start", "client": "i9"}
    episode = {"kind": "streams-episode", "id": "e", "initial": initial, "events": [start, {"type": "crash"}]}
    filler = RackFiller(read_racks(rack_file(tmp_path, {"i9": "r7"}, {})))
    filled = filler.filled(episode)
    assert filled["events"] == [{**start, "rack": "r7"}, {"type": "crash"}]
    assert list(filler.unused()) == []


def test_members_of_a_group_that_brokers_assign_are_found_by_id_process_instance_and_tag(tmp_path: Path) -> None:
    members = [
        {**NOTHING, "id": "m1", "process_id": "p1", "instance_id": None, "tags": {"zone": "a"}, "rack": None},
        {**NOTHING, "id": "m2", "process_id": "p2", "instance_id": "i2", "tags": {}, "rack": None},
        {**NOTHING, "id": "m3", "process_id": "p3", "instance_id": None, "tags": {}, "rack": "r3"},
    ]
    for name, expected in {
        "m1": ["r1", None, "r3"],
        "p2": [None, "r1", "r3"],
        "i2": [None, "r1", "r3"],
        "zone=a": ["r1", None, "r3"],
    }.items():
        filler = RackFiller(read_racks(rack_file(tmp_path, {name: "r1"}, {})))
        filled = filler.filled({"kind": "streams-group", "id": "g", "members": members})
        assert [member["rack"] for member in filled["members"]] == expected
