from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest

from assignor_lab.cli.main import main
from assignor_lab.scenarios import read_scenarios
from tests.connect.real_kafka import RealConnect, real_connect, until

pytestmark = pytest.mark.services


@attrs.frozen
class Cluster:
    urls: tuple[str, str]
    http: httpx.Client
    directory: Path
    named: Callable[[str], str]
    kill: Callable[[], object]

    def options(self) -> list[str]:
        return [word for url in self.urls for word in ("--url", url)]

    def create(self, name: str, file: str, tasks: int) -> None:
        config = {"connector.class": "FileStreamSink", "tasks.max": str(tasks), "topics": "t", "file": self.named(file)}
        url = f"{self.urls[0]}/connectors/{name}/config"
        until(lambda: self.http.put(url, json=config).status_code in (200, 201), f"creating {name}")

    def block(self, directory: str) -> None:
        (self.directory / directory).write_text("in the way")

    def unblock(self, directory: str) -> None:
        (self.directory / directory).unlink()
        (self.directory / directory).mkdir()

    def states(self, name: str) -> list[str]:
        status = self.http.get(f"{self.urls[1]}/connectors/{name}/status").json()
        return [each["state"] for each in (status["connector"], *status["tasks"])] if "connector" in status else []

    def restart_answer(self, name: str, flags: tuple[str, ...]) -> dict[str, Any]:
        params = {"includeTasks": "--include-tasks" in flags, "onlyFailed": "--only-failed" in flags}
        answer = self.http.post(f"{self.urls[1]}/connectors/{name}/restart", params=params)
        assert answer.status_code == 202
        plan: dict[str, Any] = answer.json()
        return plan


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealConnect]:
    yield from real_connect(tmp_path_factory.mktemp("kafka"), workers=2)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("served")
    code = "from assignor_lab.cli.main import main; main()"
    options = ["--workers", "2", "--port", "0", "--data-dir", str(directory), "--log-level", "ERROR"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "connect", "serve", *options], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        first, second = (process.stdout.readline().split()[1].rstrip("/") for _ in range(2))
        with httpx.Client(trust_env=False, timeout=100) as http:
            files = directory / "files"
            files.mkdir(exist_ok=True)
            kill = ["connect", "workers", "kill", "w2", "--data-dir", str(directory), "--json"]
            yield Cluster((first, second), http, files, lambda name: name, lambda: _done(kill))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture(scope="module", params=["kafka", "served"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    if request.param == "served":
        ours: Cluster = request.getfixturevalue("served")
        return ours
    real: RealConnect = request.getfixturevalue("kafka")
    files = real.directory / "files"
    files.mkdir()
    return Cluster(
        (real.urls["w1"], real.urls["w2"]), real.http, files, lambda name: str(files / name), lambda: real.kill("w2")
    )


def _done(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    with pytest.raises(SystemExit) as left:
        main(["connect", *arguments, "--json"])
    out = capsys.readouterr().out
    assert isinstance(left.value.code, int)
    return left.value.code, json.loads(out) if out else None


def test_a_failed_task_is_found_restarted_and_back(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.create("good", "good.txt", tasks=1)
    cluster.block("blocked")
    cluster.create("broken", "blocked/broken.txt", tasks=2)
    until(lambda: cluster.states("broken") == ["RUNNING", "FAILED", "FAILED"], "the failure")
    until(lambda: cluster.states("good") == ["RUNNING", "RUNNING"], "the other connector")

    code, status = run(capsys, "status", *cluster.options(), "--fail-on", "failed")
    found = [(each["kind"], each["connector"], each["task"]) for each in status["findings"]]
    assert (code, found) == (1, [("failed", "broken", 0), ("failed", "broken", 1)])
    assert [worker["lives"] for worker in status["workers"]] == [True, True]

    # One of the two is back: the following plans contain both states.
    cluster.unblock("blocked")
    until(
        lambda: cluster.http.post(f"{cluster.urls[0]}/connectors/broken/tasks/0/restart").status_code == 204,
        "the restart of a task",
    )
    until(lambda: cluster.states("broken") == ["RUNNING", "RUNNING", "FAILED"], "task 0")
    code, report = run(capsys, "restart", "broken", "--include-tasks", "--only-failed", *cluster.options())
    assert (code, report["timed_out"]) == (0, False)
    assert [(each["job"], each["before"], each["state"]) for each in report["restarts"]] == [
        ("broken-1", "FAILED", "RUNNING")
    ]
    code, status = run(capsys, "status", *cluster.options(), "--fail-on", "any")
    assert (code, status["findings"]) == (0, [])


def test_a_dry_run_names_what_the_answer_names(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.block("later")
    cluster.create("mixed", "later/mixed.txt", tasks=3)
    until(lambda: cluster.states("mixed") == ["RUNNING", *["FAILED"] * 3], "the failure")
    cluster.unblock("later")
    assert cluster.http.post(f"{cluster.urls[0]}/connectors/mixed/tasks/1/restart").status_code == 204
    until(lambda: cluster.states("mixed") == ["RUNNING", "FAILED", "RUNNING", "FAILED"], "task 1")
    shutil.rmtree(cluster.directory / "later")
    cluster.block("later")
    for flags in (("--only-failed",), ("--include-tasks", "--only-failed"), ("--include-tasks",)):
        code, planned = run(capsys, "restart", "mixed", "--dry-run", *flags, *cluster.options())
        before = cluster.states("mixed")
        answer = cluster.restart_answer("mixed", flags)
        answered = [None] if answer["connector"]["state"] == "RESTARTING" else []
        answered += sorted(task["id"] for task in answer["tasks"] if task["state"] == "RESTARTING")
        assert (code, [each["task"] for each in planned["restarts"]]) == (0, answered), (flags, before)
        expected = {"--only-failed": [], "--include-tasks": [None, 0, 1, 2]}.get(" ".join(flags), [0, 2])
        assert answered == expected
        if "--include-tasks" in flags:
            _settle(cluster, "mixed", tasks=3)


def _settle(cluster: Cluster, name: str, tasks: int) -> None:
    """Waits until nothing changes for a while: the next plan must not meet the previous restart."""
    seen: list[list[str]] = []

    def calm() -> bool:
        time.sleep(0.2)
        seen.append(cluster.states(name))
        settled = set(seen[-1]) <= {"RUNNING", "FAILED"} and len(seen[-1]) == tasks + 1
        return settled and len(seen) >= 10 and all(states == seen[-1] for states in seen[-10:])

    until(calm, "calm")


def test_a_task_that_fails_again_is_told(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.block("never")
    cluster.create("hopeless", "never/there.txt", tasks=1)
    until(lambda: cluster.states("hopeless") == ["RUNNING", "FAILED"], "the failure")
    code, report = run(capsys, "restart", "hopeless", "--include-tasks", *cluster.options(), "--timeout", "60")
    assert code == 1
    assert [(each["job"], each["state"], each["came_back"]) for each in report["restarts"]] == [
        ("hopeless", "RUNNING", True),
        ("hopeless-0", "FAILED", False),
    ]
    code, _ = run(capsys, "restart", "nobody", "--include-tasks", *cluster.options())
    assert code == 2


def test_the_running_cluster_is_imported(cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.create("many", "many.txt", tasks=5)
    until(lambda: cluster.states("many") == ["RUNNING"] * 6, "the tasks")
    out = tmp_path / "state.jsonl"
    with pytest.raises(SystemExit) as left:
        main(["connect", "import", *cluster.options(), "--out", str(out)])
    assert left.value.code == 0
    (scenario,) = read_scenarios(out)
    workers = scenario.connect_history.rounds[0].workers
    assert sorted(worker.member_id for worker in workers) == sorted(url.removeprefix("http://") for url in cluster.urls)
    tasks = [task for worker in workers for task in worker.owned.tasks if task.connector == "many"]
    assert sorted(task.task for task in tasks) == list(range(5))
    with pytest.raises(SystemExit) as left:
        main(["assign", "--assignor", "connect_incremental", str(out)])
    assert left.value.code == 0
    # The cluster is calm, so Kafka's assignor leaves it as it is.
    (answer,) = json.loads(capsys.readouterr().out)["rounds"]
    jobs = [*answer["assigned"].values(), *answer["revoked"].values()]
    assert not any(each["connectors"] or each["tasks"] for each in jobs)


@pytest.mark.parametrize("cluster", ["kafka"], indirect=True)
def test_what_the_broker_describes_comes_out_as_the_leader_answered(
    kafka: RealConnect, cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = []
    for number in range(3):
        cluster.create(f"described-{number}", f"described-{number}.txt", tasks=number + 1)
        until(lambda number=number: len(cluster.states(f"described-{number}")) == number + 2, "tasks")  # type: ignore[misc]
        lines.append(kafka.describe_group())
    recording, out = tmp_path / "described.jsonl", tmp_path / "histories.jsonl"
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(SystemExit) as left:
        main(["connect", "import", str(recording), "--check", "--out", str(out)])
    assert left.value.code == 0
    assert " recorded generations reproduced" in capsys.readouterr().err
    assert {scenario.connect_history.protocol.value for scenario in read_scenarios(out)} == {"sessioned"}


def test_states_of_a_dead_worker_are_stale(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    cluster.create("pair", "pair.txt", tasks=4)
    until(lambda: cluster.states("pair") == ["RUNNING"] * 5, "the tasks")
    cluster.kill()
    capsys.readouterr()
    worker = cluster.urls[1].removeprefix("http://")
    status = cluster.http.get(f"{cluster.urls[0]}/connectors/pair/status").json()
    lost = [task["id"] for task in status["tasks"] if task["worker_id"] == worker]
    code, told = run(capsys, "status", "--url", cluster.urls[0], "--fail-on", "stale")
    found = [each["task"] for each in told["findings"] if each["kind"] == "stale" and each["connector"] == "pair"]
    assert code == 1
    assert lost
    assert [task for task in found if task is not None] == lost
    assert {each["worker_id"]: each["lives"] for each in told["workers"]}[worker] is False
