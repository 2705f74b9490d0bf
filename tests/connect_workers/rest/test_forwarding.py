from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import httpx
import pytest

from connect_workers import contract as h
from connect_workers.rest import create_app
from tests.connect_workers.rest.clients import client_of
from tests.connect_workers.rest.pretend_herder import PretendCluster, PretendHerder

pytestmark = pytest.mark.anyio

W1, W2, W3 = "http://127.0.0.1:8083", "http://127.0.0.1:8084", "http://127.0.0.1:8085"
CONFIG = {"connector.class": "live.GenConnector", "gen.tasks": "2"}


class Workers:
    def __init__(self, leaders: dict[str, str | None]) -> None:
        self.passed_on: list[httpx.Request] = []
        self.shared = PretendCluster()
        self.apps = {}
        for url in (W1, W2, W3):
            cluster = PretendCluster(
                configs=self.shared.configs,
                targets=self.shared.targets,
                tasks=self.shared.tasks,
                statuses=self.shared.statuses,
                leader=leaders.get(url, url),
            )
            between = httpx.AsyncClient(transport=httpx.MockTransport(self._pass_on))
            self.apps[url] = create_app(PretendHerder(cluster, url), client=between)

    async def _pass_on(self, request: httpx.Request) -> httpx.Response:
        self.passed_on.append(request)
        base = f"{request.url.scheme}://{request.url.netloc.decode()}"
        async with client_of(self.apps[base], base) as client:
            return await client.request(
                request.method, request.url, content=request.content, headers=dict(request.headers)
            )

    async def ask(self, method: str, path: str, **more: object) -> httpx.Response:
        async with client_of(self.apps[W1], W1) as client:
            return await client.request(method, path, **more)  # type: ignore[arg-type]


def answering(handler: Callable[[httpx.Request], httpx.Response]) -> Callable[[str, str], Awaitable[httpx.Response]]:
    async def ask(method: str, path: str) -> httpx.Response:
        herder = PretendHerder(PretendCluster(configs={"a": {}}, targets={"a": "RUNNING"}, leader=W2))
        app = create_app(herder, client=httpx.AsyncClient(transport=httpx.MockTransport(handler)))
        async with client_of(app) as client:
            return await client.request(method, path)

    return ask


async def test_the_leader_creates_and_the_worker_that_was_asked_says_where() -> None:
    workers = Workers({W1: W2})
    answer = await workers.ask("POST", "/connectors", json={"name": "a", "config": CONFIG})
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{W1}/connectors/a"
    assert answer.json()["config"] == {**CONFIG, "name": "a"}
    assert [str(each.url) for each in workers.passed_on] == [f"{W2}/connectors?forward=true"]


async def test_a_second_hop_leads_to_whom_the_first_one_takes_for_the_leader() -> None:
    workers = Workers({W1: W2, W2: W3})
    assert (await workers.ask("PUT", "/connectors/a/config", json=CONFIG)).status_code == 201
    assert [str(each.url) for each in workers.passed_on] == [
        f"{W2}/connectors/a/config?forward=true",
        f"{W3}/connectors/a/config?forward=false",
    ]


async def test_there_is_no_third_hop() -> None:
    workers = Workers({W1: W2, W2: W3, W3: W1})
    answer = await workers.ask("PUT", "/connectors/a/config", json=CONFIG)
    assert answer.status_code == 409
    assert answer.json() == {
        "error_code": 409,
        "message": "Cannot complete request because of a conflicting operation (e.g. worker rebalance)",
    }
    assert len(workers.passed_on) == 2


async def test_without_a_known_leader_there_is_nobody_to_ask() -> None:
    workers = Workers({W1: None})
    answer = await workers.ask("DELETE", "/connectors/a")
    assert answer.status_code == 409
    assert answer.json()["message"] == (
        "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."
    )


async def test_a_restart_takes_both_of_its_parameters_along_and_brings_the_plan_back() -> None:
    workers = Workers({W1: W2})
    await workers.ask("PUT", "/connectors/a/config", json=CONFIG)
    workers.shared.settle()
    answer = await workers.ask("POST", "/connectors/a/restart?includeTasks=true")
    assert answer.status_code == 202
    assert [task["state"] for task in answer.json()["tasks"]] == ["RESTARTING", "RESTARTING"]
    assert dict(workers.passed_on[-1].url.params) == {"includeTasks": "true", "onlyFailed": "false", "forward": "true"}


async def test_a_name_stays_encoded_on_its_way() -> None:
    workers = Workers({W1: W2})
    await workers.ask("PUT", "/connectors/a%2Fb%20%C3%A4/config", json=CONFIG)
    assert workers.passed_on[0].url.raw_path == b"/connectors/a%2Fb%20%C3%A4/config?forward=true"
    assert list(workers.shared.configs) == ["a/b ä"]


