"""`assignor connect restart`: the announced restarts, the requests, and the wait."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.cli.main import main
from assignor_lab.connect.remote import UnreachableClusterError, read_status
from assignor_lab.connect.remote import restarting as restart_module
from assignor_lab.kafka.herder.restarts import RestartRequest, planned
from tests.connect.remote.scripted import Answer, Reply, cluster, connector, scripted

W1, W2 = "127.0.0.1:1", "127.0.0.1:2"
MIXED: dict[int | None, tuple[str, str]] = {
    None: ("RUNNING", W1), 0: ("FAILED", W1), 1: ("RUNNING", W2), 2: ("RESTARTING", W2), 3: ("PAUSED", W1),
}  # fmt: skip


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("_STAYS_S", 0.05), ("_UNSEEN_S", 0.3), ("_FIRST_LOOK_S", 0.02), ("_LATER_LOOK_S", 0.05)):
        monkeypatch.setattr(restart_module, name, seconds)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["connect", "restart", *arguments])
    assert isinstance(left.value.code, int)
    return left.value.code


def restarts(
    posts: Sequence[Reply], states: Sequence[dict[int | None, tuple[str, str]]], name: str = "a"
) -> tuple[Answer, list[str]]:
    asked: list[str] = []
    waiting: Iterator[Reply] = iter(posts)
    coming = iter(states[1:])
    now = [states[0]]

    def answer(method: str, path: str) -> Reply:
        if method == "POST":
            asked.append(path)
            return next(waiting)
        if path == f"/connectors/{name}/status":
            if len(asked) == len(posts):
                now[0] = next(coming, now[0])
            return Reply(body=connector(name, now[0], trace="org.E: again")["status"])
        return Reply(404, {"error_code": 404, "message": f"No status found for connector {path}"})

    return answer, asked


def plan(states: dict[int | None, tuple[str, str]], *chosen: int | None, name: str = "a") -> Reply:
    changed = {
        number: ("RESTARTING" if number in chosen else state, worker) for number, (state, worker) in states.items()
    }
    return Reply(202, connector(name, changed)["status"])


# --- announced restarts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "chosen"),
    [
        ([], [None]),
        (["--include-tasks"], [None, 0, 1, 2, 3]),
        (["--only-failed"], [2]),
        (["--include-tasks", "--only-failed"], [0, 2]),
    ],
)
def test_a_dry_run_shows_the_plan_and_changes_nothing(
    capsys: pytest.CaptureFixture[str], flags: list[str], chosen: list[int | None]
) -> None:
    answer, _ = restarts([], [MIXED])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--dry-run", "--json", *flags) == 0
        assert {each.method for each in server.seen} == {"GET"}
        told = json.loads(capsys.readouterr().out)
        assert run("a", "--url", server.url, "--dry-run", *flags) == 0
    assert [each["task"] for each in told["restarts"]] == chosen
    assert f"{len(chosen)} of 5 instances would restart; nothing was changed" in capsys.readouterr().out


def _recorded_restarts() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Restarts that real Connect answered with a plan, with the last states before them."""
    path = Path(__file__).parents[2] / "data" / "captures" / "rest" / "sessioned.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        recorded = [json.loads(line) for line in lines]
    known: dict[str, dict[str, Any]] = {}
    found = []
    for each in recorded:
        name = each["path"].split("/")[2].split("?")[0] if each["path"].count("/") > 1 else ""
        if each["path"] == f"/connectors/{name}/status" and each["status"] == 200:
            known[name] = each["body"]
        if "/restart?" in each["path"] and each["status"] == 202 and each["state"].startswith("REST: a failed task"):
            found.append((each["path"], known[name], each["body"]))
    return found


def test_the_plan_is_that_of_recorded_answers() -> None:
    found = _recorded_restarts()
    assert len(found) == 2
    for path, before, answered in found:
        request = RestartRequest(before["name"], "onlyFailed=true" in path, "includeTasks=true" in path)
        ours, theirs = planned(request, read_status(before)), read_status(answered)
        assert {task.number: task.state for task in ours.tasks} == {task.number: task.state for task in theirs.tasks}
        assert ours.connector.state == theirs.connector.state


