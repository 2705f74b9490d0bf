"""Failures between us and brokers: one sentence with a remedy, exit code 2, and no file."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from assignor_lab.cli.main import main
from tests.capture.live.scripted_brokers import ScriptedBrokers
from tests.connect.real_kafka import free_ports

CONSUMERS = ("Stable", "consumer", "range")


@attrs.frozen
class Told:
    code: object
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    def ran(*arguments: str) -> Told:
        code: object = 0
        try:
            main(list(arguments))
        except SystemExit as ended:
            code = ended.code or 0
        printed = capsys.readouterr()
        return Told(code, printed.out, printed.err)

    return ran


@pytest.fixture
def refused(run: Callable[..., Told]) -> Callable[..., str]:
    def said(*arguments: str) -> str:
        told = run(*arguments)
        assert told.code == 2, told
        assert "Traceback" not in told.stderr
        assert told.stdout == ""
        return " ".join(told.stderr.split())

    return said


def test_groups_of_several_brokers_are_listed_together(run: Callable[..., Told]) -> None:
    with ScriptedBrokers([{"first": CONSUMERS}, {"second": CONSUMERS}]) as brokers:
        told = run("groups", "--bootstrap-server", brokers.address, "--all", "--json")
    assert [each["id"] for each in json.loads(told.stdout)] == ["first", "second"]
    assert {broker for broker, request in brokers.asked if request == "DescribeGroupsRequest"} == {0, 1}


def test_a_coordinator_that_moves_is_followed(run: Callable[..., Told]) -> None:
    with ScriptedBrokers([{}, {"orders": CONSUMERS}], moves={"orders": 0}) as brokers:
        told = run("groups", "--bootstrap-server", brokers.address, "--all", "--json")
    assert [(each["id"], each["members"]) for each in json.loads(told.stdout)] == [("orders", 1)]
    asked = [broker for broker, request in brokers.asked if request == "DescribeGroupsRequest"]
    assert asked == [0, 1]


@pytest.mark.slow
def test_a_coordinator_that_never_comes_is_said(refused: Callable[..., str]) -> None:
    with ScriptedBrokers([{"orders": CONSUMERS}], is_lost=True) as brokers:
        said = refused("capture", "--bootstrap-server", brokers.address, "--group", "orders", "--timeout", "2")
    assert "coordinator" in said


def test_brokers_on_ipv6_are_asked(run: Callable[..., Told]) -> None:
    with ScriptedBrokers([{"orders": CONSUMERS}], host="::1") as brokers:
        told = run("groups", "--bootstrap-server", brokers.address, "--all", "--json")
    assert [each["id"] for each in json.loads(told.stdout)] == ["orders"]


@pytest.mark.slow
def test_a_host_that_is_unknown_is_said(refused: Callable[..., str]) -> None:
    said = refused("groups", "--bootstrap-server", "no-such-host.invalid:9092", "--timeout", "2")
    assert "no-such-host.invalid:9092: no such host: check the name" in said


@pytest.mark.slow
def test_a_port_where_nobody_listens_is_said(refused: Callable[..., str]) -> None:
    address = f"127.0.0.1:{free_ports(1)[0]}"
    said = refused("groups", "--bootstrap-server", address, "--timeout", "2")
    assert f"{address}: no connection (Connection refused): check host and port" in said


def test_tls_to_a_plain_port_is_said(tmp_path: Path, refused: Callable[..., str]) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("security.protocol=SSL\n")
    with ScriptedBrokers([{}]) as brokers:
        options = ("--command-config", str(settings), "--timeout", "2")
        said = refused("groups", "--bootstrap-server", brokers.address, *options)
    assert "this port does not speak TLS" in said


@pytest.mark.parametrize("command", ["capture", "record"])
def test_a_group_that_is_not_there_is_said_and_no_file_is_made(
    command: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    out = tmp_path / "out"
    with ScriptedBrokers([{}]) as brokers:
        where = ("--bootstrap-server", brokers.address, "--timeout", "5")
        said = refused(command, *where, "--group", "nobody", "--out", str(out))
    assert {"capture": "there is no such group", "record": "topic __consumer_offsets is not there"}[command] in said
    assert not out.exists()


def test_a_group_of_another_kind_is_said(tmp_path: Path, refused: Callable[..., str]) -> None:
    with ScriptedBrokers([{"readers": CONSUMERS}]) as brokers:
        where = ("--bootstrap-server", brokers.address, "--timeout", "5")
        said = refused("capture", *where, "--group", "readers", "--out", str(tmp_path / "out"))
    assert "group readers: subscription of member m: is empty" in said


def test_a_broker_that_is_too_old_for_a_group_is_said(tmp_path: Path, refused: Callable[..., str]) -> None:
    with ScriptedBrokers([{"orders": ("Stable", "streams", "")}]) as brokers:
        where = ("--bootstrap-server", brokers.address, "--timeout", "5")
        said = refused("capture", *where, "--group", "orders", "--out", str(tmp_path / "out"))
    assert "groups of the streams protocol need Kafka 4.1 or later" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_who_takes_a_tls_greeting_and_never_answers_is_not_waited_for(
    tmp_path: Path, refused: Callable[..., str]
) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("security.protocol=SSL\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        said = refused("groups", "--bootstrap-server", address, "--command-config", str(settings), "--timeout", "1")
    assert "this port does not speak TLS" in said