async def test_of_the_clients_headers_only_the_authorization_goes_along() -> None:
    workers = Workers({W1: W2})
    headers = {"Authorization": "Basic c2VjcmV0", "Cookie": "a=b", "X-Forwarded-For": "x", "User-Agent": "curl"}
    await workers.ask("DELETE", "/connectors/a", headers=headers)
    passed = workers.passed_on[0].headers
    assert passed["authorization"] == "Basic c2VjcmV0"
    assert not {"cookie", "x-forwarded-for"} & set(passed)
    assert passed["user-agent"] != "curl"


async def test_the_other_workers_refusal_is_ours() -> None:
    workers = Workers({W1: W2})
    answer = await workers.ask("DELETE", "/connectors/none")
    assert (answer.status_code, answer.json()["message"]) == (404, "Connector none not found")


async def test_a_signed_request_keeps_its_bytes() -> None:
    workers = Workers({W1: W2})
    body = b'[ {"a" : "1"} ]'
    headers = {
        "Content-Type": "application/json",
        "X-Connect-Authorization": "c2lnbmVk",
        "X-Connect-Request-Signature-Algorithm": "HmacSHA256",
    }
    # As in Connect: the signature is not copied, so the second worker refuses.
    answer = await workers.ask("POST", "/connectors/a/tasks", content=body, headers=headers)
    assert workers.passed_on[0].content == body
    assert (answer.status_code, answer.json()["message"]) == (400, "Internal request missing required signature")


async def test_a_worker_that_is_gone_is_an_io_error() -> None:
    def gone(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("All connection attempts failed")

    answer = await answering(gone)("DELETE", "/connectors/a")
    assert answer.status_code == 500
    assert answer.json()["message"] == "IO Error trying to forward REST request: All connection attempts failed"


async def test_redirects_are_not_followed() -> None:
    answer = await answering(lambda _: httpx.Response(302, headers={"Location": f"{W3}/"}, json={}))(
        "DELETE", "/connectors/a"
    )
    assert answer.json()["message"] == "Unexpected status code when handling forwarded request: 302"


@pytest.mark.parametrize("nonsense", [b"<html>", b"[1]", b"\xff", b"[" * 100_000])
async def test_what_is_no_answer_of_connects_is_an_error_of_ours(nonsense: bytes) -> None:
    answer = await answering(lambda _: httpx.Response(503, content=nonsense))("DELETE", "/connectors/a")
    assert answer.status_code == 500
    assert list(answer.json()) == ["error_code", "message"]


async def test_an_error_without_a_message_keeps_its_status() -> None:
    body = json.dumps({"error_code": 418, "message": None}).encode()
    answer = await answering(lambda _: httpx.Response(418, content=body))("DELETE", "/connectors/a")
    assert answer.status_code == 418


async def test_reads_are_answered_by_whom_they_were_asked() -> None:
    workers = Workers({W1: W2})
    await workers.ask("PUT", "/connectors/a/config", json=CONFIG)
    workers.shared.settle()
    workers.passed_on.clear()
    for path in ("", "/a", "/a/config", "/a/status", "/a/tasks", "/a/tasks/0/status", "/a/topics", "/a/offsets"):
        assert (await workers.ask("GET", f"/connectors{path}")).status_code == 200
    assert workers.passed_on == []


async def test_while_a_rebalance_is_expected_reads_fail_with_500_and_changes_with_409() -> None:
    cluster = PretendCluster(configs={"a": {}}, targets={"a": "STOPPED"}, rebalance_expected=True)
    async with client_of(create_app(PretendHerder(cluster))) as client:
        reads = [await client.get(f"/connectors/a{path}") for path in ("", "/config", "/tasks")]
        changes = [
            await client.post("/connectors/a/restart"),
            await client.post("/connectors/a/restart?onlyFailed=true"),
            await client.post("/connectors/a/tasks/0/restart"),
            await client.delete("/connectors/a/offsets"),
        ]
        from_memory = [await client.get(path) for path in ("/connectors", "/connectors?expand=info")]
    expected = "Request cannot be completed because a rebalance is expected"
    assert [(each.status_code, each.json()["message"]) for each in reads] == [(500, expected)] * 3
    stale = (
        "Cannot complete request momentarily due to stale configuration (typically caused by a concurrent config "
        "change)"
    )
    assert [(each.status_code, each.json()["message"]) for each in changes] == [(409, stale)] * 4
    assert [each.status_code for each in from_memory] == [200, 200]


def test_the_errors_that_name_a_worker_are_conflicts() -> None:
    assert h.NotLeaderError("not me", W2).status == h.NotAssignedError("not me", None).status == 409
