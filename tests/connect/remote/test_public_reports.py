"""Public reports of Connect operators, served from their REST documents; neighbours of each kind."""

from __future__ import annotations

import gzip
import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import attrs
import pytest

from assignor_lab.cli.main import main
from assignor_lab.connect.remote import restarting as restart_module
from assignor_lab.connect.remote.forwarding import forwarding_cause
from tests.connect.remote.scripted import Answer, Reply, Scripted, cluster, connector, scripted

CASES = Path(__file__).parents[2] / "data" / "public" / "connect"
PORT = re.compile(r"127\.0\.0\.1:187\d\d")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("_STAYS_S", 0.05), ("_UNSEEN_S", 0.3), ("_FIRST_LOOK_S", 0.02), ("_LATER_LOOK_S", 0.05)):
        monkeypatch.setattr(restart_module, name, seconds)


@pytest.fixture
def worker() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@attrs.define
class Case:
    """A report; its worker is the server itself."""

    name: str
    version: str = "4.3.1"
    worker: str = ""
    _answer: Answer | None = None

    def __call__(self, method: str, path: str) -> Reply:
        if self._answer is None:
            with gzip.open(CASES / f"{self.name}.json.gz", "rt") as file:
                document: dict[str, Any] = json.loads(PORT.sub(self.worker, file.read()))
            self._answer = cluster(document["connectors"], self._special(document.get("routes", {})))
        return self._answer(method, unquote(path))

    def _special(self, routes: dict[str, list[list[Any]]]) -> Callable[[str, str], Reply | None]:
        def special(method: str, path: str) -> Reply | None:
            if path == "/":
                return Reply(body={"version": self.version, "commit": "c", "kafka_cluster_id": "k"})
            replies = routes.get(f"{method} {path.partition('?')[0]}")
            if replies is None:
                return None
            status, body, *_ = replies.pop(0) if len(replies) > 1 else replies[0]
            return Reply(status, body)

        return special


@contextmanager
def served(answer: Answer) -> Iterator[Scripted]:
    with scripted(answer) as server:
        if isinstance(answer, Case):
            answer.worker = server.url.removeprefix("http://")
        yield server


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["connect", *arguments])
    assert isinstance(left.value.code, int)
    return left.value.code


def status(answer: Answer, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[dict[str, Any]]]:
    with served(answer) as server:
        code = run("status", "--url", server.url, "--fail-on", "any", "--json", *options)
    return code, [each for each in json.loads(capsys.readouterr().out)["findings"] if each["kind"] != "imbalance"]


def restart(answer: Answer, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, str]:
    with served(answer) as server:
        code = run("restart", *options, "--url", server.url, "--no-probe")
    captured = capsys.readouterr()
    return code, " ".join(captured.out.split()), captured.err


