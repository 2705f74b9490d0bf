"""The shim alone in a JVM: with any other end it decides, and gives the reason if the assignor did not."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import mkstemp
from typing import Any

import pytest

from assignor_lab.cli.main import main
from assignor_lab.documents.frames import framed
from assignor_lab.serving.shim import ASSIGNOR_CLASS
from tests.connect.real_kafka import JVM, LIB, LOGGING, until
from tests.serving.impostor import Impostor, Says, answering, row
from tests.serving.served import Served

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[2]
#: Class paths of the oldest and the newest Kafka with KIP-924.
KAFKAS = {
    "3.8": ROOT / "build" / "java" / "lib",
    **{release: ROOT / "build" / "official" / f"kafka-{release}" / "lib" for release in ("4.3", "4.4")},
}
SHIM = ROOT / "assignor_lab" / "jars" / "shim.jar"
CLIENTS = [f"00000000-0000-0000-0000-00000000000{number}" for number in (1, 2, 3)]
COMMAND = f"{sys.executable} -m assignor_lab.cli.main serve-assignor sticky --stdio"


class Shim:
    """A JVM with the shim, and requests to it."""

    def __init__(self, classes: Path, release: str) -> None:
        assert KAFKAS[release].is_dir(), "no Kafka: run these tests as `make test-services`, which brings it"
        logging = [
            path for name in ("log4j-api", "log4j-core", "log4j-slf4j-impl") for path in LIB.glob(f"{name}-*.jar")
        ]
        path = ":".join(map(str, [classes, SHIM, f"{KAFKAS[release]}/*", *logging]))
        descriptor, name = mkstemp(dir=classes)
        self._out = Path(name)
        with os.fdopen(descriptor, "wb") as out:
            command = ["java", *JVM, f"-Dlog4j2.configurationFile={LOGGING}", "-cp", path, "ShimQuestions"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out)
        self._asked = 0

    def decide(
        self,
        application: str,
        configs: Mapping[str, Any],
        tasks: int = 6,
        clients: int = 3,
        times: int = 1,
        **more: Any,
    ) -> dict[str, Any]:
        question = {"configs": {"application.id": application, **configs}, "tasks": tasks, "clients": clients}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({**question, "times": times, **more}).encode() + b"\n")
        self.process.stdin.flush()
        self._asked += 1
        until(lambda: len(self._told()) == self._asked, "an answer")
        told: dict[str, Any] = json.loads(self._told()[-1].removeprefix("told "))
        return told

    def warnings(self, application: str) -> list[str]:
        return [line for line in self._lines() if f"Application {application}:" in line]

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()

    def _told(self) -> list[str]:
        return [line for line in self._lines() if line.startswith("told ")]

    def _lines(self) -> list[str]:
        # The last line may be incomplete.
        return self._out.read_text().split("\n")[:-1]


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled once, with the oldest Kafka; the same classes run with each release."""
    folder = tmp_path_factory.mktemp("classes")
    sources = [ROOT / "tests" / "capture" / "live" / "OrdersApplication.java"]
    sources += Path(__file__).with_name("java").glob("*.java")
    path = f"{SHIM}:{KAFKAS['3.8']}/*"
    compiler = ["javac", "-proc:none", "-nowarn", "-cp", path, "-d", str(folder), *map(str, sources)]
    subprocess.run(compiler, check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="module", params=KAFKAS)
def shim(request: pytest.FixtureRequest, classes: Path) -> Iterator[Shim]:
    made = Shim(classes, request.param)
    yield made
    made.close()


@pytest.fixture(scope="module")
def sticky(shim: Shim) -> dict[str, Any]:
    """Decision of Kafka's own fallback."""
    assignment: dict[str, Any] = shim.decide("nobody", {})["assignment"]
    assert sorted(task for client in assignment.values() for task in client["active"]) == [
        "0_0", "0_2", "0_4", "1_1", "1_3", "1_5",
    ]  # fmt: skip
    return assignment


