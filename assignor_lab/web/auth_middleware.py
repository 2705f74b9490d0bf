"""Access to the page: requests need the session's cookie and come from the page itself."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assignor_lab.http.errors import HttpError
from assignor_lab.http.guard import check_head, check_origin
from assignor_lab.http.settings import HttpSettings

__all__ = ["POLICY", "AuthMiddleware"]

#: Nothing is loaded from or sent to other hosts.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class AuthMiddleware:
    """Middleware for requests with our host, the session's cookie, and our page or the user as their origin.

    The token of the URL is valid once. It is exchanged for a cookie, whose value is another secret. A request with a
    used token creates a new token, which only the terminal shows.
    """

    def __init__(self, app: ASGIApp, token: str, on_new_token: Callable[[str], None] = lambda _: None) -> None:
        self._app = app
        self._token: str | None = token
        self._used: str | None = None
        self._on_new_token = on_new_token
        self._session = secrets.token_urlsafe(32)
        # A URL contains the changes of a state.
        self._settings = HttpSettings(max_header_bytes=64 * 1024)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError(scope["type"])
        answer = self._refusal(scope)
        if answer is None:
            await self._app(scope, receive, _guarded(send))
        else:
            await answer(scope, receive, _guarded(send))

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        try:
            check_head(scope, self._settings)
            check_origin(scope, self._settings)
        except HttpError as error:
            return PlainTextResponse(f"{error}\n", error.status, error.headers)
        if scope["path"].startswith("//"):
            # A redirect to such a path would lead to another host.
            return PlainTextResponse("There is nothing at this address.\n", 404)
        headers = Headers(scope=scope)
        if headers.get("sec-fetch-site", "none").lower() not in ("same-origin", "none"):
            return PlainTextResponse("Pages of other origins are not let in here.\n", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("Nothing is changed here: send a GET request.\n", 405, {"Allow": "GET, HEAD"})
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in query if name == "token"]
        if tokens and scope["method"] == "GET":
            refusal = None if self._is_known(headers, scope) else self._exchanged(tokens[-1])
            if refusal is not None:
                return PlainTextResponse(f"{refusal}\n", 403)
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            there = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            there.set_cookie(_cookie(scope), self._session, httponly=True, samesite="strict")
            return there
        if not self._is_known(headers, scope):
            return PlainTextResponse("Open the address that `assignor ui` printed: it bears a token.\n", 403)
        return None

    def _exchanged(self, token: str) -> str | None:
        """Uses up a token; returns the reason of a refusal, or None."""
        if _is_same(token, self._token):
            self._token, self._used = None, self._token
            return None
        if not _is_same(token, self._used):
            return "That token is not the one that was printed."
        if self._token is None:
            self._token = secrets.token_urlsafe(24)
            self._on_new_token(self._token)
        return "That address was used already. The terminal of `assignor ui` shows a new one."

    def _is_known(self, headers: Headers, scope: Scope) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(_cookie(scope))
        except CookieError:
            return False
        return found is not None and _is_same(found.value, self._session)


def _is_same(given: str, secret: str | None) -> bool:
    return secret is not None and secrets.compare_digest(given.encode("utf-8", "replace"), secret.encode())


def _cookie(scope: Scope) -> str:
    """Name of the cookie; cookies have no port, so each page of a machine needs its own name."""
    return f"assignor_{(scope.get('server') or ('', 0))[1]}"


def _guarded(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("Content-Security-Policy", POLICY)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