# --- requests ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "path"),
    [
        ([], "/connectors/a/restart"),
        (["--include-tasks"], "/connectors/a/restart?includeTasks=true&onlyFailed=false"),
        (["--only-failed"], "/connectors/a/restart?includeTasks=false&onlyFailed=true"),
        (["--include-tasks", "--only-failed"], "/connectors/a/restart?includeTasks=true&onlyFailed=true"),
    ],
)
def test_the_request_is_connects(flags: list[str], path: str) -> None:
    running: dict[int | None, tuple[str, str]] = {None: ("RUNNING", W1)}
    answer, asked = restarts([plan(running, None) if flags else Reply(204)], [running])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, *flags) == 0
    assert asked == [path]


def test_names_are_one_segment_of_the_path(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted(lambda method, path: Reply(404, {"error_code": 404, "message": "No"})) as server:
        assert run("a/../b?c#d %2e", "--url", server.url, "--dry-run") == 2
        assert [each.path for each in server.seen] == ["/connectors/a%2F..%2Fb%3Fc%23d%20%252e/status", "/connectors"]
        assert run("..", "--url", server.url, "--dry-run") == 2
    assert "cannot be part of a path" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["orders-sink", "audit"], "the cluster's connectors are audit and orders-sink; did you mean 'orders-sink'?"),
        ([f"c{number:02}" for number in range(12)], "c09 and 2 more."),
        ([], "the cluster has no connector."),
        (None, "404 No status found for connector order-sink"),
    ],
)
def test_an_unknown_connector_is_told_with_those_of_the_cluster(
    names: list[str] | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(method: str, path: str) -> Reply:
        if path == "/connectors" and names is not None:
            return Reply(body=names)
        return Reply(404, {"error_code": 404, "message": "No status found for connector order-sink"})

    with scripted(answer) as server:
        assert run("order-sink", "--url", server.url, "--dry-run") == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_a_refusal_is_asked_again(capsys: pytest.CaptureFixture[str]) -> None:
    running: dict[int | None, tuple[str, str]] = {None: ("RUNNING", W1), 0: ("FAILED", W1)}
    refusal = Reply(409, {"error_code": 409, "message": "Cannot complete request momentarily\x1b[0m"})
    back = {**running, 0: ("RUNNING", W1)}
    answer, asked = restarts([refusal, refusal, plan(running, 0)], [running, back])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--only-failed", "--include-tasks") == 0
    assert len(asked) == 3
    said = capsys.readouterr().err
    assert "refused for now: Cannot complete request momentarily\\u001b" in said
    assert "\x1b" not in said


@pytest.mark.slow
@pytest.mark.parametrize("flags", [[], ["--include-tasks"]])
def test_a_restart_waits_until_another_worker_has_what_a_dead_one_had(
    flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    running: dict[int | None, tuple[str, str]] = {None: ("RUNNING", W1)}
    unforwarded = Reply(
        500, {"error_code": 500, "message": "IO Error trying to forward REST request: Connection refused"}
    )
    rebalances = Reply(409, {"error_code": 409, "message": "a rebalance is expected"})
    done = plan(running, None) if flags else Reply(204)
    answer, asked = restarts([unforwarded, rebalances, done], [running, {None: ("RUNNING", W2)}])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, *flags) == 0
    assert len(asked) == 3
    assert "refused for now: IO Error trying to forward REST request: Connection refused" in capsys.readouterr().err


@pytest.mark.slow
def test_an_owner_that_stays_away_ends_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    unforwarded = Reply(500, {"error_code": 500, "message": "IO Error trying to forward REST request: refused"})
    answer, asked = restarts([unforwarded] * 50, [{None: ("RUNNING", W1)}])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--timeout", "1") == 2
    assert 1 < len(asked) < 50
    assert "500 IO Error trying to forward REST request: refused" in capsys.readouterr().err


@pytest.mark.slow
def test_a_refusal_that_stays_ends_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    refusal = Reply(409, {"error_code": 409, "message": "Cannot complete request momentarily"})
    answer, asked = restarts([refusal] * 50, [{None: ("RUNNING", W1)}])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--timeout", "1") == 2
    assert 1 < len(asked) < 50
    assert "the cluster rebalances; try again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(404, {"error_code": 404, "message": "Unknown connector: a"}), "404 Unknown connector: a"),
        (Reply(500, {"error_code": 500, "message": "Request timed out. The worker"}), "500 Request timed out"),
        (Reply(500, {"error_code": 500, "message": None}), "500"),
        (Reply(502, b"<html>bad gateway"), "502 without Connect's error body"),
        (Reply(202, b"{"), "no JSON"),
        (Reply(202, {"name": "a"}), "is missing"),
        (Reply(307, None, {"Location": "http://elsewhere.invalid/"}), "sent elsewhere (307)"),
    ],
)
def test_other_refusals_are_told_at_once(capsys: pytest.CaptureFixture[str], reply: Reply, said: str) -> None:
    answer, asked = restarts([reply], [{None: ("RUNNING", W1)}])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--include-tasks") == 2
    assert len(asked) == 1
    assert said in capsys.readouterr().err


