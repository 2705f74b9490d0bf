"""The commands: an untrusted assignor served by its own process, behind a port file or pipes."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assignor_lab.cli.main import main
from assignor_lab.serving.handshake import greeted
from assignor_lab.serving.link import DescriptorLink
from assignor_lab.serving.port_file import HOST, read_port_file
from tests.connect.real_kafka import until
from tests.serving.conftest import question
from tests.serving.served import ASSIGNOR, Served

pytestmark = pytest.mark.slow


class Ended(NamedTuple):
    exit_code: object
    stdout: str
    stderr: str


Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("served"))
    made.start()
    yield made
    made.close()


@contextmanager
def asking(served: Served) -> Iterator[DescriptorLink]:
    said = read_port_file(served.port_file)
    assert said is not None
    with socket.create_connection((HOST, said.port), timeout=20) as connection:
        link = DescriptorLink(connection.fileno(), connection.fileno())
        assert greeted(link, said.token) == ASSIGNOR
        yield link
        # The decision's outcome: without it, the log would wait for one.
        link.send({"decided": {"by": "assignor"}})


def large(group: str) -> dict[str, Any]:
    """A state of two tasks, on which the assignor hangs in that mood."""
    asked = question(group, deadline_ms=20_000)
    (task,) = asked["ask"]["tasks"]
    asked["ask"] = {**asked["ask"], "tasks": [task, {**task, "id": "0_1"}]}
    return asked


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def ended(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        told = capsys.readouterr()
        return Ended(end.value.code or 0, told.out, " ".join(told.err.split()))

    return ended


def test_a_hanging_plugin_keeps_no_other_group_waiting_and_is_asked_again(served: Served) -> None:
    served.mood("hanging")
    with asking(served) as shop, asking(served) as bank:
        shop.send(large("shop"))
        # A large question takes longer to read than the small one of the bank.
        until(lambda: served.is_asked_about("shop"), "the question of the shop", pause_s=0.01)
        bank.send(question("bank"))
        assert bank.receive(seconds=20)["answer"]["error"] is None
        # It was answered while the other one hung.
        assert served.is_asked_about("shop")
        message = shop.receive(seconds=20)["answer"]["error"]["message"]
        assert "did not answer within 1.5 s" in message
        assert "give it more time (assignor.lab.deadline.ms of the application, and a lower assignor" in message
        assert "assignor.plugins.block" not in message
    served.mood("good")
    with asking(served) as shop:
        shop.send(large("shop"))
        assert shop.receive(seconds=20)["answer"]["error"] is None


def test_a_port_file_in_use_is_not_taken(served: Served, run: Run) -> None:
    told = run("serve-assignor", "sticky", "--port-file", str(served.port_file))
    assert told.exit_code == 2
    assert f"serves {ASSIGNOR} by this file: stop it first, or name another --port-file" in told.stderr
    assert stat.S_IMODE(served.port_file.stat().st_mode) == 0o600


def test_a_log_in_use_is_not_taken(served: Served, run: Run, tmp_path: Path) -> None:
    told = run("serve-assignor", "sticky", "--port-file", str(tmp_path / "port"), "--log", str(served.log))
    assert told.exit_code == 2
    assert "another process keeps its decisions there: name another folder (--log)" in told.stderr


def test_sigterm_ends_it_after_what_it_is_answering(served: Served) -> None:
    served.mood("slow")
    until(lambda: not served.is_asked_about("shop"), "the end of earlier questions")
    with asking(served) as shop:
        shop.send(large("shop"))
        until(lambda: served.is_asked_about("shop"), "the question")
        assert served.process is not None
        served.process.terminate()
        assert shop.receive(seconds=20)["answer"]["error"] is None
    assert served.process.wait(20) == 0
    assert not served.port_file.exists()
    assert served.decisions()[-1]["by"] == "assignor"


def test_standard_input_and_output_serve_too_and_what_plugins_print_is_no_frame(served: Served) -> None:
    served.mood("talkative")
    command = [
        sys.executable,
        "-m",
        "assignor_lab.cli.main",
        "serve-assignor",
        ASSIGNOR,
        "--stdio",
        "--isolate",
        "none",
    ]
    with subprocess.Popen(
        command, cwd=served.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        link = DescriptorLink(child.stdout.fileno(), child.stdin.fileno())
        assert link.receive(seconds=20) == {"hello": {"version": 1, "assignor": ASSIGNOR}}
        for group in ("shop", "bank"):
            link.send(large(group))
            assert link.receive(seconds=20)["answer"]["error"] is None
        child.stdin.close()
        assert child.wait(20) == 0
        assert os.read(child.stdout.fileno(), 100) == b""
        assert b"I was asked" in child.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("sticky",), "give one of --port-file and --stdio"),
        (("sticky", "--stdio", "--port-file", "port"), "give one of --port-file and --stdio"),
        (("nobody", "--port-file", "port"), "unknown assignor 'nobody'"),
        (("connect_eager", "--port-file", "port"), "connect_eager is no task assignor of classic Streams groups"),
        (("group_sticky", "--port-file", "port"), "group_sticky is no task assignor of classic Streams groups"),
        (("sticky", "--port-file", "none/port"), "none/port: cannot be written"),
        (("sticky", "--port-file", "port", "--log", "file"), "file: cannot be written"),
    ],
)
def test_what_cannot_be_served_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, arguments: tuple[str, ...], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    told = run("serve-assignor", *arguments)
    assert told.exit_code == 2
    assert why in told.stderr
    assert not (tmp_path / "port").exists()


def test_the_shim_is_copied(tmp_path: Path, run: Run) -> None:
    told = run("java-shim", "--out", str(tmp_path / "new" / "lib"), "--json")
    said = json.loads(told.stdout)
    copied = Path(said["out"]).read_bytes()
    assert copied == files("assignor_lab").joinpath("jars", "shim.jar").read_bytes()
    assert said["task.assignor.class"] == "assignorlab.shim.AssignorLabTaskAssignor"
    assert said["bytes"] == len(copied)


def test_an_applications_configuration_with_the_shim_is_read(tmp_path: Path, run: Run) -> None:
    file = tmp_path / "app.properties"
    file.write_text(
        "task.assignor.class=assignorlab.shim.AssignorLabTaskAssignor\nassignor.lab.port.file=/run/shop/port\n"
    )
    told = run("config", "--config", str(file))
    assert told.exit_code == 0
    assert "the one that 'assignor serve-assignor' serves beside the application" in told.stdout
    states = tmp_path / "states.jsonl"
    states.write_text(json.dumps(question()["ask"]) + "\n")
    unnamed = run("assign", "--config", str(file), str(states))
    assert unnamed.exit_code == 2
    assert "is the shim, behind which a Python assignor decides: name that one" in unnamed.stderr
    assert run("assign", "--config", str(file), str(states), "--assignor", "sticky").exit_code == 0
