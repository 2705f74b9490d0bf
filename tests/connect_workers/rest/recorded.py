"""Exchanges with real Connect 4.3.1, and differences between another response and the recorded one."""

from __future__ import annotations

import functools
import gzip
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import httpx

DATA = Path(__file__).resolve().parents[2] / "data" / "captures" / "rest"
RECORDINGS = ("sessioned", "eager", "conflict")

#: Objects with names as keys: their order is not compared.
_MAPS = re.compile(r"^/connectors(\?.*)?$|^/connectors/[^/]+/topics$|^/admin/loggers$")
#: Texts of the interface; others are data.
FIXED = frozenset({"message", "state", "type", "status"})


@attrs.frozen
class Exchange:
    where: str
    state: str
    what: str
    worker: str
    method: str
    path: str
    request_body: Any
    status: int
    headers: Mapping[str, str]
    body: Any

    @property
    def content(self) -> bytes | None:
        if self.request_body is None:
            return None
        if isinstance(self.request_body, str):
            return self.request_body.encode()
        return json.dumps(self.request_body).encode()


@functools.cache
def exchanges(recording: str) -> tuple[Exchange, ...]:
    with gzip.open(DATA / f"{recording}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return tuple(Exchange(f"{recording}:{number}", **json.loads(line)) for number, line in enumerate(lines, 1))


async def send(client: httpx.AsyncClient, exchange: Exchange) -> httpx.Response:
    headers = {"Content-Type": "application/json"} if exchange.request_body is not None else {}
    return await client.request(exchange.method, exchange.path, content=exchange.content, headers=headers)


def differences(exchange: Exchange, answer: httpx.Response, fixed: Collection[str] = FIXED) -> list[str]:
    """Differences of a response: status, relevant headers, and the body's shape and fixed texts."""
    if answer.status_code != exchange.status:
        return [f"status {answer.status_code} instead of {exchange.status}: {answer.text[:200]}"]
    found = [*_headers(exchange, answer)]
    body = json.loads(answer.content) if answer.content else None
    found += _shapes(exchange.body, body, "", exchange.path, fixed)
    return found


def _headers(exchange: Exchange, answer: httpx.Response) -> Iterator[str]:
    given = answer.headers.get("content-type")
    if given != exchange.headers.get("Content-Type"):
        yield f"Content-Type {given} instead of {exchange.headers.get('Content-Type')}"
    if answer.headers.get("location") != exchange.headers.get("Location"):
        yield f"Location {answer.headers.get('location')} instead of {exchange.headers.get('Location')}"
    if exchange.body is None and answer.content:
        yield f"a body where there is none: {answer.text[:80]}"


def _shapes(recorded: Any, ours: Any, where: str, path: str, fixed: Collection[str]) -> Iterator[str]:
    if isinstance(recorded, dict) and isinstance(ours, dict):
        yield from _objects(recorded, ours, where, path, fixed)
    elif isinstance(recorded, list) and isinstance(ours, list):
        yield from _lists(recorded, ours, where, path, fixed)
    elif where.endswith(".version") and isinstance(recorded, str | None) and isinstance(ours, str | None):
        # Null if the status's writer had released the instance already: a matter of moments.
        return
    elif type(recorded) is not type(ours):
        yield f"{where or 'body'}: {_kind(ours)} instead of {_kind(recorded)}"
    elif where.rpartition(".")[2] in fixed and recorded != ours:
        yield f"{where}: {ours!r} instead of {recorded!r}"


def _objects(
    recorded: dict[str, Any], ours: dict[str, Any], where: str, path: str, fixed: Collection[str]
) -> Iterator[str]:
    is_map = not where and bool(_MAPS.match(path)) and not {"error_code", "name"} & set(recorded)
    if is_map:
        if sorted(recorded) != sorted(ours):
            yield f"{where or 'body'}: keys {sorted(ours)} instead of {sorted(recorded)}"
    elif list(recorded) != list(ours):
        yield f"{where or 'body'}: fields {list(ours)} instead of {list(recorded)}"
    for key, value in recorded.items():
        if key in ours:
            yield from _shapes(value, ours[key], f"{where}.{key}", path, fixed)


def _lists(recorded: list[Any], ours: list[Any], where: str, path: str, fixed: Collection[str]) -> Iterator[str]:
    if len(recorded) != len(ours):
        yield f"{where or 'body'}: {len(ours)} items instead of {len(recorded)}"
    if recorded and all(isinstance(item, str) for item in (*recorded, *ours)):
        if sorted(recorded) != sorted(ours):
            yield f"{where or 'body'}: {ours} instead of {recorded}"
        return
    if not _by_number(recorded):
        # The tasks of a restart's plan have the order of a hash table.
        recorded, ours = sorted(recorded, key=_number), sorted(ours, key=_number)
    for number, (one, other) in enumerate(zip(recorded, ours, strict=False)):
        yield from _shapes(one, other, f"{where}[{number}]", path, fixed)


def _number(item: Any) -> int:
    number = item.get("id") if isinstance(item, dict) else None
    return number if isinstance(number, int) else 0


def _by_number(items: list[Any]) -> bool:
    numbers = [_number(item) for item in items]
    return numbers == sorted(numbers)


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
