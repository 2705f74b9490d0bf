"""Groups of a real broker: a classic Streams application, one of the streams protocol, and a Connect worker."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from kafka import KafkaAdminClient
from typer.testing import CliRunner

from assignor_lab.capture.recorded.recording import read_recording
from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import RACK, RealApplications
from tests.connect.real_kafka import START_S, free_ports, until

pytestmark = pytest.mark.services

HOW_TO = Path(__file__).parents[3] / "docs" / "how-to"
PARTITIONS = 4


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApplications]:
    made = RealApplications(tmp_path_factory.mktemp("live"))
    try:
        made.start_broker()
        made.create_input(PARTITIONS)
        made.start_application("c1", "classic", num_stream_threads=2, num_standby_replicas=1)
        made.start_application("s1", "streams", num_stream_threads=2, group_protocol="streams")
        until(lambda: tasks_of(made) == {"classic": 2 * PARTITIONS, "streams": 2 * PARTITIONS}, "the applications")
        made.produce(400)
        made.start_application("c2", "classic", num_stream_threads=1, num_standby_replicas=1)
        made.start_worker("w1", *free_ports(1))
        made.wait_for_workers()
        until(lambda: processes_of(made, "classic") == 2, "the second instance")
        yield made
    finally:
        made.close()


def run(*arguments: str) -> Any:
    return CliRunner().invoke(build_app(list(arguments)), list(arguments), catch_exceptions=False)


def groups(cluster: RealApplications) -> dict[str, dict[str, Any]]:
    told = run("groups", "--bootstrap-server", cluster.address, "--json")
    return {each["id"]: each for each in json.loads(told.stdout)}


def tasks_of(cluster: RealApplications) -> dict[str, int]:
    return {name: each["tasks"] for name, each in groups(cluster).items() if each["state"] == "Stable"}


def processes_of(cluster: RealApplications, group: str) -> int | None:
    number: int | None = groups(cluster)[group]["processes"]
    return number


def captured(cluster: RealApplications, group: str, folder: Path, *options: str) -> dict[str, Any]:
    out = folder / "scenario.jsonl"
    wait = ("--wait", f"{START_S:g}")
    told = run("capture", "--bootstrap-server", cluster.address, "--group", group, "--out", str(out), *wait, *options)
    assert told.exit_code == 0, told.stderr
    document: dict[str, Any] = json.loads(out.read_text())
    return document


def assigned(assignor: str, folder: Path, *options: str) -> dict[str, Any]:
    told = run("assign", "--assignor", assignor, str(folder / "scenario.jsonl"), *options)
    assert told.exit_code == 0, told.stderr
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def test_groups_are_listed_with_kind_members_and_tasks(cluster: RealApplications) -> None:
    found = groups(cluster)
    assert {name: each["kind"] for name, each in found.items()} == {
        "classic": "streams (classic)",
        "real-connect": "connect",
        "streams": "streams",
    }
    assert found["classic"]["members"] == 3
    # Tasks are known between rebalances, and there are several until the second instance has its share.
    until(lambda: groups(cluster)["classic"]["tasks"] == 2 * PARTITIONS, "all tasks of the classic group")
    assert (found["streams"]["members"], found["streams"]["processes"]) == (2, 1)


def test_a_classic_group_is_decided_again_as_its_leader_did(cluster: RealApplications, tmp_path: Path) -> None:
    document = captured(cluster, "classic", tmp_path)
    answer = assigned("high_availability", tmp_path, "--threads")
    assert {each["rack"] for each in document["clients"]} == {RACK}
    assert document["config"]["num.standby.replicas"] == 1
    assert answer["assignment"] == document["observed"]["assignment"]
    assert answer["threads"] == document["observed"]["threads"]


def test_sizes_of_changelogs_are_the_workload(cluster: RealApplications, tmp_path: Path) -> None:
    tasks = captured(cluster, "classic", tmp_path)["workload"]["tasks"]
    assert set(tasks) == {f"1_{number}" for number in range(PARTITIONS)}
    assert sum(each["state_bytes"] for each in tasks.values()) > 0


def test_a_group_of_the_streams_protocol_runs_what_the_assignor_gives(
    cluster: RealApplications, tmp_path: Path
) -> None:
    document = captured(cluster, "streams", tmp_path)
    answer = assigned("group_sticky", tmp_path)
    assert document["config"] == {"num.standby.replicas": 0}
    assert [each["tasks"] for each in document["subtopologies"]] == [PARTITIONS, PARTITIONS]
    assert answer["members"] == document["observed"]["members"]


def test_a_connect_group_is_a_history_of_one_round(cluster: RealApplications, tmp_path: Path) -> None:
    document = captured(cluster, "real-connect", tmp_path)
    assert document["kind"] == "connect"
    assert len(document["rounds"][0]["members"]) == 1
    assert assigned("connect_incremental", tmp_path)["error"] is None


def test_kept_answers_are_a_recording(cluster: RealApplications, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    document = captured(cluster, "classic", tmp_path, "--keep-answers", str(kept))
    recording = read_recording([kept])
    assert [len(seen.answer.members) for seen in recording.stable()][-1] == len(document["observed"]["threads"])
    assert recording.topic("in", document["source"]["time_ms"] + 60_000) is not None


def recorded(cluster: RealApplications, group: str, folder: Path, *options: str) -> list[dict[str, Any]]:
    arguments = ["--bootstrap-server", cluster.address, "--group", group, "--out", str(folder), *options]
    told = run("record", *arguments, "--json")
    assert told.exit_code == 0, told.stderr
    assert "is kept, and left out" not in told.stderr
    generations: list[dict[str, Any]] = json.loads(told.stdout)["generations"]
    return generations


def captured_and_recorded(
    cluster: RealApplications, group: str, folder: Path
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A group and its past, with no generation between the two: a busy machine sometimes loses a member."""
    for number in range(10):
        document = captured(cluster, group, folder)
        told = recorded(cluster, group, folder / f"past-{number}")
        if captured(cluster, group, folder)["source"]["generation"] == document["source"]["generation"]:
            return document, told
    raise AssertionError(f"group {group} never settled")