# --- responses --------------------------------------------------------------------------------------


def outcome(
    capsys: pytest.CaptureFixture[str], states: Sequence[dict[int | None, tuple[str, str]]], *chosen: int | None,
    options: Sequence[str] = ("--include-tasks",),
) -> tuple[int, dict[int | None, tuple[str | None, bool, bool]]]:  # fmt: skip
    answer, _ = restarts([plan(states[0], *chosen)], states)
    with scripted(answer) as server:
        code = run("a", "--url", server.url, "--json", *options)
    told = json.loads(capsys.readouterr().out)
    return code, {each["task"]: (each["state"], each["came_back"], each["change_seen"]) for each in told["restarts"]}


def states_of(*tasks: str) -> dict[int | None, tuple[str, str]]:
    return {None: ("RUNNING", W1), **{number: (state, W1) for number, state in enumerate(tasks)}}


@pytest.mark.slow
def test_it_waits_through_every_state_until_all_is_back(capsys: pytest.CaptureFixture[str]) -> None:
    states = [
        states_of("FAILED", "RUNNING"),
        states_of("FAILED", "UNASSIGNED"),
        states_of("RESTARTING", "RESTARTING"),
        states_of("RUNNING", "RESTARTING"),
        states_of("RUNNING", "RUNNING"),
    ]
    assert outcome(capsys, states, 0, 1) == (0, {0: ("RUNNING", True, True), 1: ("RUNNING", True, True)})


@pytest.mark.slow
def test_a_task_that_fails_after_it_ran_is_not_back(capsys: pytest.CaptureFixture[str]) -> None:
    states = [states_of("FAILED"), states_of("RESTARTING"), states_of("RUNNING"), states_of("FAILED")]
    assert outcome(capsys, states, 0) == (1, {0: ("FAILED", False, True)})


@pytest.mark.slow
def test_a_failure_of_which_nothing_was_seen_is_not_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, [states_of("FAILED")], 0) == (1, {0: ("FAILED", False, False)})


@pytest.mark.slow
def test_a_restart_quicker_than_a_look_is_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(capsys, [states_of("RUNNING")], None) == (0, {None: ("RUNNING", True, False)})


@pytest.mark.slow
def test_what_is_paused_or_gone_is_back(capsys: pytest.CaptureFixture[str]) -> None:
    states = [states_of("PAUSED", "RUNNING"), states_of("RESTARTING", "RESTARTING"), states_of("PAUSED")]
    assert outcome(capsys, states, 0, 1) == (0, {0: ("PAUSED", True, True), 1: (None, True, True)})


@pytest.mark.slow
def test_what_does_not_come_back_in_time_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    states = [states_of("FAILED"), states_of("RESTARTING")]
    options = ("--include-tasks", "--timeout", "1")
    assert outcome(capsys, states, 0, options=options) == (1, {0: ("RESTARTING", False, True)})


def test_nothing_to_restart_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    answer, _ = restarts([plan(states_of("RUNNING"))], [states_of("RUNNING")])
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--only-failed") == 0
    assert "nothing was to restart" in capsys.readouterr().out


@pytest.mark.slow
def test_the_report_names_what_failed_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    states = [states_of("FAILED"), states_of("RESTARTING"), states_of("FAILED")]
    answer, _ = restarts([plan(states[0], 0)], states)
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--include-tasks") == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "task a-0 FAILED FAILED 127.0.0.1:1 org.E: again" in printed
    assert "0 of 1 came back" in printed


