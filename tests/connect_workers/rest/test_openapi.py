"""The description is complete, and true for a few requests: `make fuzz-rest` sends more."""

from __future__ import annotations

import re
from typing import Any

import pytest

from connect_workers.rest.app import OPERATIONS
from tests.connect_workers.rest.clients import ask
from tests.connect_workers.rest.pretend_herder import PretendCluster, PretendHerder
from tests.connect_workers.rest.recorded import RECORDINGS, exchanges

pytestmark = pytest.mark.anyio


async def document() -> dict[str, Any]:
    answer = await ask(PretendHerder(PretendCluster()), "GET", "/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


async def test_every_recorded_path_that_connect_knows_is_described() -> None:
    paths = (await document())["paths"]
    patterns = {re.compile(re.sub(r"\{\w+\}", "[^/]+", path)): methods for path, methods in paths.items()}
    missing = [
        f"{each.method} {each.path}"
        for recording in RECORDINGS
        for each in exchanges(recording)
        if not (isinstance(each.body, dict) and str(each.body.get("message")).startswith("HTTP 40"))
        and not any(
            pattern.fullmatch(each.path.partition("?")[0]) and each.method.lower() in methods
            for pattern, methods in patterns.items()
        )
    ]
    assert missing == []


async def test_every_recorded_status_is_described() -> None:
    paths = (await document())["paths"]
    patterns = {re.compile(re.sub(r"\{\w+\}", "[^/]+", path)): methods for path, methods in paths.items()}
    for recording in RECORDINGS:
        for each in exchanges(recording):
            for pattern, methods in patterns.items():
                if pattern.fullmatch(each.path.partition("?")[0]) and each.method.lower() in methods:
                    assert str(each.status) in methods[each.method.lower()]["responses"], each.path


async def test_every_operation_has_a_name_of_its_own_and_every_schema_is_used() -> None:
    described = await document()
    names = [operation["operationId"] for methods in described["paths"].values() for operation in methods.values()]
    assert len(names) == len(set(names)) == len(OPERATIONS)
    text = str(described)
    assert [name for name in described["components"]["schemas"] if f"schemas/{name}'" not in text] == []
