"""Effects of pages in a real browser on a worker: none, unless they are the worker's own."""

from __future__ import annotations

import asyncio
import copy
import http.server
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from assignor_lab.http.server import listening_socket, serve
from connect_workers.rest import create_app
from tests.connect_workers.rest.pretend_herder import PretendCluster, PretendHerder

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.services

#: All requests that a page can send without a preflight, and those that it would send afterwards.
ATTACKS = """async (url) => {
  const json = JSON.stringify({name: "evil", config: {"connector.class": "live.GenConnector", "gen.tasks": "1"}});
  const seen = [];
  const attempt = async (path, options) => {
    try { const answer = await fetch(url + path, options); seen.push(answer.type + " " + answer.status); }
    catch (error) { seen.push(error.name); }
  };
  for (const mode of ["no-cors", "cors"]) {
    await attempt("/connectors/a/restart", {method: "POST", mode});
    await attempt("/connectors/a/restart?includeTasks=true", {method: "POST", mode});
    await attempt("/connectors", {method: "POST", mode, body: json});
    await attempt("/connectors", {method: "POST", mode, body: new Blob([json])});
    await attempt("/connectors", {method: "POST", mode, body: new URLSearchParams({a: json})});
    await attempt("/connectors", {method: "POST", mode, credentials: "include", body: new FormData()});
  }
  for (const method of ["PUT", "PATCH", "DELETE"]) {
    await attempt("/connectors/a/config", {method, body: json, headers: {"Content-Type": "application/json"}});
    await attempt("/connectors/a", {method});
    await attempt("/connectors/a/pause", {method});
  }
  await attempt("/connectors", {method: "POST", body: json, headers: {"Content-Type": "application/json"}});
  navigator.sendBeacon(url + "/connectors/a/restart");
  navigator.sendBeacon(url + "/connectors", new Blob([json], {type: "text/plain"}));
  await attempt("/connectors", {});
  await attempt("/openapi.json", {});
  return seen;
}"""

FORM = """(url) => {
  const form = document.createElement("form");
  form.method = "post"; form.action = url + "/connectors/a/restart"; form.enctype = "text/plain";
  document.body.append(form); form.submit();
}"""


@attrs.define
class Watched(PretendHerder):
    """Records every change that reached the herder."""

    changes: list[str] = attrs.field(factory=list)

    async def _turn(self) -> None:
        task = asyncio.current_task()
        self.changes.append(str(task and task.get_coro()))


@attrs.frozen
class Worker:
    """A worker, served by a thread."""

    herder: Watched
    url: str


@pytest.fixture
def worker() -> Iterator[Worker]:
    cluster = PretendCluster(configs={"a": {"gen.tasks": "1"}}, targets={"a": "RUNNING"})
    cluster.settle()
    herder = Watched(cluster)
    ready, done = threading.Event(), threading.Event()
    found: list[str] = []

    async def run() -> None:
        async with serve(create_app(herder), listening_socket("127.0.0.1", 0)) as server:
            found.append(server.url)
            ready.set()
            while not done.is_set():
                await asyncio.sleep(0.02)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    assert ready.wait(10)
    yield Worker(herder, found[0])
    done.set()
    thread.join(10)


@pytest.fixture
def evil_port() -> Iterator[int]:
    """A web server with an empty page."""

    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>evil</title><body></body>")

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join(10)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same site, other port", "other site"])
def test_a_page_of_another_origin_changes_nothing_and_reads_nothing(
    worker: Worker, evil_port: int, page: Page, host: str
) -> None:
    before = copy.deepcopy((worker.herder.cluster.configs, worker.herder.cluster.targets))
    page.goto(f"http://{host}:{evil_port}/")
    seen = page.evaluate(ATTACKS, worker.url)
    assert set(seen) == {"opaque 0", "TypeError"}
    page.evaluate(FORM, worker.url)
    page.wait_for_url(f"{worker.url}/**")
    assert "HTTP 415 Unsupported Media Type" in page.content() or "Pages of other origins" in page.content()
    assert worker.herder.changes == []
    assert (worker.herder.cluster.configs, worker.herder.cluster.targets) == before


def test_a_name_that_leads_here_is_not_answered(worker: Worker, page: Page) -> None:
    """DNS rebinding: the browser takes the page for one of our origin, and only the name differs."""
    port = worker.url.rpartition(":")[2]
    answer = page.goto(f"http://evil.localhost:{port}/connectors")
    assert answer is not None
    assert answer.status == 403
    status = page.evaluate("async () => (await fetch('/connectors/a/pause', {method: 'PUT'})).status")
    assert status == 403
    assert worker.herder.changes == []


def test_a_page_of_the_workers_own_may_do_what_a_client_may(worker: Worker, page: Page) -> None:
    page.goto(f"{worker.url}/connectors")
    status = page.evaluate("async () => (await fetch('/connectors/a/pause', {method: 'PUT'})).status")
    assert status == 202
    assert worker.herder.cluster.targets == {"a": "PAUSED"}
