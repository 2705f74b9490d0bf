"""Requests of odd form: responses of real Connect 4.3.1, and ours."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.http.server import listening_socket, serve
from connect_workers import contract as h
from connect_workers.cluster import ConnectCluster
from connect_workers.rest import create_app
from connect_workers.served_cluster import ServedCluster
from tests.connect_workers.live import TIMINGS, settings
from tests.connect_workers.rest.gen_connector import PLUGINS
from tests.connect_workers.rest.pretend_herder import SINK, SOURCE, PretendCluster, PretendHerder
from tests.connect_workers.rest.recorded import DATA
from tests.connect_workers.rest.sockets import exchange

pytestmark = pytest.mark.anyio


def odd_requests(*, of: str = "rest") -> list[dict[str, Any]]:
    with gzip.open(DATA / "odd-requests.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [each for each in map(json.loads, lines) if each["of"] in of]


def cluster() -> PretendCluster:
    return PretendCluster(plugins=[h.PluginInfo(SINK, "sink", "4.3.1"), h.PluginInfo(SOURCE, "source", "4.3.1")])


async def test_an_odd_request_gets_the_status_and_content_type_that_real_connect_gives() -> None:
    different = []
    world = cluster()
    async with serve(create_app(PretendHerder(world)), listening_socket("127.0.0.1", 0)) as server:
        for odd in odd_requests():
            answer = await exchange(server.url, odd["request"].encode("latin-1"))
            world.settle()
            if answer.status != odd["status"]:
                different.append(f"{odd['name']}: {answer.status} instead of {odd['status']} {answer.body[:80]!r}")
            elif not odd["page"] and answer.headers.get("content-type") != odd["content_type"]:
                different.append(f"{odd['name']}: {answer.headers.get('content-type')} not {odd['content_type']}")
    assert different == []


async def test_every_refusal_is_an_error_body_of_connect_even_where_jetty_answers_with_a_page() -> None:
    async with serve(create_app(PretendHerder(cluster())), listening_socket("127.0.0.1", 0)) as server:
        for odd in odd_requests():
            answer = await exchange(server.url, odd["request"].encode("latin-1"))
            if answer.status >= 400 and not odd["request"].startswith("HEAD"):
                assert list(answer.document) == ["error_code", "message"], odd["name"]
                assert answer.document["error_code"] == answer.status
                assert "Traceback" not in answer.document["message"]


async def test_a_text_of_connects_own_is_ours_too() -> None:
    """Not compared: the texts of Java's JSON reader, of null pointers, and those that need a herder."""
    foreign = ("Source: REDACTED", "Cannot invoke", "Cannot construct", "available connectors", "contains no connector")
    different = []
    world = cluster()
    async with serve(create_app(PretendHerder(world)), listening_socket("127.0.0.1", 0)) as server:
        for odd in odd_requests():
            answer = await exchange(server.url, odd["request"].encode("latin-1"))
            world.settle()
            theirs = odd["body"]["message"] if isinstance(odd["body"], dict) and "error_code" in odd["body"] else None
            ours = answer.document["message"] if answer.status >= 400 and answer.body else None
            if theirs is not None and not any(part in theirs for part in foreign) and theirs != ours:
                different.append((odd["name"], ours, theirs))
    assert different == []


async def test_two_lengths_of_a_body_are_refused_and_the_connection_ends() -> None:
    lines = (
        "POST /connectors HTTP/1.1", "Host: {H}", "Content-Length: 5", "Transfer-Encoding: chunked", "", "0", "",
        "GET / HTTP/1.1", "Host: {H}", "", "",
    )  # fmt: skip
    smuggled = "\r\n".join(lines).encode()
    async with serve(create_app(PretendHerder(cluster())), listening_socket("127.0.0.1", 0)) as server:
        answer = await exchange(server.url, smuggled)
    assert answer.status == 400
    assert answer.body.count(b"HTTP/1.1") == 0


#: Answers of live workers with an intended different status.
MEANT = {
    "put config padded name": "our file source needs a file",
    "put utf8 name": "our file source needs a file",
    "put plus name": "our file source needs a file",
    "tasks bad base64": "a wrong signature, whatever it is made of",
}


@pytest.mark.slow
async def test_live_workers_give_odd_requests_the_same_status(tmp_path: Path) -> None:
    different = {}
    async with ConnectCluster(tmp_path, TIMINGS, PLUGINS, offset_flush_interval_ms=50) as live:
        served = ServedCluster(live)
        worker = await served.add(settings=settings())
        for odd in odd_requests(of="rest, herder"):
            await live.until_calm()
            answer = await exchange(worker.url.rstrip("/"), odd["request"].encode("latin-1"))
            if answer.status != odd["status"]:
                different[odd["name"]] = f"{answer.status} instead of {odd['status']} {answer.body[:80]!r}"
        await served.close()
    assert {name: text for name, text in different.items() if name not in MEANT} == {}
    assert set(MEANT) == set(different)
