"""Requests that are odd in form: what real Connect 4.3.1 said to them, and what we say."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from assignor_lab.connect import herder as h
from assignor_lab.connect.rest import create_app, listening_socket, serve
from tests.connect.rest.pretend_herder import SINK, SOURCE, PretendCluster, PretendHerder
from tests.connect.rest.recorded import DATA
from tests.connect.rest.sockets import exchange

pytestmark = pytest.mark.anyio


def odd_requests() -> list[dict[str, Any]]:
    with gzip.open(DATA / "odd-requests.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [each for each in map(json.loads, lines) if each["of"] == "rest"]


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
    """Not compared: the texts of Java's JSON reader and of null pointers, and those that only a herder knows."""
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