@pytest.mark.slow
def test_a_worker_that_is_silent_for_a_moment_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    states = [states_of("FAILED"), states_of("RESTARTING"), states_of("RUNNING")]
    answer, _ = restarts([plan(states[0], 0)], states)
    look: Callable[..., Any] = restart_module._status
    looks = [0]

    async def unsteady(*arguments: Any) -> Any:
        looks[0] += 1
        if looks[0] in (3, 4):
            raise UnreachableClusterError("no complete answer")
        return await look(*arguments)

    monkeypatch.setattr(restart_module, "_status", unsteady)
    with scripted(answer) as server:
        assert run("a", "--url", server.url, "--include-tasks") == 0


# --- dead workers -----------------------------------------------------------------------------------


@pytest.fixture
def living() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def with_cluster(states: Sequence[dict[int | None, tuple[str, str]]], *chosen: int | None) -> Answer:
    answer, _ = restarts([plan(states[0], *chosen)], states)

    def answers(method: str, path: str) -> Reply:
        if method == "GET" and not path.endswith("/status"):
            return cluster({"a": connector("a", states[0])})(method, path)
        return answer(method, path)

    return answers


@pytest.mark.slow
def test_what_is_running_on_paper_on_a_dead_worker_is_not_back(living: str, capsys: pytest.CaptureFixture[str]) -> None:
    states: dict[int | None, tuple[str, str]] = {None: ("RUNNING", living), 0: ("RUNNING", living), 1: ("RUNNING", W1)}
    with scripted(with_cluster([states], None, 0, 1)) as server:
        assert run("a", "--url", server.url, "--include-tasks", "--timeout", "2") == 1
        printed = " ".join(capsys.readouterr().out.split())
    assert "its worker takes no connection (Connection refused)" in printed
    assert "2 of 3 came back within 2 s" in printed


@pytest.mark.slow
def test_which_worker_is_dead_is_told_to_programs(living: str, capsys: pytest.CaptureFixture[str]) -> None:
    states: dict[int | None, tuple[str, str]] = {None: ("RUNNING", living), 0: ("RUNNING", W1)}
    with scripted(with_cluster([states], None, 0)) as server:
        assert run("a", "--url", server.url, "--include-tasks", "--timeout", "1", "--json") == 1
    told = {each["job"]: each for each in json.loads(capsys.readouterr().out)["restarts"]}
    assert "worker_is_dead" not in told["a"]
    assert told["a-0"]["worker_is_dead"] == "takes no connection (Connection refused)"
    assert [told[job]["came_back"] for job in ("a", "a-0")] == [True, False]


@pytest.mark.slow
def test_a_task_that_others_take_over_from_a_dead_worker_is_back(
    living: str, capsys: pytest.CaptureFixture[str]
) -> None:
    on_dead: dict[int | None, tuple[str, str]] = {None: ("RUNNING", living), 0: ("RUNNING", W1)}
    taken: dict[int | None, tuple[str, str]] = {**on_dead, 0: ("RUNNING", living)}
    with scripted(with_cluster([*[on_dead] * 10, taken], None, 0)) as server:
        assert run("a", "--url", server.url, "--include-tasks", "--timeout", "20") == 0
    assert "2 of 2 came back" in capsys.readouterr().out


@pytest.mark.slow
def test_without_probing_states_are_believed(living: str) -> None:
    states: dict[int | None, tuple[str, str]] = {None: ("RUNNING", living), 0: ("RUNNING", W1)}
    with scripted(with_cluster([states], None, 0)) as server:
        assert run("a", "--url", server.url, "--include-tasks", "--timeout", "5", "--no-probe") == 0


@pytest.mark.slow
def test_a_dry_run_says_that_a_worker_is_dead(living: str, capsys: pytest.CaptureFixture[str]) -> None:
    states: dict[int | None, tuple[str, str]] = {None: ("RUNNING", living), 0: ("FAILED", W1)}
    with scripted(with_cluster([states])) as server:
        assert run("a", "--url", server.url, "--include-tasks", "--dry-run") == 0
        assert f"{W1} takes no connection (Connection refused): its jobs will not" in capsys.readouterr().out
        assert run("a", "--url", server.url, "--include-tasks", "--dry-run", "--json") == 0
    told = json.loads(capsys.readouterr().out)["restarts"]
    assert ["worker_is_dead" in each for each in told] == [False, True]
