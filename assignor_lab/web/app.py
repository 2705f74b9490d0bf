"""The page as an ASGI application."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from assignment_api import AssignorLabError
from assignor_lab.documents.wording import shortened
from assignor_lab.report.html import asset
from assignor_lab.web.address import View
from assignor_lab.web.auth_middleware import AuthMiddleware
from assignor_lab.web.errors import NotThereError, PageError
from assignor_lab.web.opened import OpenedRun
from assignor_lab.web.overview import history_page, home_page
from assignor_lab.web.pages import error_page, moment_part, state_page, underway_page
from assignor_lab.web.plays import PlayProgress
from assignor_lab.web.view_answers import ViewAnswers

__all__ = ["ASSETS", "create_app"]

ASSETS = {"ui.css": "text/css", "ui.js": "text/javascript", "report.css": "text/css"}
#: Seconds that a page waits for its plays before it shows their progress.
SHORT_S = 1.0
#: A report has its own script and style and may come from elsewhere, so it runs without our origin.
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def create_app(asking: ViewAnswers, token: str, on_new_token: Callable[[str], None] = lambda _: None) -> ASGIApp:
    async def home(_request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(home_page, asking.opened))

    async def history(request: Request) -> Response:
        return await _answered(request, asking, lambda asking, view: history_page(asking.opened, view), alone=False)

    async def pulse(request: Request) -> Response:
        return await _answered(request, asking, _pulse, alone=False)

    async def moment(request: Request) -> Response:
        return await _answered(request, asking, moment_part, alone=False)

    async def state(request: Request) -> Response:
        return await _answered(request, asking, _state, alone=False)

    async def saved(request: Request) -> Response:
        return await _answered(request, asking, _document)

    async def report(request: Request) -> Response:
        number = _number(request.path_params["number"])
        sources = asking.opened.sources
        run = sources[number] if number < len(sources) else None
        if not isinstance(run, OpenedRun):
            raise HTTPException(404)
        if not run.report.is_file():
            return HTMLResponse(error_page(f"{run.report} is not there any more.", "/"), 404)
        return FileResponse(run.report, media_type="text/html", headers={"Content-Security-Policy": _REPORT_POLICY})

    async def asset_of(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in ASSETS:
            raise HTTPException(404)
        content = asset(name) if name.startswith("report") else _asset(name)
        return Response(content, media_type=ASSETS[name])

    return AuthMiddleware(
        Starlette(
            routes=[
                Route("/", home),
                Route("/state", state),
                Route("/history", history),
                Route("/moment", moment),
                Route("/pulse", pulse),
                Route("/state.jsonl", saved),
                Route("/report/{number}", report),
                Route("/assets/{name}", asset_of),
            ],
            exception_handlers={HTTPException: _refused},
        ),
        token,
        on_new_token,
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise HTTPException(404)
    return int(text)


async def _answered(
    request: Request, asking: ViewAnswers, make: Callable[[ViewAnswers, View], str | Response], *, alone: bool = True
) -> Response:
    def work() -> str | Response:
        with asking.lock if alone else nullcontext():
            return make(asking, View.read(request.query_params))

    try:
        made = await run_in_threadpool(work)
    except AssignorLabError as error:
        status = error.status if isinstance(error, PageError) else 400
        return HTMLResponse(error_page(str(error), "/"), status)
    return made if isinstance(made, Response) else HTMLResponse(made)


def _state(asking: ViewAnswers, view: View) -> str:
    found = asking.underway(view, SHORT_S)
    if isinstance(found, PlayProgress):
        return underway_page(asking, view, found)
    with asking.lock:
        return state_page(asking, view)


def _pulse(asking: ViewAnswers, view: View) -> Response:
    recording = asking.opened.recording(view.source)
    if recording is None:
        raise NotThereError(f"source {view.source} is no recording")
    beat = recording.pulse()
    document = {"word": beat.word, "sentence": shortened(beat.sentence, 600), "version": beat.version}
    return JSONResponse(document)


def _document(asking: ViewAnswers, view: View) -> Response:
    line: dict[str, Any] = dict(asking.scenario(view).document)
    headers = {"Content-Disposition": 'attachment; filename="state.jsonl"'}
    return Response(json.dumps(line) + "\n", media_type="application/jsonl", headers=headers)


async def _refused(_request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return HTMLResponse(error_page("There is nothing at this address.", "/"), status)


def _asset(name: str) -> str:
    return files("assignor_lab.web").joinpath("templates", name).read_text(encoding="utf-8")