@pytest.fixture
def impostor(tmp_path: Path) -> Iterator[Callable[..., str]]:
    made: list[Impostor] = []

    def make(*arguments: Any, token: str | None = None, **options: Any) -> str:
        made.append(Impostor(*arguments, **options))
        made[-1].write_port_file(tmp_path / "port", token)
        return str(tmp_path / "port")

    yield make
    for each in made:
        each.close()


def everything_to(client: str) -> Callable[[dict[str, Any]], Any]:
    return lambda state: row(state, {client: {"active": [task["id"] for task in state["tasks"]], "standby": []}})


def with_standby(state: dict[str, Any]) -> Any:
    line = row(state)
    line["assignment"][CLIENTS[1]]["standby"] = ["1_1"]
    return line


def twice(state: dict[str, Any]) -> Any:
    line = row(state)
    line["assignment"][CLIENTS[1]]["active"] = ["0_0"]
    return line


def both_at_once(state: dict[str, Any]) -> Any:
    line = row(state)
    line["assignment"][CLIENTS[0]]["standby"] = ["0_0"]
    return line


def left_out(state: dict[str, Any]) -> Any:
    line = row(state)
    line["assignment"][CLIENTS[0]]["active"].pop()
    return line


FAULTS: dict[str, tuple[Says, str, str]] = {
    "closes": (lambda _: b"", "BROKEN_OFF", "closed before an answer"),
    "stops in the middle": (lambda _: framed({"answer": 1})[:-2], "BROKEN_OFF", "broke off"),
    "announces too much": (lambda _: b"\xff\xff\xff\xff", "NONSENSE", "4294967295 bytes"),
    "no JSON": (lambda _: b"\0\0\0\4{]}!", "NONSENSE", "no JSON"),
    "deep JSON": (lambda _: b"\0\0\x27\x10" + b"[" * 10_000, "NONSENSE", "too deep"),
    "a list": (lambda _: framed([1]), "NONSENSE", "no object"),
    "no answer": (lambda _: framed({"hello": 1}), "NONSENSE", "no result line"),
    "another's answer": (answering(lambda state: row({**state, "id": "x"})), "NONSENSE", "another question"),
    "no assignment": (answering(lambda state: {"id": state["id"]}), "NONSENSE", "no result line"),
    "no process id": (answering(everything_to("first")), "NONSENSE", "no result line"),
    "no task": (answering(lambda state: row(state, {CLIENTS[0]: {"active": ["x"], "standby": []}})), "NONSENSE", "x"),
    "numbers": (answering(lambda state: row(state, {CLIENTS[0]: {"active": [1], "standby": []}})), "NONSENSE", "Long"),
    "active and standby": (answering(both_at_once), "NONSENSE", "0_0"),
    "no deadline": (answering(lambda state: row(state, followups={CLIENTS[0]: "soon"})), "NONSENSE", "String"),
    "unknown client": (answering(everything_to(CLIENTS[0][:-1] + "9")), "INVALID", "PROCESS_ID"),
    "missing client": (answering(everything_to(CLIENTS[0])), "INVALID", "MISSING_PROCESS_ID"),
    "double active": (answering(twice), "INVALID", "ACTIVE_TASK_ASSIGNED_MULTIPLE_TIMES"),
    "standby without state": (answering(with_standby), "INVALID", "INVALID_STANDBY_TASK"),
    "left out": (answering(left_out), "INVALID", "leaves 1 tasks to nobody"),
    "refused": (lambda _: framed({"refused": {"why": "busy", "message": "later"}}), "REFUSED", "busy: later"),
    "failed": (answering(lambda state: row(state, error={"type": "Oh", "message": "no"})), "ASSIGNOR", "Oh: no"),
}


