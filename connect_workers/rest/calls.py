"""One request as an endpoint sees it, and the description of the endpoint itself."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import attrs
from starlette.requests import Request
from starlette.responses import Response

from assignment_api.connect import ConnectorTaskId
from connect_workers import contract as h
from connect_workers.rest.answers import RestError
from connect_workers.rest.forwarding import Forwarded, Forwarder
from connect_workers.rest.settings import RestSettings
from connect_workers.rest.waiting import Hop, complete, complete_or_forward

__all__ = ["TRUE_OR_ELSE", "Call", "RestOperation", "Parameter", "not_found"]

T = TypeVar("T")

_INT = re.compile(r"[+-]?\d{1,10}")
_INT_RANGE = range(-(2**31), 2**31)


#: Schema of a parameter that is true or not: every value but ``true``, in any case, counts as false.
TRUE_OR_ELSE: Mapping[str, object] = {"type": "string", "examples": ["true", "false"]}


@attrs.frozen
class Parameter:
    """A query parameter, for the OpenAPI document."""

    name: str
    description: str
    schema: Mapping[str, object]


@attrs.frozen
class RestOperation:
    """A method of a path, with its answers.

    Args:
        answers: Schema of the body by status; ``None``: no body. The refusals that every operation shares are left
            out.
        body: Schema of the body that it takes.
        reads_json: Whether a content type other than JSON is refused, even without a body. In Connect it is,
            except for the worker's own pages.
    """

    method: str
    path: str
    handle: Callable[[Call], Awaitable[Response]]
    summary: str
    tag: str
    answers: Mapping[int, str | None]
    body: str | None = None
    parameters: tuple[Parameter, ...] = ()
    content_type: str = "application/json"
    reads_json: bool = True


@attrs.frozen
class Call:
    """One request."""

    request: Request
    body: bytes
    worker: h.Herder
    settings: RestSettings
    forwarder: Forwarder

    @property
    def connector(self) -> str:
        return self.segment("connector")

    @property
    def task(self) -> ConnectorTaskId:
        """The task in the path.

        Raises:
            RestError: with status 404, if its number is not one of 32 bits.
        """
        text = self.segment("task")
        if not _INT.fullmatch(text) or int(text) not in _INT_RANGE:
            raise not_found(typed=True)
        return ConnectorTaskId(self.connector, int(text))

    @property
    def forward(self) -> bool | None:
        """The parameter ``forward``; ``None`` if this worker is the first to get the request."""
        return self.flag("forward")

    def segment(self, name: str) -> str:
        return urllib.parse.unquote(self.request.path_params[name])

    def flag(self, name: str) -> bool | None:
        """A parameter that is true or false: every value but ``true`` (in any case) counts as false."""
        values = self.request.query_params.getlist(name)
        return values[0].lower() == "true" if values else None

    def first(self, name: str) -> str | None:
        values = self.request.query_params.getlist(name)
        return values[0] if values else None

    async def complete(self, answer: Awaitable[T]) -> T:
        """Waits for the herder, 90 seconds at most."""
        return await complete(self.worker, answer, self.settings.request_timeout_s)

    async def complete_or_forward(
        self, answer: Awaitable[T], path: str, query: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> T | Forwarded:
        """Waits for the herder, or for the worker that it names."""
        hop = Hop(self.request.method, path, self.forward, self.request.headers.get("authorization"), query or {}, body)
        return await complete_or_forward(self.worker, answer, self.settings.request_timeout_s, self.forwarder, hop)

    def location(self, connector: str) -> dict[str, str]:
        base = f"{self.request.url.scheme}://{self.request.headers['host']}"
        return {"Location": f"{base}/connectors/{urllib.parse.quote(connector, safe='~!$&()*+,=:@')}"}


def not_found(*, typed: bool = False) -> RestError:
    """Jersey's answer for a path that it does not know; ``typed`` if the path's form is known."""
    return RestError(404, "HTTP 404 Not Found", typed=typed)