def test_the_past_of_a_classic_group_tells_each_generation_and_ends_with_what_runs(
    cluster: RealApplications, tmp_path: Path
) -> None:
    document, told = captured_and_recorded(cluster, "classic", tmp_path)
    # A generation is not recorded if a further member interrupts it before its leader's answer.
    shown = {number for each in told if "hole" in each for number in range(each["hole"][0], each["hole"][1] + 1)}
    shown |= {each["generation"] for each in told}
    assert shown == set(range(min(shown), document["source"]["generation"] + 1))
    assert min(shown) <= 1
    assert told[-1]["generation"] == document["source"]["generation"]
    last = {name: member["got"] for name, member in told[-1]["members"].items()}
    threads = document["observed"]["threads"]
    assert {name: {kind: got[kind] for kind in ("active", "standby")} for name, got in last.items()} == threads


def test_the_past_of_a_streams_group_ends_with_its_target(cluster: RealApplications, tmp_path: Path) -> None:
    document, told = captured_and_recorded(cluster, "streams", tmp_path)
    assert not [each for each in told if "hole" in each]
    assert told[-1]["generation"] == document["source"]["generation"]
    got = {name: member["got"]["active"] for name, member in told[-1]["members"].items()}
    assert got == {name: member["active"] for name, member in document["observed"]["members"].items()}


def test_the_past_of_a_connect_group_is_told(cluster: RealApplications, tmp_path: Path) -> None:
    told = recorded(cluster, "real-connect", tmp_path / "past")
    (member,) = told[-1]["members"].values()
    assert member["got"] == {
        "assigned": {"connectors": [], "tasks": []}, "revoked": {"connectors": [], "tasks": []},
    }  # fmt: skip


def test_a_recording_goes_on_and_tells_the_same(cluster: RealApplications, tmp_path: Path) -> None:
    first = recorded(cluster, "classic", tmp_path / "past")
    lines = (tmp_path / "past" / "records.jsonl").read_bytes().splitlines()
    assert recorded(cluster, "classic", tmp_path / "past", "--resume", "--for", "1s") == first
    kept = [line for line in (tmp_path / "past" / "records.jsonl").read_bytes().splitlines() if b"key_hex" in line]
    assert kept == [line for line in lines if b"key_hex" in line]


def test_all_groups_are_recorded_each_with_its_own_past(cluster: RealApplications, tmp_path: Path) -> None:
    arguments = ["--bootstrap-server", cluster.address, "--all", "--out", str(tmp_path / "all"), "--json"]
    told = run("record", *arguments)
    assert told.exit_code == 0, told.stderr
    found = {each["group"]: each for each in json.loads(told.stdout)["groups"]}
    assert set(found) == {"classic", "streams", "real-connect"}
    for name, each in found.items():
        alone = recorded(cluster, name, tmp_path / name)
        lines = (Path(each["folder"]) / "history.jsonl").read_text().splitlines()
        assert [json.loads(line) for line in lines] == alone[: len(lines)]


def test_copies_of_log_segments_tell_the_same_as_the_broker(cluster: RealApplications, tmp_path: Path) -> None:
    live = recorded(cluster, "classic", tmp_path / "live")
    segments = str(cluster.directory / "log" / "__consumer_offsets-0")
    told = run("record", "--segments", segments, "--group", "classic", "--out", str(tmp_path / "files"), "--json")
    assert json.loads(told.stdout)["generations"][: len(live)] == live


def test_ends_and_sizes_are_sampled_while_a_group_is_followed(cluster: RealApplications, tmp_path: Path) -> None:
    recorded(cluster, "classic", tmp_path, "--for", "3s", "--sample-every", "1s")
    samples = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert len(samples) >= 2
    assert set(samples[-1]["ends"]) == {"in", "classic-counts-changelog", "classic-counts-repartition"}
    assert sum(samples[-1]["ends"]["in"].values()) == 400
    assert sum(samples[-1]["bytes"]["classic-counts-changelog"].values()) > 0