def port_file(name: str, **more: Any) -> dict[str, Any]:
    return {"assignor.lab.port.file": name, "assignor.lab.breaker.failures": 1_000, **more}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_answer_is_no_harm_and_told_once(
    shim: Shim, sticky: Mapping[str, Any], impostor: Callable[..., str], fault: str
) -> None:
    says, cause, message = FAULTS[fault]
    name = fault.replace(" ", "-").replace("'", "")
    told = shim.decide(name, port_file(impostor(says)), times=3)
    assert told["assignment"] == sticky
    assert (told["jmx"]["LastDecidedBy"], told["jmx"]["LastCause"]) == ("sticky", cause)
    assert message in told["jmx"]["LastMessage"]
    (warning,) = shim.warnings(name)
    assert f"({cause}), sticky did: " in warning


@pytest.mark.parametrize(
    ("first", "cause", "message"),
    [
        (framed({"hello": {"version": 2}}), "HANDSHAKE", "speaks version 2 and this shim version 1"),
        (framed({"hello": {"version": 1, "nonce": "0", "proof": "0" * 64}}), "HANDSHAKE", "does not know the token"),
        (framed({}), "HANDSHAKE", "no 'assignor serve-assignor'"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "NONSENSE", "bytes"),
        (b"", "BROKEN_OFF", "connection"),
    ],
)
def test_a_stranger_at_the_port_is_not_asked(
    shim: Shim, sticky: Mapping[str, Any], impostor: Callable[..., str], first: bytes, cause: str, message: str
) -> None:
    told = shim.decide(f"stranger-{len(first)}", port_file(impostor(None, first)))
    assert told["assignment"] == sticky
    assert told["jmx"]["LastCause"] == cause
    assert message in told["jmx"]["LastMessage"]


