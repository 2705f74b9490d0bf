"""The REST interface of one worker as an ASGI application."""

from __future__ import annotations

import logging

import httpx
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from assignor_lab.http.errors import HttpError
from assignor_lab.http.guard import WRITES, check_head, check_origin
from connect_workers import contract as h
from connect_workers.rest.answers import RestError, error_answer
from connect_workers.rest.calls import Call, RestOperation, not_found
from connect_workers.rest.forwarding import Forwarder
from connect_workers.rest.guard import check_content_type, check_takes_json, read_body
from connect_workers.rest.paths import checked_path
from connect_workers.rest.routes import connectors, tasks, worker
from connect_workers.rest.settings import RestSettings

__all__ = ["OPERATIONS", "create_app"]

_log = logging.getLogger(__name__)

OPERATIONS: tuple[RestOperation, ...] = (*worker.OPERATIONS, *connectors.OPERATIONS, *tasks.OPERATIONS)


def create_app(
    herder: h.Herder, settings: RestSettings | None = None, *, client: httpx.AsyncClient | None = None
) -> ASGIApp:
    """Makes the REST interface of Connect 4.3.1 for one worker (Kafka: ``connect.runtime.rest``).

    Args:
        client: Sends requests on to other workers; by default one that uses no proxy. The caller closes it.

    Returns:
        The application, for a server such as :func:`connect_workers.http.server.serve`, or for a test client.
    """
    settings = settings or RestSettings()
    forwarder = Forwarder(client)
    by_path: dict[str, dict[str, RestOperation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    endpoints = {path: _Endpoint(operations, herder, settings, forwarder) for path, operations in by_path.items()}
    app = Starlette(
        routes=[Route(path, endpoint) for path, endpoint in endpoints.items()],
        exception_handlers={HTTPException: _refused_by_router},
    )
    app.router.redirect_slashes = False
    app.state.operations = OPERATIONS
    return _RequestGuard(_open_to(app, settings), settings)


def _open_to(app: ASGIApp, settings: RestSettings) -> ASGIApp:
    """Allows pages of the allowed origins to read answers and send JSON (CORS)."""
    if not settings.allowed_origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=[origin.lower().rstrip("/") for origin in settings.allowed_origins],
        allow_methods=sorted({operation.method for operation in OPERATIONS}),
        allow_headers=["Authorization", "Content-Type"],
        expose_headers=["Location"],
    )


class _RequestGuard:
    """Outermost: checks host, origin and path, and routes by the path as it was sent.

    Starlette routes by the decoded path, in which an encoded slash of a connector's name would look like one between
    parts.
    """

    def __init__(self, app: ASGIApp, settings: RestSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            check_head(scope, self._settings)
            check_origin(scope, self._settings)
            check_content_type(scope)
            path = checked_path(scope.get("raw_path") or scope["path"].encode())
        except HttpError as error:
            await _refusal(error)(scope, receive, send)
            return
        await self._app({**scope, "path": path, "root_path": ""}, receive, send)


class _Endpoint:
    def __init__(
        self, operations: dict[str, RestOperation], herder: h.Herder, settings: RestSettings, forwarder: Forwarder
    ) -> None:
        self._operations = operations
        self._herder = herder
        self._settings = settings
        self._forwarder = forwarder
        allowed = sorted({*operations, "OPTIONS", *({"HEAD"} if "GET" in operations else ())})
        self._allow = ",".join(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except (HttpError, h.HerderError) as error:
            answer = _refusal(error)
        except Exception:  # noqa: BLE001 - whatever goes wrong, the client gets Connect's error body and no traceback
            # The path alone: bodies and query values may hold secrets.
            _log.exception("Uncaught exception in REST call to %s", scope["path"])
            answer = error_answer(500, "Internal error of the worker; its log has the details")
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        if method == "OPTIONS":
            return Response(
                self._allow.replace(",", ", "), headers={"Allow": self._allow, "Content-Type": "text/plain"}
            )
        operation = self._operations.get(method)
        if operation is None:
            raise RestError(405, "HTTP 405 Method Not Allowed", typed=False, headers={"Allow": self._allow})
        if operation.reads_json:
            check_takes_json(request)
        body = await read_body(request, self._settings) if method in WRITES else b""
        if not _acceptable(request.headers.getlist("accept"), operation.content_type):
            raise RestError(406, "HTTP 406 Not Acceptable", typed=False)
        return await operation.handle(Call(request, body, self._herder, self._settings, self._forwarder))


def _acceptable(accept: list[str], content_type: str) -> bool:
    """Whether a client accepts our content type. As in Jersey, a weight of zero does not matter."""
    main, _, _ = content_type.partition(";")
    kinds = {main, main.partition("/")[0] + "/*", "*/*"}
    ranges = [each.partition(";")[0].strip().lower() for value in accept for each in value.split(",")]
    return not ranges or any(each in kinds for each in ranges)


def _refusal(error: HttpError | h.HerderError) -> Response:
    if isinstance(error, HttpError):
        return error_answer(error.status, str(error), typed=error.typed, headers=error.headers)
    return error_answer(error.status, str(error))


async def _refused_by_router(_request: Request, _error: Exception) -> Response:
    return _refusal(not_found())