# --- status -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("worker_id", ["null:-1", ":8083", "null:8083", "0.0.0.0:8083", "connect-1:-1", "null:null"])
def test_workers_that_advertise_no_address_are_found(worker_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = cluster({"a": connector("a", {None: ("RUNNING", worker_id), 0: ("RUNNING", worker_id)})})
    code, (found,) = status(answer, capsys)
    assert (code, found["kind"], found["worker"]) == (1, "no-address", worker_id)
    assert "set rest.advertised.host.name and rest.advertised.port" in found["detail"]


@pytest.mark.parametrize("worker_id", ["connect-1:8083", "[2001:db8::1]:8083", "192.0.2.1:8083", "connect_1.x-y:443"])
def test_advertised_addresses_are_no_finding(worker_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = cluster({"a": connector("a", {None: ("RUNNING", worker_id), 0: ("RUNNING", worker_id)})})
    assert status(answer, capsys, "--no-probe") == (0, [])


def test_the_public_report_of_null_workers_is_named(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = status(Case("10-worker-id-null/rest"), capsys)
    assert (code, [each["kind"] for each in found]) == (1, ["no-address"])


def test_a_running_connector_without_tasks_is_found(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, (found,) = status(Case("11-connector-without-tasks/rest"), capsys)
    assert (code, found["kind"], found["connector"]) == (1, "no-tasks", "myConnector")
    assert "nothing is copied" in found["detail"]
    assert "Failed to reconfigure connector's tasks" in found["detail"]


def test_a_stopped_connector_needs_no_tasks(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(Case("11-connector-without-tasks/stopped-is-fine"), capsys) == (0, [])


@pytest.mark.parametrize(
    ("state", "tasks", "kinds"),
    [("RUNNING", 0, ["no-tasks"]), ("PAUSED", 0, []), ("FAILED", 0, ["failed"]), ("RUNNING", 1, ["missing"])],
)
def test_only_running_connectors_need_tasks(
    worker: str, capsys: pytest.CaptureFixture[str], state: str, tasks: int, kinds: list[str]
) -> None:
    _, found = status(cluster({"a": connector("a", {None: (state, worker)}, tasks)}), capsys)
    assert [each["kind"] for each in found] == kinds


def test_all_jobs_of_a_departed_worker_are_one_finding(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, (found,) = status(Case("12-unassigned-after-leave/rest"), capsys)
    assert (code, found["kind"], found["worker"]) == (1, "unassigned", "127.0.0.1:1")
    assert found["jobs"] == ["a", "a-0", "a-1", "a-2", "a-3"]
    for words in ("scheduled.rebalance.max.delay.ms (5 minutes by default)", "is gone", "stale (KAFKA-12525)"):
        assert words in found["detail"]


def test_the_configured_delay_is_the_longest_wait(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, (found,) = status(Case("12-unassigned-after-leave/rest"), capsys, "-c", "scheduled.rebalance.max.delay.ms=60000")
    assert "scheduled.rebalance.max.delay.ms (60 s)" in found["detail"]


def test_each_departed_worker_has_its_finding(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    connectors = {
        "a": connector("a", {None: ("RUNNING", worker), 0: ("UNASSIGNED", "127.0.0.1:1")}),
        "b": connector("b", {None: ("UNASSIGNED", "127.0.0.1:2"), 0: ("UNASSIGNED", worker)}),
        "c": connector("c", {None: ("UNASSIGNED", "127.0.0.1:1"), 0: ("RUNNING", worker)}),
    }
    _, found = status(cluster(connectors), capsys)
    assert [(each["worker"], each["jobs"]) for each in found] == [
        ("127.0.0.1:1", ["a-0", "c"]), ("127.0.0.1:2", ["b"]), (worker, ["b-0"]),
    ]  # fmt: skip
    assert "the last worker lives" in found[2]["detail"]


def test_watch_follows_unassigned_jobs_to_their_owner(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    looks = [0]

    def growing(method: str, path: str) -> Reply | None:
        if not path.startswith("/connectors?"):
            return None
        looks[0] += 1
        place = ("UNASSIGNED", "127.0.0.1:1") if looks[0] < 3 else ("RUNNING", worker)
        return Reply(body={"a": connector("a", {None: ("RUNNING", worker), 0: place, 1: place})})

    with scripted(cluster({"a": {}}, growing)) as server:
        assert run("status", "--url", server.url, "--watch", "--every", "0.05", "--fail-on", "unassigned") == 0
    said = capsys.readouterr().err
    assert "2 jobs of 127.0.0.1:1 without a worker (UNASSIGNED): a-0, a-1" in said
    assert f"a-1 is RUNNING on {worker}; it was seen without a worker for " in said


def test_watch_ends_when_no_delay_explains_the_wait(
    worker: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assignor_lab.connect.remote.waiting._MARGIN_MS", 100)
    with served(Case("12-unassigned-after-leave/rest")) as server:
        code = run(
            "status", "--url", server.url, "--watch", "--every", "0.05", "--fail-on", "any",
            "-c", "scheduled.rebalance.max.delay.ms=100",
        )  # fmt: skip
    assert code == 1
    assert "the state is stale (KAFKA-12525; a restart of the task" in capsys.readouterr().err


@pytest.mark.parametrize("state", ["DEGRADED", "PROVISIONING", "DESTROYED"])
def test_states_that_apache_kafka_does_not_have_are_found(
    worker: str, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    code, (found,) = status(cluster({"a": connector("a", {None: (state, worker), 0: ("RUNNING", worker)})}), capsys)
    assert (code, found["kind"]) == (1, "unknown")
    assert found["detail"].startswith(f"{state} is no state of Apache Kafka")


@pytest.mark.parametrize(
    ("spread", "is_uneven"),
    [((8, 4, 0), True), ((4, 0, 0), True), ((4, 4, 4), False), ((2, 1, 1), False), ((2, 0, 0), False)],
)
def test_a_connector_on_few_workers_is_found(
    capsys: pytest.CaptureFixture[str], spread: tuple[int, ...], is_uneven: bool
) -> None:
    def on(numbers: tuple[int, ...]) -> dict[int | None, tuple[str, str]]:
        places = [("RUNNING", f"w{worker}:1") for worker, count in enumerate(numbers) for _ in range(count)]
        return {None: ("RUNNING", "w0:1"), **dict(enumerate(places))}

    # The sum is even: the second connector has the counterpart.
    rest = tuple(max(spread) - count for count in spread)
    answer = cluster({"a": connector("a", on(spread)), "b": connector("b", on((*rest[:2], rest[2] + 1)))})
    _, found = status(answer, capsys, "--no-probe")
    uneven = [each for each in found if each["kind"] == "uneven" and each["connector"] == "a"]
    assert bool(uneven) == is_uneven
    assert all("/".join(map(str, spread)) in each["detail"] for each in uneven)


def test_urls_of_two_connect_clusters_are_found(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    ours = cluster({"a": connector("a", {None: ("RUNNING", worker), 0: ("RUNNING", worker)})})
    theirs = cluster({"b": connector("b", {None: ("RUNNING", worker), 0: ("RUNNING", worker)})})
    with scripted(ours) as one, scripted(theirs) as other:
        code = run("status", "--url", one.url, "--url", other.url, "--fail-on", "clusters", "--json")
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert (code, found["worker"]) == (1, other.url)
    assert "another Connect cluster" in found["detail"]


def test_two_clusters_that_write_to_one_status_topic_are_found(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = cluster({"b": connector("b", {None: ("RUNNING", worker), 0: ("RUNNING", worker)})})
    with scripted(theirs) as other:
        at = other.url.removeprefix("http://")
        ours = cluster({"a": connector("a", {None: ("RUNNING", worker), 0: ("RUNNING", at), 1: ("RUNNING", at)})})
        with scripted(ours) as one:
            code = run("status", "--url", one.url, "--url", other.url, "--fail-on", "clusters", "--json")
    (found,) = [each for each in json.loads(capsys.readouterr().out)["findings"] if each["kind"] == "clusters"]
    assert (code, found["worker"]) == (1, other.url)
    assert "states of this answer are of its worker (a-0, a-1)" in found["detail"]
    assert "status.storage.topic: give each cluster its own" in found["detail"]


def test_a_load_balancer_before_two_clusters_is_found(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    ids = iter(["one", "two"])

    def alternating(method: str, path: str) -> Reply | None:
        return Reply(body={"version": "4.3.1", "commit": "c", "kafka_cluster_id": next(ids)}) if path == "/" else None

    answer = cluster({"a": connector("a", {None: ("RUNNING", worker), 0: ("RUNNING", worker)})}, alternating)
    code, (found,) = status(answer, capsys)
    assert (code, found["kind"]) == (1, "clusters")


def test_names_of_mirror_maker_are_found(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = status(Case("18-mm2-names/rest"), capsys, "--no-probe")
    (waiting,) = [each for each in found if each["kind"] == "unassigned"]
    assert (code, waiting["jobs"]) == (1, ["src-kafka->dst.MirrorHeartbeatConnector"])
    assert "the last worker lives" in waiting["detail"]
    code, found = status(Case("18-mm2-names/names"), capsys)
    assert code == 1
    assert {"100%", "a/b", "my connector"} <= {each["connector"] for each in found if each["kind"] == "failed"}


def test_a_name_of_mirror_maker_is_restarted(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = "src-kafka->dst.MirrorSourceConnector"
    with served(Case("18-mm2-names/rest")) as server:
        assert run("restart", name, "--url", server.url, "--dry-run", "--include-tasks", "--no-probe") == 0
        assert f"/connectors/{name.replace('>', '%3E')}/status" in {each.path for each in server.seen}
    assert "12 of 12 instances would restart" in capsys.readouterr().out


# --- restart ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "words"),
    [("2.8.1", "Kafka Connect 2.8.1 does not know"), ("4.3.1", "a proxy may have answered in its place")],
)
def test_a_connect_that_ignores_the_flags_is_named(
    worker: str, capsys: pytest.CaptureFixture[str], version: str, words: str
) -> None:
    answer = Case("14-old-connect-ignores-flags/rest", version)
    code, printed, _ = restart(answer, capsys, "my", "--include-tasks", "--only-failed")
    assert code == 1
    assert words in printed
    assert "connector's instance only; 2 tasks are still FAILED" in printed
    for task in (1, 2):
        assert f"/connectors/my/tasks/{task}/restart'" in printed


def test_tasks_that_an_old_connect_left_alone_are_listed(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    states: dict[int | None, tuple[str, str]] = {None: ("RUNNING", worker), 0: ("RUNNING", worker)}
    answer = cluster({"a": connector("a", states)}, lambda method, path: Reply(204) if method == "POST" else None)
    code, printed, _ = restart(answer, capsys, "a", "--include-tasks")
    assert code == 1
    assert "no task is FAILED now, 1 task of the request was left alone" in printed
    assert restart(answer, capsys, "a")[0] == 0


@pytest.mark.parametrize(
    ("report", "cause"),
    [
        ("unknown-host", "is unknown there (DNS)"),
        ("connect-timeout", "another Connect cluster with the same group.id"),
        ("mesh", "a proxy or service mesh"),
    ],
)
def test_a_request_that_cannot_be_forwarded_is_one_line_with_its_cause(
    worker: str, capsys: pytest.CaptureFixture[str], report: str, cause: str
) -> None:
    code, _, said = restart(Case(f"15-forward-fails/{report}"), capsys, "my", "--timeout", "1")
    (line,) = said.splitlines()
    assert code == 2
    assert line.count("IO Error trying to forward REST request") == 1
    assert re.search(r"\(\d+ attempts\): the worker that got the request cannot forward it: ", line)
    assert cause in line


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("java.net.UnknownHostException: connect-2", "is unknown there (DNS)"),
        ("java.nio.channels.UnresolvedAddressException", "is unknown there (DNS)"),
        ("java.util.concurrent.TimeoutException: Idle timeout 30000 ms elapsed", "takes no connection in time"),
        ("java.net.ConnectException: Connection refused", "no worker listens"),
        ("Unexpected character ('<' (code 60)): expected a valid value", "a proxy or service mesh"),
        ("javax.net.ssl.SSLHandshakeException: PKIX path building failed", "certificates"),
        ("java.net.URISyntaxException: Expected authority: http://null:-1/", "advertises no address"),
        ("something new", "cannot reach the leader or owner"),
    ],
)
def test_causes_follow_from_the_form_of_the_message(message: str, cause: str) -> None:
    assert cause in forwarding_cause(f"IO Error trying to forward REST request: {message}")


def test_the_next_url_gets_the_request_that_was_not_forwarded(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = Case("15-forward-fails/unknown-host"), Case("15-forward-fails/second-url")
    with served(first) as one, served(second) as other:
        # The states of the case stay as they are; the connector's instance runs.
        assert run("restart", "my", "--url", one.url, "--url", other.url, "--no-probe") == 0
        posts = [sum(each.method == "POST" for each in server.seen) for server in (one, other)]
    assert posts == [1, 1]
    (line,) = capsys.readouterr().err.splitlines()
    assert "(1 attempt): " in line


@pytest.mark.parametrize(
    ("report", "code", "words"),
    [
        ("s-ok", 0, "2 of 2 came back"),
        ("s-failagain", 1, "1 of 2 came back"),
        ("s-nothingfailed", 0, "nothing was to restart"),
    ],
)
@pytest.mark.slow
def test_outcomes_of_restarts_stay(
    worker: str, capsys: pytest.CaptureFixture[str], report: str, code: int, words: str
) -> None:
    answer = Case(f"19-restart-outcomes/{report}")
    ended, printed, _ = restart(answer, capsys, "my", "--include-tasks", "--only-failed")
    # Both are read from the same scripted states: only the last one differs.
    assert ended == code
    assert words in printed


def test_refusals_of_a_restart_stay(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, said = restart(Case("19-restart-outcomes/r-409conf"), capsys, "my")
    assert code == 0
    assert said.count("Cannot complete request because of a conflicting operation") == 1
    code, _, said = restart(Case("19-restart-outcomes/r-403"), capsys, "my")
    assert (code, "User cannot access the resource" in said) == (2, True)


def test_a_failed_task_without_a_configuration_is_not_promised(worker: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = Case("19-restart-outcomes/stale-tasks")
    code, printed, _ = restart(answer, capsys, "shrunk", "--include-tasks", "--only-failed", "--dry-run")
    assert code == 0
    assert "shrunk-2 FAILED will not restart: the connector has fewer tasks now" in printed
    assert "KAFKA-9472" in printed
    assert "0 of 5 instances would restart" in printed


def test_a_task_without_a_configuration_does_not_fail_a_restart(
    worker: str, capsys: pytest.CaptureFixture[str]
) -> None:
    states: dict[int | None, tuple[str, str]] = {
        None: ("RUNNING", worker),
        0: ("RUNNING", worker),
        1: ("FAILED", worker),
    }
    planned = connector("a", {**states, 1: ("RESTARTING", worker)}, tasks=1)["status"]
    answer = cluster(
        {"a": connector("a", states, tasks=1)}, lambda method, path: Reply(202, planned) if method == "POST" else None
    )
    code, printed, _ = restart(answer, capsys, "a", "--include-tasks", "--only-failed")
    assert code == 0
    assert "KAFKA-9472" in printed