@pytest.mark.parametrize("options", [{"is_deaf": True}, {}])
def test_who_says_nothing_is_given_up(
    shim: Shim, sticky: Mapping[str, Any], impostor: Callable[..., str], options: Mapping[str, Any]
) -> None:
    says = impostor(None, **options) if options else impostor(lambda _: b"\0\0\0\5", is_silent=True)
    name = f"silent-{len(options)}"
    told = shim.decide(name, port_file(says, **{"assignor.lab.deadline.ms": 100}), times=2)
    assert told["assignment"] == sticky
    assert told["jmx"]["LastMessage"] == "no answer within 100 ms"
    assert shim.decide(name, port_file("nowhere"))["threads"] == 0


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", '{"port": 0, "token": "t"}', '{"port": 99999999}', "x" * 5_000]
)
def test_a_port_file_that_is_none(shim: Shim, sticky: Mapping[str, Any], tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "port"
    if content is not None:
        file.write_text(content)
    told = shim.decide("no-port-file", port_file(str(file)))
    assert told["assignment"] == sticky
    assert told["jmx"]["LastCause"] == "CONNECT"
    assert "serve-assignor" in told["jmx"]["LastMessage"]


def test_the_port_file_of_a_dead_process(shim: Shim, sticky: Mapping[str, Any], tmp_path: Path) -> None:
    dead = Impostor()
    dead.write_port_file(tmp_path / "port")
    dead.close()
    told = shim.decide("dead", port_file(str(tmp_path / "port")))
    assert told["assignment"] == sticky
    assert told["jmx"]["LastCause"] == "CONNECT"
    assert "is 'assignor serve-assignor' running beside this instance?" in told["jmx"]["LastMessage"]


def test_a_state_that_kafka_does_not_tell(shim: Shim, sticky: Mapping[str, Any], impostor: Callable[..., str]) -> None:
    told = shim.decide("broken", port_file(impostor(answering(row))), broken=True)
    assert told["assignment"] == sticky
    assert told["jmx"]["LastCause"] == "STATE"
    assert "end offsets cannot be fetched" in told["jmx"]["LastMessage"]


def test_an_answer_is_taken_as_it_is(shim: Shim, impostor: Callable[..., str]) -> None:
    says = impostor(answering(lambda state: row(state, followup=True, followups={CLIENTS[1]: 1_795_375_428_502})))
    told = shim.decide("good", port_file(says))
    assert told["assignment"][CLIENTS[0]]["active"] == ["0_0", "0_2", "0_4", "1_1", "1_3", "1_5"]
    assert told["followups"] == {CLIENTS[1]: 1_795_375_428_502}
    assert (told["jmx"]["LastDecidedBy"], told["jmx"]["LastCause"], told["jmx"]["Assignor"]) == (
        "assignor", "", "impostor",
    )  # fmt: skip
    assert shim.warnings("good") == []


def test_previous_leaves_tasks_where_they_were(shim: Shim, tmp_path: Path) -> None:
    configs = port_file(str(tmp_path / "none"), **{"assignor.lab.fallback": "previous, sticky"})
    told = shim.decide("previous", configs, tasks=8)
    assert told["jmx"]["LastDecidedBy"] == "previous"
    # Two tasks had no owner.
    assert {client: held["active"] for client, held in told["assignment"].items()} == {
        CLIENTS[0]: ["0_0", "0_6", "1_3"], CLIENTS[1]: ["0_4", "1_1", "1_7"], CLIENTS[2]: ["0_2", "1_5"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({}, "set one of assignor.lab.port.file and assignor.lab.command"),
        ({"assignor.lab.port.file": "a", "assignor.lab.command": "b"}, "set one of"),
        (
            {"assignor.lab.port.file": "a", "assignor.lab.deadline.ms": "soon"},
            "assignor.lab.deadline.ms is soon: write",
        ),
        ({"assignor.lab.port.file": "a", "assignor.lab.breaker.failures": 0}, "from 1 to"),
        ({"assignor.lab.port.file": "a", "assignor.lab.fallback": "ha"}, "choose of [sticky, previous]"),
        ({"assignor.lab.port.file": "a", "assignor.lab.dedline.ms": 1}, "assignor.lab.dedline.ms is no setting"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    shim: Shim, sticky: Mapping[str, Any], configs: Mapping[str, Any], message: str
) -> None:
    told = shim.decide("settings", configs)
    assert told["assignment"] == sticky
    assert told["jmx"]["LastCause"] == "SETTINGS"
    assert message in told["jmx"]["LastMessage"]


def test_a_deadline_is_well_under_the_poll_interval(shim: Shim, impostor: Callable[..., str]) -> None:
    configs = port_file(impostor(None, is_deaf=True), **{"max.poll.interval.ms": 300})
    told = shim.decide("hasty", configs)
    assert told["jmx"]["LastMessage"] == "no answer within 100 ms"
    assert "a third of max.poll.interval.ms is the most" in shim.warnings("hasty")[0]


def test_the_breaker_opens_and_closes_again(shim: Shim, impostor: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "port"
    configs = {"assignor.lab.port.file": str(file), "assignor.lab.breaker.failures": 2}
    configs["assignor.lab.breaker.open.ms"] = 300
    told = shim.decide("breaker", configs, times=4)["jmx"]
    assert told["BreakerState"] == "OPEN"
    assert (told["FallbacksByCause"]["CONNECT"], told["FallbacksByCause"]["BREAKER_OPEN"]) == (2, 2)
    impostor(answering(row))

    def decides_again() -> bool:
        return bool(shim.decide("breaker", configs)["jmx"]["LastDecidedBy"] == "assignor")

    until(decides_again, "the breaker")
    assert shim.decide("breaker", configs)["jmx"]["BreakerState"] == "CLOSED"
    causes = ["(CONNECT)", "(BREAKER_OPEN)"]
    assert [sum(cause in line for line in shim.warnings("breaker")) for cause in causes] == [1, 1]


# --- the real Python side -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("served"))
    made.start()
    yield made
    made.close()


def test_a_served_plugin_decides(shim: Shim, served: Served) -> None:
    configs = port_file(str(served.port_file))
    told = shim.decide("real", configs, times=3)
    assert (told["jmx"]["LastDecidedBy"], told["jmx"]["Assignor"]) == ("assignor", "moody:Moody")
    last = list(told["assignment"].values())
    until(lambda: list(served.decisions()[-1]["result"]["assignment"].values()) == last, "the logged decision")
    # Fast enough for a rebalance: from the state to the checked assignment.
    took = shim.decide("real", configs, tasks=40, clients=4, times=120)["ms"][20:]
    print(f"median of {len(took)} decisions on 40 tasks and 4 clients: {statistics.median(took):.1f} ms")
    assert shim.decide("real", configs)["jmx"]["FallbacksByCause"]["SHIM"] == 0


def test_what_kafka_tells_reaches_the_assignor_as_it_is(tmp_path: Path) -> None:
    """Recorded states, passed to the shim by the bridge to Java: the served answer equals the direct one."""
    high_availability = Served(tmp_path / "served", "high_availability")
    high_availability.start()
    states = str(ROOT / "tests" / "data" / "golden" / "recorded" / "orders-2.scenarios.jsonl.gz")
    settings = {"application.id": "orders", "assignor.lab.port.file": high_availability.port_file}
    words = [word for key, value in settings.items() for word in ("-c", f"assignor.java.config.{key}={value}")]
    try:
        through = assigned(tmp_path, states, f"java:{ASSIGNOR_CLASS}@{SHIM}@{KAFKAS['4.3']}/*", *words)
        assert high_availability.stop() == 0
    finally:
        high_availability.close()
    assert through == assigned(tmp_path, states, "high_availability")
    decided = high_availability.decisions()
    assert len(decided) == len(through) > 40
    assert {each["by"] for each in decided} == {"assignor"}


def assigned(folder: Path, states: str, assignor: str, *words: str) -> list[Any]:
    """Owners, and whether there is a follow-up: its clock and its first client differ."""
    out = folder / "assigned.jsonl"
    with pytest.raises(SystemExit) as end:
        main(["assign", "--assignor", assignor, states, "--out", str(out), *words])
    assert end.value.code == 0
    lines = map(json.loads, out.read_text().splitlines())
    return [(line["id"], line["assignment"], line["followup"]) for line in lines]


def test_a_child_is_kept_and_ends_with_its_application(classes: Path) -> None:
    own = Shim(classes, "4.3")
    try:
        configs = {"assignor.lab.command": COMMAND}
        first = own.decide("parent", configs)
        assert (first["jmx"]["LastDecidedBy"], first["jmx"]["Assignor"]) == ("assignor", "sticky")
        (child,) = first["children"]
        assert own.decide("parent", configs)["children"] == [child]
        # A killed child is replaced by a new one.
        os.kill(child, signal.SIGKILL)
        until(lambda: own.decide("parent", configs)["children"] not in ([], [child]), "another child")
        told = own.decide("parent", configs)
        assert told["jmx"]["LastDecidedBy"] == "assignor"
        (child,) = told["children"]
    finally:
        own.close()
    until(lambda: not is_alive(child), "the end of the child")


@pytest.mark.parametrize(
    ("command", "cause", "message"),
    [
        ("/nowhere/assignor --stdio", "CONNECT", "the child cannot be started"),
        ("false", "CONNECT", "the child did not say what it serves"),
        ("echo hello, hello, hello", "NONSENSE", "bytes"),
        ("sleep 600", "DEADLINE", "no answer within 200 ms"),
    ],
)
def test_a_child_that_is_none(shim: Shim, sticky: Mapping[str, Any], command: str, cause: str, message: str) -> None:
    times = {"assignor.lab.deadline.ms": 100, "assignor.lab.start.deadline.ms": 100}
    told = shim.decide("child", {"assignor.lab.command": command, **times})
    assert told["assignment"] == sticky
    assert told["jmx"]["LastCause"] in (cause, "DEADLINE")
    if told["jmx"]["LastCause"] == cause:
        assert message in told["jmx"]["LastMessage"]
    until(lambda: shim.decide("nobody", {})["children"] == [], "the end of the child")


def test_the_class_is_the_one_that_is_named(shim: Shim) -> None:
    name = ASSIGNOR_CLASS.replace(".", "/") + ".class"
    listed = subprocess.run(["jar", "tf", str(SHIM)], check=True, capture_output=True, text=True).stdout.split()
    assert name in listed


def is_alive(pid: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False
