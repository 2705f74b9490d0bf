"""A page for tests: a group of three clients with state, and an episode."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from assignment_api.plugins import config_sources
from assignor_lab.runtime.discovery import discovered
from assignor_lab.simulation.streams.named_episodes import EPISODES
from assignor_lab.web.app import create_app
from assignor_lab.web.opened import opened
from assignor_lab.web.view_answers import ViewAnswers

BASE = "http://127.0.0.1:8000"
TOKEN = "the-token-of-the-tests"
HOSTILE = "<script>alert(1)</script>\u202e"


def client(number: int, **more: Any) -> dict[str, Any]:
    return {
        "process_id": f"00000000-0000-0000-0000-{number:012d}",
        "rack": None,
        "tags": {"zone": HOSTILE},
        "host": f"host-{number}:8080",
        "threads": 1,
        "consumers": [f"host-{number}-consumer"],
        "previous_active": [],
        "previous_standby": [],
        "lags": {"0_0": 12_400, "0_1": 12_400, "0_2": 12_400},
        "previous_by_consumer": None,
        **more,
    }


def group() -> dict[str, Any]:
    """One client ran everything, one has copies that lag, one is new."""
    tasks = ["0_0", "0_1", "0_2"]
    return {
        "format": 1,
        "kind": "streams",
        "id": f"orders {HOSTILE}",
        "config": {},
        "tasks": [{"id": task, "stateful": True, "logged": True, "stores": None, "partitions": None} for task in tasks],
        "clients": [
            client(1, previous_active=tasks, lags=dict.fromkeys(tasks, -2)),
            client(2, previous_standby=tasks, lags=dict.fromkeys(tasks, 5)),
            client(3),
        ],
        "assumptions": [f"made up for the tests {HOSTILE}"],
    }


def asking_of(folder: Path, *more: str) -> ViewAnswers:
    """The group and the episode under test, written into ``folder``, and further paths."""
    states, episodes = folder / "states.jsonl", folder / "episodes.jsonl"
    states.write_text(json.dumps(group()) + "\n" + json.dumps({**group(), "id": "second"}) + "\n")
    episodes.write_text(json.dumps(EPISODES["rolling-restart"].document()) + "\n")
    config = config_sources(environ={}, start=folder)
    plugins = discovered(config.effective())
    paths = [str(states), str(episodes), *more]
    return ViewAnswers(opened(paths, plugins.registry, config, lambda _sentence: None), plugins, config)


class Page:
    """A client of the page, without a browser and without a socket."""

    def __init__(self, asking: ViewAnswers) -> None:
        #: Tokens that replaced used ones.
        self.new_tokens: list[str] = []
        self._app = create_app(asking, TOKEN, self.new_tokens.append)
        self._cookies = httpx.Cookies()

    def forget_cookies(self) -> None:
        self._cookies = httpx.Cookies()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        return self.request("GET", path, headers)

    def request(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        return asyncio.run(self._request(method, path, headers or {}))

    async def _request(self, method: str, path: str, headers: Mapping[str, str]) -> httpx.Response:
        transport = httpx.ASGITransport(app=self._app)
        async with httpx.AsyncClient(transport=transport, base_url=BASE, cookies=self._cookies) as client:
            answer = await client.request(method, path, headers=headers)
            self._cookies = client.cookies
            return answer
