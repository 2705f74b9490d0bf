"""``assignor connect serve``, run as a user."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from assignor_lab.cli.main import main
from connect_workers.control import ask
from tests.signals import hear_ctrl_c

pytestmark = pytest.mark.services


class Served:
    def __init__(self, *arguments: str) -> None:
        code = "from assignor_lab.cli.main import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "connect", "serve", *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, preexec_fn=hear_ctrl_c,  # noqa: PLW1509 - nothing else runs there
        )  # fmt: skip

    def urls(self, workers: int) -> list[str]:
        assert self.process.stdout is not None
        return [self.process.stdout.readline().split()[1] for _ in range(workers)]

    def end(self, sign: signal.Signals) -> int:
        self.process.send_signal(sign)
        code = self.process.wait(30)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def until(condition: Callable[[], bool], timeout_s: float = 30.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def serve() -> Iterator[Callable[..., Served]]:
    started: list[Served] = []

    def start(*arguments: str) -> Served:
        started.append(Served(*arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.end(signal.SIGKILL)


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=30) as client:
        yield client


def workers(directory: Path, *arguments: str) -> list[dict[str, Any]]:
    code = "from assignor_lab.cli.main import main; main()"
    command = [sys.executable, "-c", code, "connect", "workers", *arguments, "--data-dir", str(directory), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    listed: list[dict[str, Any]] = json.loads(done.stdout)
    return listed


def test_serve_survives_kill_9_and_workers_are_managed(
    tmp_path: Path, http: httpx.Client, serve: Callable[..., Served]
) -> None:
    arguments = ("--workers", "2", "--port", "0", "--data-dir", str(tmp_path), "--max-delay-ms", "0")
    config = {"connector.class": "GeneratorSource", "topic": "t", "tasks.max": "2"}
    first = serve(*arguments)
    urls = first.urls(2)

    def running(url: str) -> bool:
        answer = http.get(f"{url}connectors/gen/status").json()
        return [task["state"] for task in answer.get("tasks", ())] == ["RUNNING"] * 2

    until(lambda: http.put(f"{urls[1]}connectors/gen/config", json=config).status_code in (200, 201))
    until(lambda: running(urls[0]))
    assert first.end(signal.SIGKILL) == -signal.SIGKILL

    second = serve(*arguments, "--protocol", "static", "--static-tasks", "w2=gen-0,gen-1")
    urls = second.urls(2)
    until(lambda: running(urls[0]))
    assert http.get(f"{urls[0]}connectors/gen/config").json() == {**config, "name": "gen"}
    until(lambda: [each["tasks"] for each in ask(tmp_path, {"do": "list"})] == [0, 2])
    added = workers(tmp_path, "add", "--name", "spare", "--static-tasks", "gen-0")
    assert [each["worker"] for each in added] == ["w1", "w2", "spare"]
    left = workers(tmp_path, "stop", "w2")
    assert [each["worker"] for each in left] == ["w1", "spare"]
    until(lambda: {each["worker"]: each["tasks"] for each in ask(tmp_path, {"do": "list"})} == {"w1": 1, "spare": 1})
    assert second.end(signal.SIGINT) == 0


def test_a_restart_waits_for_the_new_owner_of_a_killed_workers_connector(
    tmp_path: Path, http: httpx.Client, serve: Callable[..., Served]
) -> None:
    arguments = ("--workers", "2", "--port", "0", "--max-delay-ms", "0", "--session-timeout-ms", "8000")
    urls = serve(*arguments, "--data-dir", str(tmp_path)).urls(2)
    config = {"connector.class": "GeneratorSource", "topic": "t", "tasks.max": "2"}
    until(lambda: http.put(f"{urls[0]}connectors/gen/config", json=config).status_code in (200, 201))

    def status() -> dict[str, Any]:
        answer: dict[str, Any] = http.get(f"{urls[0]}connectors/gen/status").json()
        return answer

    until(lambda: [task["state"] for task in status().get("tasks", ())] == ["RUNNING"] * 2)
    owner = [status()["connector"]["worker_id"] in url for url in urls].index(True)
    other = urls[1 - owner]
    workers(tmp_path, "kill", f"w{owner + 1}")
    code = "from assignor_lab.cli.main import main; main()"
    command = [sys.executable, "-c", code, "connect", "restart", "gen", "--url", other, "--timeout", "30", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused for now: " in done.stderr
    assert http.get(f"{other}connectors/gen/status").json()["connector"]["worker_id"] in other


def test_serve_standalone(tmp_path: Path, http: httpx.Client, serve: Callable[..., Served]) -> None:
    served = serve("--standalone", "--port", "0", "--data-dir", str(tmp_path))
    (url,) = served.urls(1)
    config = {"connector.class": "GeneratorSource", "topic": "t"}
    created = http.put(f"{url}connectors/gen/config", json=config)
    assert (created.status_code, created.json()["tasks"]) == (201, [{"connector": "gen", "task": 0}])
    answer = http.post(f"{url}connectors/gen/restart?includeTasks=true")
    assert answer.status_code == 202
    assert answer.json()["connector"]["state"] == "RESTARTING"
    assert http.get(f"{url}health").status_code == 200
    assert served.end(signal.SIGTERM) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--standalone", "--workers", "2"], "alone"),
        (["--static-tasks", "w9=a-0"], "expected w1=... to w1=..."),
        (["--static-tasks", "w1=a"], "is not the id of a connector's task"),
        (["--protocol", "newest"], "use one of eager, compatible, sessioned, static"),
        (["--log-level", "LOUD"], "is no level"),
        (["--assignor", "nobody"], "unknown Connect assignor 'nobody'"),
    ],
)
def test_wrong_use_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["connect", "serve", "--data-dir", str(tmp_path), *arguments])
    assert left.value.code == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize("kind", [(), ("--standalone",)])
def test_a_worker_whose_logs_cannot_be_written_says_so_and_goes_on_when_there_is_room(
    tmp_path: Path, http: httpx.Client, serve: Callable[..., Served], kind: tuple[str, ...]
) -> None:
    served = serve(*kind, "--port", "0", "--data-dir", str(tmp_path))
    (url,) = served.urls(1)
    config = {"connector.class": "GeneratorSource", "topic": "t", "records.max": "0"}

    def states() -> list[str]:
        status = http.get(f"{url}connectors/gen/status").json()
        return [each["state"] for each in (status["connector"], *status["tasks"])] if "connector" in status else []

    until(lambda: http.put(f"{url}connectors/gen/config", json=config).status_code in (200, 201))
    until(lambda: states() == ["RUNNING", "RUNNING"])
    until(lambda: http.get(f"{url}health").status_code == 200)
    limit = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
    # From now on no file can grow, as on a full disk.
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (15, limit[1]))
    http.post(f"{url}connectors/gen/restart")
    until(lambda: "status.log: File too large" in http.get(f"{url}health").json()["message"])
    refused = http.put(f"{url}connectors/gen/config", json={**config, "topic": "u"})
    assert refused.status_code == 500
    assert "config.log: File too large: nothing is written until that is mended" in refused.json()["message"]
    health = http.get(f"{url}health")
    assert (health.status_code, health.json()["status"]) == (500, "unhealthy")
    assert health.json()["message"].startswith("Worker was unable to handle this request and may be unable to handle")
    resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, limit)
    until(lambda: http.get(f"{url}health").json()["status"] == "healthy")
    assert http.put(f"{url}connectors/gen/pause").status_code == 202
    until(lambda: states() == ["PAUSED", "PAUSED"])
    assert served.end(signal.SIGTERM) == 0
