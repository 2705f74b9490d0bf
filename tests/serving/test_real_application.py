"""A real Streams application of three instances, assigned by a Python plugin through the shim, through all events."""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from tests.capture.live.real_streams import RealApplications
from tests.connect.real_kafka import until
from tests.serving.served import ASSIGNOR, Served

pytestmark = pytest.mark.services

PARTITIONS = 4
SHIM = Path(__file__).parents[2] / "assignor_lab" / "jars" / "shim.jar"
HERE = Path(__file__).parent / "java"


class Application(RealApplications):
    """Instances with the shim, beside one served assignor."""

    def __init__(self, directory: Path, assignor: str = ASSIGNOR) -> None:
        super().__init__(directory)
        self.path = f"{self.path}:{SHIM}"
        sources = [str(path) for path in HERE.glob("Shim*.java")]
        compiler = ["javac", "-proc:none", "-cp", self.path, "-d", str(self.classes), *sources]
        subprocess.run(compiler, check=True, capture_output=True, timeout=120)
        self.served = Served(directory / "served", assignor)
        self.produced = 0

    def start_instance(self, name: str) -> None:
        settings = self.settings_of(
            name,
            "shop",
            {
                "task.assignor.class": "assignorlab.shim.AssignorLabTaskAssignor",
                "assignor.lab.port.file": self.served.port_file,
                "assignor.lab.breaker.failures": 2,
                "assignor.lab.breaker.open.ms": 1_500,
                "num.standby.replicas": 1,
                "commit.interval.ms": 300,
                "session.timeout.ms": 6_000,
                "heartbeat.interval.ms": 500,
                "metadata.max.age.ms": 5_000,
            },
        )
        (self.directory / name).mkdir()
        self._spawn(name, "96m", "ShimApplication", str(self.directory / name), *settings)

    def told(self, name: str) -> dict[str, Any]:
        """Reports of JMX and of the instance itself."""
        file = self.directory / name / "jmx"
        told: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return told

    def living(self) -> list[str]:
        return [name for name in self.processes if name != "broker" and self.processes[name].poll() is None]

    def leader(self) -> str:
        return max(self.living(), key=lambda name: self.told(name).get("Decisions", 0))

    def decisions(self) -> int:
        return sum(self.told(name).get("Decisions", 0) for name in self.living())

    def causes(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for name in self.living():
            for cause, count in self.told(name).get("FallbacksByCause", {}).items():
                counts[cause] = counts.get(cause, 0) + count
        return {cause: count for cause, count in counts.items() if count}

    def warnings(self, cause: str) -> int:
        """Lines of the instances' logs that name a cause."""
        said = [(self.directory / f"{name}.out").read_text() for name in self.processes if name != "broker"]
        return sum(f"did not decide ({cause})" in line for text in said for line in text.splitlines())

    def decides_again(self) -> None:
        """Makes the plugin decide correctly, once the circuit breaker lets it."""
        self.served.mood("good")
        until(lambda: self.told(self.leader())["BreakerState"] != "OPEN", "the circuit breaker")
        self.rebalance()
        assert self.told(self.leader())["LastDecidedBy"] == "assignor"

    def rebalance(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Changes the number of one instance's threads; waits for a decision and until all instances run."""
        before = self.decisions()
        name = next(name for name in self.living() if name != self.leader())
        file = self.directory / name / "threads"
        wanted = 3 - int(file.read_text()) if file.exists() else 2
        # The instance reads the file every 50 ms, and an empty one would end its reports.
        part = file.with_suffix(".part")
        part.write_text(str(wanted))
        part.replace(file)
        if meanwhile is not None:
            meanwhile()
        until(lambda: self.decisions() > before and self.told(name)["threads"] == wanted, "a decision")
        self.wait_until_all_run()

    def wait_until_all_run(self) -> None:
        until(lambda: all(self.told(name).get("state") == "RUNNING" for name in self.living()), "all instances")

    def works(self) -> None:
        """All new records are processed, and no instance has stopped."""
        self.produce(20 * PARTITIONS)
        self.produced += 20 * PARTITIONS
        until(lambda: self._processed() == self.produced, "the records", 30)
        # Another rebalance may be in progress; a stopped instance does not return to RUNNING.
        self.wait_until_all_run()

    def _processed(self) -> int:
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        try:
            offsets = admin.list_group_offsets("shop")["shop"]
        finally:
            admin.close()
        return sum(max(at.offset, 0) for partition, at in offsets.items() if partition.topic == "in")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    made = Application(tmp_path_factory.mktemp("shop"))
    try:
        made.start_broker()
        made.create_input(PARTITIONS)
        made.served.start()
        for name in ("i1", "i2", "i3"):
            made.start_instance(name)
        until(lambda: made.decisions() > 0, "the first decision")
        made.wait_until_all_run()
        yield made
    finally:
        made.served.close()
        made.close()


def test_the_plugin_decides_as_instances_join(shop: Application) -> None:
    until(lambda: len(shop.served.decisions()[-1]["result"]["assignment"]) == 3, "a decision for all three")
    shop.works()
    assert {each["by"] for each in shop.served.decisions()} == {"assignor"}
    assert shop.causes() == {}


def test_a_hanging_plugin_is_not_waited_for(shop: Application) -> None:
    shop.served.mood("hanging")
    shop.rebalance()
    shop.works()
    assert shop.causes()["ASSIGNOR"] >= 1
    assert shop.served.was_told("did not answer within 1.5 s")
    shop.decides_again()


def test_a_wrong_answer_is_not_taken(shop: Application) -> None:
    shop.served.mood("doubling")
    shop.rebalance()
    shop.works()
    assert shop.served.was_told("ACTIVE_TASK_ASSIGNED_MULTIPLE_TIMES")
    shop.decides_again()
    shop.served.mood("forgetful")
    shop.rebalance()
    shop.works()
    assert shop.causes()["INVALID"] >= 1
    shop.decides_again()


def test_a_python_side_that_is_killed_while_it_decides(shop: Application) -> None:
    shop.served.mood("slow")
    shop.rebalance(shop.served.kill_while_it_asks)
    shop.works()
    assert shop.causes()["BROKEN_OFF"] == 1
    shop.rebalance()
    assert shop.causes()["CONNECT"] >= 1
    shop.served.start()
    shop.decides_again()
    # Reports without a receiver were sent later, including the interrupted request.
    causes = [each["cause"] for each in shop.served.decisions()]
    assert causes.count("BROKEN_OFF") == 1
    assert causes.count("CONNECT") == shop.causes()["CONNECT"]


def test_a_leader_that_is_killed_is_followed_by_one_that_asks(shop: Application) -> None:
    leader = shop.leader()
    shop.kill(leader)
    until(lambda: shop.told(shop.leader()).get("LastDecidedBy") == "assignor", "the next leader's decision")
    shop.wait_until_all_run()
    shop.works()
    assert len(shop.living()) == 2


def test_each_cause_was_told_once(shop: Application) -> None:
    # After these, the leader changed once.
    assert {cause: shop.warnings(cause) for cause in ("ASSIGNOR", "INVALID", "BROKEN_OFF", "CONNECT")} == dict.fromkeys(
        ("ASSIGNOR", "INVALID", "BROKEN_OFF", "CONNECT"), 1
    )


def test_logged_decisions_are_what_the_plugin_says_offline(shop: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shop.served.stop() == 0
    assert not shop.served.port_file.exists()
    shop.served.mood("good")
    monkeypatch.chdir(shop.served.folder)
    (states,) = shop.served.log.glob("states-*.jsonl")
    command = ["assign", "--assignor", ASSIGNOR, "--followups", str(states)]
    told = CliRunner().invoke(build_app(command), command, catch_exceptions=False)
    assert told.exit_code == 0, told.stderr
    offline = [json.loads(line) for line in told.stdout.splitlines()]
    decided = shop.served.decisions()
    by_plugin = [number for number, each in enumerate(decided) if each["by"] == "assignor"]
    assert len(by_plugin) >= 6
    assert [offline[number] for number in by_plugin] == [decided[number]["result"] for number in by_plugin]
    # Kafka's result is part of the state: the plugin's assignment, or the fallback's.
    for state, each in zip(shop.served.states(), decided, strict=True):
        if each["by"] == "assignor":
            assert state["observed"]["assignment"] == each["result"]["assignment"]
        else:
            assert each["by"] == "sticky"
            assert state["observed"]["assignment"] != (each["result"] or {}).get("assignment")
    median, in_python = (statistics.median(decided[at][key] for at in by_plugin) for key in ("ms", "python_ms"))
    print(f"median of {len(by_plugin)} decisions: {median:.1f} ms, {in_python:.1f} ms of them in Python")
