"""The door of the page: who holds the token gets in, pages of other origins do not, and nothing is ever changed."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assignor_lab.connect.rest.answers import RestError
from assignor_lab.connect.rest.guard import check_head, check_origin
from assignor_lab.connect.rest.settings import RestSettings

__all__ = ["POLICY", "Door"]

#: Nothing comes from elsewhere, and nothing goes there.
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


class Door:
    """Lets requests in that name us as their host, bear the token, and come from our own pages or the user's hand.

    The token of the address is exchanged for a cookie at once, so that it is in no further address.

    Args:
        app: What is behind it.
        token: The token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token
        # An address holds the changes of a state.
        self._settings = RestSettings(max_header_bytes=64 * 1024)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
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
        except RestError as error:
            return PlainTextResponse(f"{error}\n", error.status)
        headers = Headers(scope=scope)
        if headers.get("sec-fetch-site", "none").lower() not in ("same-origin", "none"):
            return PlainTextResponse("Pages of other origins are not let in here.\n", 403)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("Nothing is changed here: ask with GET.\n", 405, {"Allow": "GET, HEAD"})
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        told = [value for name, value in query if name == "token"]
        if told:
            if not secrets.compare_digest(told[-1].encode(), self._token.encode()):
                return PlainTextResponse("That token is not the one that was printed.\n", 403)
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            there = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            there.set_cookie(_cookie(scope), self._token, httponly=True, samesite="strict")
            return there
        if not self._is_known(headers, scope):
            return PlainTextResponse("Open the address that `assignor ui` printed: it bears a token.\n", 403)
        return None

    def _is_known(self, headers: Headers, scope: Scope) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(_cookie(scope))
        except CookieError:
            return False
        return found is not None and secrets.compare_digest(found.value.encode(), self._token.encode())


def _cookie(scope: Scope) -> str:
    """Cookies know no ports: several pages of one machine each have their own."""
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
