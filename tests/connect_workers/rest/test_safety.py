from __future__ import annotations

import asyncio
import json

import pytest

from assignor_lab.http import server as server_module
from assignor_lab.http.errors import BindError
from assignor_lab.http.server import listening_socket, serve
from connect_workers import contract as h
from connect_workers.rest import RestSettings, create_app
from tests.connect_workers.rest.clients import ask
from tests.connect_workers.rest.pretend_herder import PretendCluster, PretendHerder
from tests.connect_workers.rest.sockets import exchange, request

pytestmark = pytest.mark.anyio

WRITES = [
    ("POST", "/connectors"),
    ("PUT", "/connectors/a/config"),
    ("PATCH", "/connectors/a/config"),
    ("DELETE", "/connectors/a"),
    ("PUT", "/connectors/a/pause"),
    ("PUT", "/connectors/a/resume"),
    ("PUT", "/connectors/a/stop"),
    ("POST", "/connectors/a/restart"),
    ("POST", "/connectors/a/restart?includeTasks=true"),
    ("POST", "/connectors/a/tasks/0/restart"),
    ("PATCH", "/connectors/a/offsets"),
    ("DELETE", "/connectors/a/offsets"),
    ("PUT", "/connectors/a/topics/reset"),
    ("PUT", "/admin/loggers/root"),
    ("PUT", "/connector-plugins/x/config/validate"),
    ("POST", "/connectors/a/tasks"),
    ("PUT", "/connectors/a/fence"),
]


def herder() -> PretendHerder:
    cluster = PretendCluster(configs={"a": {"gen.tasks": "1"}}, targets={"a": "RUNNING"})
    cluster.settle()
    return PretendHerder(cluster)


# --- hosts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8083", "localhost", "LOCALHOST:1", "localhost.:8083", "127.8.9.1", "[::1]:8083", "connect.example:80"],
)
async def test_a_request_under_a_name_of_ours_is_answered(host: str) -> None:
    settings = RestSettings(allowed_hosts=("Connect.example",))
    assert (await ask(herder(), "GET", "/", settings=settings, headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "evil.example#localhost",
        "10.0.0.1",
        "[::2]",
        "[::1",
        "localhost:port",
        "0.0.0.0",
        "localhost/x",
        "localhost, evil.example",
    ],
)
async def test_a_request_under_another_name_is_not(host: str) -> None:
    answer = await ask(herder(), "GET", "/", headers={"Host": host})
    assert answer.status_code == 403
    assert list(answer.json()) == ["error_code", "message"]


