"""The answers of real Connect 4.3.1 beside ours, for the same requests in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from connect_workers import contract as h
from connect_workers.rest import create_app
from tests.connect_workers.rest.clients import client_of
from tests.connect_workers.rest.intended import intended
from tests.connect_workers.rest.pretend_herder import PretendCluster, PretendHerder
from tests.connect_workers.rest.recorded import RECORDINGS, Exchange, differences, exchanges, send

pytestmark = pytest.mark.anyio

# --- the cluster of the recording -----------------------------------------------------------------


def set_the_scene(cluster: PretendCluster, exchange: Exchange) -> None:
    """State of the real cluster before a request, if only its response shows that.

    Owners, progress, and whether a rebalance is in progress: never the requested change.
    """
    body = exchange.body
    message = str(body.get("message")) if isinstance(body, dict) else ""
    cluster.rebalance_expected = "stale configuration" in message or "rebalance is expected" in message
    cluster.leader = None if "no known leader URL" in message else ""
    if exchange.status < 300:
        for status in _statuses(body):
            cluster.statuses[status.name] = status
        for name, tasks in _task_counts(body, exchange.path):
            cluster.tasks[name] = tasks
    elif message.startswith("No status found for connector"):
        cluster.statuses.pop(message.split()[-1], None)
    name = exchange.path.split("/")[2] if exchange.path.count("/") > 1 else ""
    if exchange.method == "GET" and exchange.path.endswith("/offsets") and exchange.status == 200:
        cluster.offsets[name] = [h.Offset(each["partition"], each["offset"]) for each in body["offsets"]]
    if exchange.path.endswith("/topics") and exchange.status == 200:
        cluster.topics |= {each: value["topics"] for each, value in body.items()}
    if exchange.path.partition("?")[0] == "/connector-plugins":
        cluster.plugins = [h.PluginInfo(each["class"], each["type"], each.get("version")) for each in body]
    if exchange.path.endswith("/config") and isinstance(body, list):
        cluster.definitions = body
    if exchange.path.endswith("/validate") and exchange.status == 200:
        cluster.validation = h.Validation(body["name"], body["error_count"], body["groups"], body["configs"])
    if exchange.path.startswith("/admin/loggers") and exchange.method == "GET" and exchange.status == 200:
        levels = body if exchange.path == "/admin/loggers" else {exchange.path.rpartition("/")[2]: body}
        cluster.loggers = {
            each: h.LoggerLevel(value["level"], value["last_modified"]) for each, value in levels.items()
        }


def _statuses(body: Any) -> Iterator[h.ConnectorStatus]:
    """Statuses in a response; a plan counts as a statement about workers, in its order."""
    if isinstance(body, dict) and "connector" in body and "tasks" in body:
        tasks = [_instance(task) for task in body["tasks"]]
        yield h.ConnectorStatus(body["name"], _instance(body["connector"]), tasks, body["type"])
    elif isinstance(body, dict):
        for value in body.values():
            if isinstance(value, dict) and "status" in value:
                yield from _statuses(value["status"])


def _instance(fields: dict[str, Any]) -> h.InstanceStatus:
    return h.InstanceStatus(
        fields["state"], fields["worker_id"], fields.get("version", "undefined"), fields.get("trace"), fields.get("id")
    )


def _task_counts(body: Any, path: str) -> Iterator[tuple[str, int]]:
    if isinstance(body, dict) and "config" in body and "tasks" in body:
        yield body["name"], len(body["tasks"])
    elif isinstance(body, dict):
        for name, value in body.items():
            if isinstance(value, dict) and "info" in value:
                yield name, len(value["info"]["tasks"])
    elif path.endswith("/tasks"):
        yield path.split("/")[2], len(body)
    if isinstance(body, dict) and "connector" in body and "tasks" in body:
        yield body["name"], len(body["tasks"])


# --- tests ----------------------------------------------------------------------------------------


async def found_in(recording: str) -> list[tuple[Exchange, str]]:
    cluster = PretendCluster()
    clients: dict[str, httpx.AsyncClient] = {}
    found = []
    for exchange in exchanges(recording):
        url = f"http://{exchange.worker}"
        client = clients.setdefault(url, client_of(create_app(PretendHerder(cluster, url)), url))
        set_the_scene(cluster, exchange)
        answer = await send(client, exchange)
        found += [(exchange, each) for each in differences(exchange, answer)]
    for client in clients.values():
        await client.aclose()
    return found


@pytest.mark.parametrize("recording", RECORDINGS)
async def test_every_recorded_answer_is_ours_too(recording: str) -> None:
    unexpected = [
        f"{exchange.where} {exchange.method} {exchange.path}: {each}"
        for exchange, each in await found_in(recording)
        if not any(line.covers(exchange, each) for line in intended(live=False))
    ]
    assert unexpected == []


@pytest.mark.slow
async def test_every_line_of_the_list_is_needed_and_there_are_ten_at_most() -> None:
    found = [each for recording in RECORDINGS for each in await found_in(recording)]
    unused = [line for line in intended(live=False) if not any(line.covers(*each) for each in found)]
    assert unused == []
    assert len(intended(live=False)) + len(intended(live=True)) <= 10