def test_a_group_without_a_past_is_named_and_leaves_no_folder(cluster: RealApplications, tmp_path: Path) -> None:
    arguments = ["record", "--bootstrap-server", cluster.address, "--group", "nobody", "--out", str(tmp_path / "past")]
    told = CliRunner().invoke(build_app(arguments), arguments)
    assert "group nobody: none of " in str(told.exception)
    assert not (tmp_path / "past").exists()


def test_asking_changes_nothing(cluster: RealApplications, tmp_path: Path) -> None:
    admin = KafkaAdminClient(bootstrap_servers=cluster.address)

    def seen() -> tuple[list[str], dict[str, int]]:
        return sorted(admin.list_topics()), {name: each["generation"] for name, each in groups(cluster).items()}

    def is_as_before() -> bool:
        before = seen()
        captured(cluster, "classic", tmp_path)
        recorded(cluster, "streams", Path(mkdtemp(dir=tmp_path)))
        return seen() == before

    try:
        # A request with an effect would have it each time, unless a busy machine lost a member.
        until(is_as_before, "generations that stay")
    finally:
        admin.close()


def test_a_group_that_is_not_there_is_named_at_once(cluster: RealApplications) -> None:
    before = time.monotonic()
    told = run("capture", "--bootstrap-server", cluster.address, "--group", "nobody", "--wait", "600")
    assert told.exit_code == 2
    assert "there is no such group" in told.stderr
    assert time.monotonic() - before < START_S


def commands_of(page: str, names: dict[str, str]) -> Iterator[list[str]]:
    """The commands of a how-to page, with the names of a cluster in place of its own."""
    text = (HOW_TO / page).read_text(encoding="utf-8")
    for command in re.findall(r"^\$ assignor ((?:.*\\\n)*.*)$", text, re.MULTILINE):
        yield [names.get(word, word) for word in shlex.split(command.replace("\\\n", " "))]


@pytest.mark.parametrize(
    ("page", "codes"),
    [
        # The sessions of this application last 45 s, so a closed instance's tasks are away too long for the gate.
        ("plan.md", [0, 0, 1]),
        ("plan-scale-out.md", [0, 0, 0]),
        ("plan-streams-protocol.md", [0, 0, 1]),
    ],
)
def test_a_how_to_page_leads_from_a_running_group_to_a_decision(
    cluster: RealApplications, page: str, codes: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("application.properties").write_text("num.standby.replicas=1\nsession.timeout.ms=45000\n")
    names = {"localhost:9092": cluster.address, "orders": "classic", "d1,d2,d3": "c1,c2"}
    found = [
        run(*words, *(("--wait", f"{START_S:g}") if words[0] == "capture" else ("--plays", "3")))
        for words in commands_of(page, names)
    ]
    captured_, planned, decided = found
    assert [each.exit_code for each in found] == codes, [each.output for each in found]
    assert captured_.stdout == ""
    assert planned.stdout.startswith("Decisions: 1 of 1 reproduced.")
    assert ("total." in decided.stderr) is (decided.exit_code == 1)


def test_the_page_of_replica_counts_leads_from_a_running_group_to_a_policy(
    cluster: RealApplications, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("application.properties").write_text("num.standby.replicas=1\nsession.timeout.ms=45000\n")
    rows = [f"{minute * 60},{1500 if minute < 60 else 300}" for minute in range(120)]
    Path("day.csv").write_text("\n".join(["time,records_per_second", *rows]))
    names = {"localhost:9092": cluster.address, "orders": "classic", "2..6": "1..3", "1..6": "1..3"}
    more = {"capture": ("--wait", f"{START_S:g}"), "plan": ("--plays", "2"), "advise": ()}
    found = [run(*words, *more[words[0]]) for words in commands_of("how-many-replicas.md", names)]
    assert [each.exit_code for each in found] == [0] * 4, [each.output for each in found]
    _, counted, forecast, advised = found
    assert counted.stdout.startswith("Decisions: 1 of 1 reproduced.")
    assert "No count can be recommended" in counted.stdout
    assert "Policies over the trace:" in forecast.stdout
    assert "kind: ScaledObject" in advised.stdout
    assert Path("scaled-object.yaml").read_text().startswith("apiVersion: keda.sh/v1alpha1")


def test_tls_to_a_plain_port_is_said(cluster: RealApplications, tmp_path: Path) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("security.protocol=SSL\n")
    arguments = ["groups", "--bootstrap-server", cluster.address, "--command-config", str(settings), "--timeout", "1"]
    told = CliRunner().invoke(build_app(arguments), arguments)
    assert "this port does not speak TLS" in str(told.exception)


def test_workers_tell_what_is_configured(cluster: RealApplications, tmp_path: Path) -> None:
    url = cluster.urls["w1"]
    file = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "topic": "lines"}
    cluster.put("reader", {**file, "file": str(tmp_path / "lines")})
    until(lambda: cluster.states("reader", "w1") == ["RUNNING", "RUNNING"], "the connector")
    document = captured(cluster, "real-connect", tmp_path, "--connect-url", url)
    assert document["rounds"][0]["connectors"] == {"reader": 1}
    assert not [
        each for each in document["assumptions"] if each.startswith("the configured jobs are not in the answers")
    ]
