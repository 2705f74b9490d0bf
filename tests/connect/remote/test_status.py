"""`assignor connect status`: its findings, and its requests to each worker."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.cli.main import main
from tests.connect.remote.scripted import Reply, cluster, connector, scripted


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["connect", "status", *arguments])
    assert isinstance(left.value.code, int)
    return left.value.code


@pytest.fixture
def alive() -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(50)
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def dead() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


def findings(connectors: dict[str, Any], capsys: pytest.CaptureFixture[str], *options: str) -> list[tuple[Any, ...]]:
    with scripted(cluster(connectors)) as server:
        run("--url", server.url, "--json", *options)
    told = json.loads(capsys.readouterr().out)
    return [(each["kind"], each["connector"], each["task"]) for each in told["findings"] if each["kind"] != "imbalance"]


def test_failed_unassigned_missing_and_stale_are_pointed_out(
    alive: str, dead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    connectors = {
        "a": connector("a", {None: ("RUNNING", alive), 0: ("FAILED", alive), 1: ("UNASSIGNED", dead)}, tasks=3),
        "b": connector("b", {None: ("RUNNING", dead), 0: ("PAUSED", alive), 1: ("RUNNING", alive)}, tasks=1),
        "c": {"info": connector("c", {None: ("RUNNING", alive)}, tasks=2)["info"]},
        "d": connector("d", {None: ("RESTARTING", alive)}),
    }
    assert findings(connectors, capsys) == [
        ("failed", "a", 0),
        ("unassigned", "a", 1),
        ("missing", "a", 2),
        ("missing", "c", None),
        ("missing", "c", 0),
        ("missing", "c", 1),
        ("stale", "b", None),
        ("stale", "b", 1),
        ("restarting", "d", None),
    ]


def test_workers_are_not_asked_for_where_that_is_not_wanted(
    alive: str, dead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    connectors = {"a": connector("a", {None: ("RUNNING", alive), 0: ("RUNNING", dead)})}
    assert findings(connectors, capsys) == [("stale", "a", 0)]
    assert findings(connectors, capsys, "--no-probe") == []


def test_addresses_that_mean_nothing_here_say_nothing(dead: str, capsys: pytest.CaptureFixture[str]) -> None:
    connectors = {"a": connector("a", {None: ("RUNNING", "connect-1.invalid:8083"), 0: ("RUNNING", "no address")})}
    with scripted(cluster(connectors)) as server:
        assert run("--url", server.url, "--fail-on", "stale", "--json") == 0
    captured = capsys.readouterr()
    assert [worker["lives"] for worker in json.loads(captured.out)["workers"]] == [None, None]
    assert "no worker can be reached at its advertised address" in captured.err


def test_imbalance_counts_workers_that_live(alive: str, capsys: pytest.CaptureFixture[str]) -> None:
    with scripted(cluster({})) as idle:
        other = idle.url.removeprefix("http://")
        tasks: dict[int | None, tuple[str, str]] = dict.fromkeys(range(3), ("RUNNING", alive))
        connectors = {"a": connector("a", {None: ("RUNNING", alive), **tasks, 3: ("RUNNING", other)})}
        with scripted(cluster(connectors)) as server:
            # The queried worker has no job: it counts as one more, without jobs.
            assert run("--url", server.url, "--fail-on", "imbalance", "--json") == 1
            told = json.loads(capsys.readouterr().out)
    assert len(told["workers"]) == 3
    assert [each["worker"] for each in told["findings"]] == [alive]
    assert told["findings"][0]["detail"].startswith("3 tasks, while")


@pytest.mark.slow
def test_the_exit_code_is_that_of_the_wanted_findings(alive: str) -> None:
    connectors = {"a": connector("a", {None: ("RUNNING", alive), 0: ("FAILED", alive)})}
    with scripted(cluster(connectors)) as server:
        assert run("--url", server.url) == 0
        assert run("--url", server.url, "--fail-on", "missing,stale") == 0
        assert run("--url", server.url, "--fail-on", "stale, failed") == 1
        assert run("--url", server.url, "--fail-on", "any") == 1
        assert run("--url", server.url, "--fail-on", "fialed") == 2


def test_hostile_names_cannot_steer_a_terminal(alive: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = "[red]x[/red]\x1b[31m\x07\u202e"
    hostile = connector("x", {None: ("RUNNING\x1b[0m", alive), 0: ("FAILED", alive)}, trace="\x1b]0;t\x07 [bold]no\nb")
    hostile["status"]["name"] = hostile["info"]["name"] = name
    with scripted(cluster({name: hostile})) as server:
        assert run("--url", server.url) == 0
        printed = capsys.readouterr().out
        assert run("--url", server.url, "--json") == 0
        document = capsys.readouterr().out
    assert "[red]x[/red]\\x1b[31m\\x07\\u202e" in printed
    for text in (printed, document):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert json.loads(document)["connectors"][0]["name"] == name
    assert "in-the-config" not in printed + document


def test_a_trace_is_shown_by_its_ends(alive: str, capsys: pytest.CaptureFixture[str]) -> None:
    trace = "org.E: outer\n\tat a.b\nCaused by: org.F: middle\n\tat c.d\nCaused by: org.G: inner\n\tat e.f"
    connectors = {"a": connector("a", {None: ("RUNNING", alive), 0: ("FAILED", alive)}, trace=trace)}
    with scripted(cluster(connectors)) as server:
        run("--url", server.url, "--json")
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["detail"] == "org.E: outer; Caused by: org.G: inner"


def test_the_next_url_is_asked_where_one_takes_no_connection(
    alive: str, dead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    connectors = {"a": connector("a", {None: ("RUNNING", alive)})}
    with scripted(cluster(connectors)) as server:
        assert run("--url", f"http://{dead}", "--url", server.url, "--fail-on", "unreachable", "--json") == 1
    told = json.loads(capsys.readouterr().out)
    assert [(each["kind"], each["worker"]) for each in told["findings"] if each["kind"] == "unreachable"] == [
        ("unreachable", f"http://{dead}")
    ]


def test_workers_of_another_cluster_are_told(alive: str, capsys: pytest.CaptureFixture[str]) -> None:
    connectors = {"a": connector("a", {None: ("RUNNING", alive)})}

    def other(method: str, path: str) -> Reply:
        return Reply(body={"version": "4.3.1", "commit": "c", "kafka_cluster_id": "another"})

    with scripted(cluster(connectors)) as server, scripted(other) as stranger:
        assert run("--url", server.url, "--url", stranger.url, "--fail-on", "unreachable") == 1
    assert "belongs to another Kafka cluster" in " ".join(capsys.readouterr().out.split())


def test_releases_without_expand_are_asked_one_by_one(alive: str, capsys: pytest.CaptureFixture[str]) -> None:
    connectors = {"a": connector("a", {None: ("RUNNING", alive), 0: ("FAILED", alive)})}

    def old(method: str, path: str) -> Reply | None:
        return Reply(body=list(connectors)) if path.startswith("/connectors?") else None

    with scripted(cluster(connectors, old)) as server:
        assert run("--url", server.url, "--fail-on", "failed") == 1
    assert "a-0" in capsys.readouterr().out


def test_nothing_but_reads_is_sent(alive: str) -> None:
    connectors = {"a": connector("a", {None: ("RUNNING", alive)})}
    with scripted(cluster(connectors)) as server:
        run("--url", server.url)
        assert {each.method for each in server.seen} == {"GET"}


def test_many_workers_are_listed_by_connector(capsys: pytest.CaptureFixture[str]) -> None:
    states: dict[int | None, tuple[str, str]] = {None: ("RUNNING", "w0:1")}
    states |= {number: ("RUNNING", f"w{number}:1") for number in range(8)}
    with scripted(cluster({"a": connector("a", states)})) as server:
        assert run("--url", server.url, "--no-probe") == 0
    assert "w0:1: C, 0; w1:1: 1; w2:1: 2" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_recorded_answers_of_real_connect_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    import gzip

    path = Path(__file__).parents[2] / "data" / "captures" / "rest" / "sessioned.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        recorded = [json.loads(line) for line in lines]
    bodies = [each["body"] for each in recorded if each["path"] == "/connectors?expand=status&expand=info"]
    assert bodies
    for body in bodies:
        with scripted(cluster(body)) as server:
            assert run("--url", server.url, "--no-probe", "--json") == 0
        assert [each["name"] for each in json.loads(capsys.readouterr().out)["connectors"]] == sorted(body)