async def test_two_hosts_or_none_are_refused() -> None:
    async with serve(create_app(herder()), listening_socket("127.0.0.1", 0)) as server:
        two = await exchange(server.url, b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        none = await exchange(server.url, b"GET / HTTP/1.0\r\n\r\n")
    assert (two.status, none.status) == (400, 400)


# --- origins --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:8083"},
        {"Origin": "http://127.0.0.1:8084"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
async def test_a_page_of_another_origin_changes_nothing(method: str, path: str, headers: dict[str, str]) -> None:
    worker = herder()
    before = json.dumps([worker.cluster.configs, worker.cluster.targets, str(worker.cluster.statuses)])
    answer = await ask(worker, method, path, headers=headers, json={"level": "INFO", "name": "b", "config": {}})
    assert answer.status_code == 403
    assert json.dumps([worker.cluster.configs, worker.cluster.targets, str(worker.cluster.statuses)]) == before


async def test_no_answer_lets_a_page_of_another_origin_read_it() -> None:
    for method, path in [("GET", "/connectors"), ("OPTIONS", "/connectors"), ("OPTIONS", "/connectors/a/restart")]:
        headers = {
            "Origin": "http://evil.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        answer = await ask(herder(), method, path, headers=headers)
        assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_a_page_of_our_own_or_an_allowed_origin_may_change_things() -> None:
    settings = RestSettings(allowed_origins=("https://Console.example/",))
    for origin in ("http://127.0.0.1:8083", "https://console.example"):
        answer = await ask(
            herder(),
            "PUT",
            "/connectors/a/pause",
            settings=settings,
            headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"},
        )
        assert answer.status_code == 202


async def test_a_browser_is_told_that_an_allowed_origin_may_and_another_may_not() -> None:
    settings = RestSettings(allowed_origins=("https://console.example",))
    asked = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "content-type"}
    told = {}
    for origin in ("https://console.example", "https://evil.example"):
        headers = {"Origin": origin}
        before = await ask(herder(), "OPTIONS", "/connectors/a/config", settings=settings, headers=headers | asked)
        read = await ask(herder(), "GET", "/connectors", settings=settings, headers=headers)
        told[origin] = [answer.headers.get("access-control-allow-origin") for answer in (before, read)]
    assert told == {"https://console.example": ["https://console.example"] * 2, "https://evil.example": [None] * 2}


async def test_a_client_that_is_no_browser_needs_no_header_of_its_own() -> None:
    async with serve(create_app(herder()), listening_socket("127.0.0.1", 0)) as server:
        for path in ("pause", "resume", "topics/reset"):
            bare = f"PUT /connectors/a/{path} HTTP/1.1\r\nHost: {{H}}\r\nConnection: close\r\n\r\n".encode()
            assert (await exchange(server.url, bare)).status == 202
        deleted = await exchange(server.url, request("DELETE", "/connectors/a"))
    assert deleted.status == 204


# --- content types --------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", None]
)
async def test_only_json_is_taken(method: str, path: str, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    answer = await ask(herder(), method, path, headers=headers, content=b'{"level": "INFO", "name": "b", "config": {}}')
    assert (answer.status_code, answer.json()["message"]) == (415, "HTTP 415 Unsupported Media Type")


async def test_a_form_without_fields_is_no_bodyless_request() -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    assert (await ask(herder(), "POST", "/connectors/a/restart", headers=headers)).status_code == 415


# --- sizes and times ------------------------------------------------------------------------------

BOUNDED = RestSettings(max_body_bytes=1000, body_timeout_s=0.2, header_timeout_s=0.2)


async def test_a_body_is_bounded_whether_its_length_is_told_or_not() -> None:
    body = b'{"name": "%s"}' % (b"a" * 2000)
    chunks = b"7d0\r\n" + b" " * 2000 + b"\r\n0\r\n\r\n"
    chunked = (
        b"PUT /connectors/a/config HTTP/1.1\r\nHost: {H}\r\nConnection: close\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    async with serve(create_app(herder(), BOUNDED), listening_socket("127.0.0.1", 0), BOUNDED) as server:
        told = await exchange(server.url, request("POST", "/connectors", "Content-Type: application/json", body=body))
        untold = await exchange(server.url, chunked + chunks)
    for answer in (told, untold):
        assert (answer.status, answer.document["message"]) == (413, "HTTP 413 Request Entity Too Large")


async def test_a_body_without_end_is_cut_off() -> None:
    head = request("POST", "/connectors", "Content-Type: application/json", "Transfer-Encoding: chunked")
    head = head.replace(b"Content-Length: 0\r\n", b"")
    async with serve(create_app(herder(), BOUNDED), listening_socket("127.0.0.1", 0), BOUNDED) as server:
        answer = await exchange(
            server.url, head + b"3e8\r\n" + b"x" * 1000 + b"\r\n" * 1 + (b"3e8\r\n" + b"x" * 1000 + b"\r\n") * 9
        )
    assert answer.status == 413


@pytest.mark.slow
async def test_a_body_has_to_arrive_in_time() -> None:
    head = request("POST", "/connectors", "Content-Type: application/json").replace(b"Length: 0", b"Length: 10")
    async with serve(create_app(herder(), BOUNDED), listening_socket("127.0.0.1", 0), BOUNDED) as server:
        answer = await exchange(server.url, head + b"{")
    assert (answer.status, answer.document["error_code"]) == (408, 408)


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: {H}\r\nX: "])
async def test_a_head_has_to_arrive_in_time(start: bytes) -> None:
    async with serve(create_app(herder(), BOUNDED), listening_socket("127.0.0.1", 0), BOUNDED) as server:
        answer = await exchange(server.url, start)
    assert answer.status == 408


@pytest.mark.slow
async def test_a_head_that_trickles_gets_no_more_time() -> None:
    async with serve(create_app(herder(), BOUNDED), listening_socket("127.0.0.1", 0), BOUNDED) as server:
        reader, writer = await asyncio.open_connection(*server.url.removeprefix("http://").split(":"))
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readline()) == b"HTTP/1.1 200 OK\r\n"
        sent = 0
        while not reader.at_eof() and sent < 100:
            writer.write(b"x")
            sent += 1
            await asyncio.sleep(0.02)
            await reader.read(4096)
        writer.close()
    assert sent < 100


async def test_long_heads_are_refused() -> None:
    async with serve(create_app(herder()), listening_socket("127.0.0.1", 0)) as server:
        target = await exchange(server.url, request("GET", f"/connectors?{'a' * 9000}"))
        header = await exchange(server.url, request("GET", "/", f"X: {'a' * 9000}"))
        endless = await exchange(server.url, b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000)
    assert (target.status, header.status, endless.status) == (414, 431, 431)


async def test_too_many_connections_are_told_so() -> None:
    few = RestSettings(max_connections=2)
    async with serve(create_app(herder(), few), listening_socket("127.0.0.1", 0), few) as server:
        address = server.url.removeprefix("http://").split(":")
        idle = [await asyncio.open_connection(*address) for _ in range(2)]
        refused = await exchange(server.url, b"")
        for _, writer in idle:
            writer.close()
        while (answer := await exchange(server.url, request("GET", "/"))).status == 503:
            await asyncio.sleep(0.01)
    assert (refused.status, refused.document["error_code"], answer.status) == (503, 503, 200)


async def test_silent_connections_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "SILENT_S", 0.05)
    few = RestSettings(max_connections=2)
    async with serve(create_app(herder(), few), listening_socket("127.0.0.1", 0), few) as server:
        address = server.url.removeprefix("http://").split(":")
        idle = [await asyncio.open_connection(*address) for _ in range(2)]
        await asyncio.sleep(0.1)
        answer = await exchange(server.url, request("GET", "/"))
        closed = await idle[0][0].read()
        for _, writer in idle:
            writer.close()
    assert answer.status == 200
    assert closed.startswith(b"HTTP/1.1 408")


async def test_deep_and_endless_json_is_refused_quickly() -> None:
    deep = b'{"a": ' * 100_000
    quotes = b'{"name": "' + rb"\"" * 400_000
    number = b'{"offsets": [{"partition": {"a": 1}, "offset": {"b": ' + b"9" * 5000 + b"}}]}"
    for method, path, body in [
        ("POST", "/connectors", deep),
        ("POST", "/connectors", quotes),
        ("PATCH", "/connectors/a/offsets", number),
    ]:
        answer = await ask(herder(), method, path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 500
        assert answer.json()["message"]


async def test_half_a_surrogate_pair_is_no_text() -> None:
    body = b'{"name": "a\\ud800", "config": {}}'
    answer = await ask(herder(), "POST", "/connectors", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


# --- paths ----------------------------------------------------------------------------------------


AMBIGUOUS = (
    "/connectors/../../etc/passwd",
    "/connectors/%2e%2e/status",
    "/connectors/%2E./status",
    "/connectors/..%2f..%2fetc%2fpasswd/status",
    "/connectors/a%5c..%5cb/status",
    "/connectors/a%00/status",
    "/connectors/a%0d%0aSet-Cookie:x/status",
    "/connectors/a%7f/status",
    "/connectors/%c2%85/status",
    "/connectors/%ff/status",
    "/connectors/%c0%ae%c0%ae/status",
    "/connectors/%zz",
    "/connectors/%",
    "/connectors//status",
    "/connectors/a;b/status",
    "http://evil.example/connectors",
)


async def test_a_path_that_could_mean_something_else_is_refused() -> None:
    async with serve(create_app(herder()), listening_socket("127.0.0.1", 0)) as server:
        for path in AMBIGUOUS:
            answer = await exchange(server.url, request("GET", path))
            assert answer.status == 400, path
            assert list(answer.document) == ["error_code", "message"], path


async def test_a_name_with_slashes_is_taken_encoded() -> None:
    worker = herder()
    worker.cluster.configs["a/b%c d"] = {}
    answer = await ask(worker, "GET", "/connectors/a%2Fb%25c%20d")
    assert answer.json()["name"] == "a/b%c d"


# --- our own failures -----------------------------------------------------------------------------


class Broken(PretendHerder):
    """Fails with a secret in its exception."""

    async def connector_info(self, name: str) -> h.ConnectorInfo:
        raise RuntimeError("password=hunter2")


async def test_an_unforeseen_failure_shows_neither_traceback_nor_text(caplog: pytest.LogCaptureFixture) -> None:
    answer = await ask(Broken(PretendCluster()), "GET", "/connectors/a")
    assert answer.status_code == 500
    assert answer.json() == {"error_code": 500, "message": "Internal error of the worker; its log has the details"}
    assert "Uncaught exception in REST call to /connectors/a" in caplog.text


async def test_a_taken_port_is_a_typed_error() -> None:
    with listening_socket("127.0.0.1", 0) as taken, pytest.raises(BindError, match="--port"):
        listening_socket("127.0.0.1", taken.getsockname()[1])


async def test_an_aborted_server_drops_its_connections() -> None:
    stuck = herder()
    stuck.hold = asyncio.Event()
    async with serve(create_app(stuck), listening_socket("127.0.0.1", 0)) as server:
        asked = asyncio.create_task(exchange(server.url, request("GET", "/connectors/a")))
        await asyncio.sleep(0.1)
        server.abort()
        with pytest.raises((ConnectionError, IndexError)):
            await asked
