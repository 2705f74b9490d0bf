"""Requests to a Connect cluster: bounded in time and bytes, never redirected, credentials to the given URLs only."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import attrs

from assignor_lab.connect.remote.access import RequestSettings
from assignor_lab.connect.remote.errors import (
    ConnectRefusedError,
    NotConnectError,
    RemoteClusterError,
    UnreachableClusterError,
)
from assignor_lab.connect.remote.urls import ConnectUrl
from assignor_lab.documents.errors import printable
from assignor_lab.documents.json_text import parse_json
from assignor_lab.documents.shapes import Mismatch

if TYPE_CHECKING:
    # Optional extra.
    import httpx

__all__ = ["Response", "ConnectRest"]

_CONNECT_TIMEOUT_S = 5.0
#: OpenSSL's messages if the other side has not answered in TLS.
_NO_TLS = frozenset(("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"))
_BAD_REQUEST = 400
_MOST_WORDS = 500


@attrs.frozen
class Response:
    """A response that is no error."""

    url: ConnectUrl
    status: int
    body: Any


class ConnectRest:
    """A cluster, reached through any of its workers; an async context manager.

    A worker that takes no connection is skipped; a sent request is never repeated.
    """

    def __init__(self, urls: Sequence[ConnectUrl], access: RequestSettings | None = None) -> None:
        import httpx

        self.urls = tuple(urls)
        self.access = RequestSettings() if access is None else access
        # The environment's proxies would receive credentials, and a cluster is seldom behind one.
        self._client = httpx.AsyncClient(
            auth=self.access.credentials,
            verify=True if self.access.tls is None else self.access.tls,
            trust_env=False,
            follow_redirects=False,
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "assignor-lab"},
            timeout=httpx.Timeout(self.access.request_timeout_s, connect=_CONNECT_TIMEOUT_S),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def get(self, path: str, params: Sequence[tuple[str, str]] = (), at: ConnectUrl | None = None) -> Response:
        return await self._ask("GET", path, params, at)

    async def post(self, path: str, params: Sequence[tuple[str, str]] = (), first: int = 0) -> Response:
        """``first``: number of the URL that gets the request first; it may exceed the number of URLs."""
        return await self._ask("POST", path, params, None, first % len(self.urls))

    async def _ask(
        self, method: str, path: str, params: Sequence[tuple[str, str]], at: ConnectUrl | None, first: int = 0
    ) -> Response:
        import httpx

        refusals = []
        for url in (*self.urls[first:], *self.urls[:first]) if at is None else (at,):
            try:
                async with asyncio.timeout(self.access.request_timeout_s):
                    return await self._send(url, method, path, params)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                refusals.append(f"{url}: {self._why(error)}")
            except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
                if isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError)) and await _speaks_tls(url):
                    raise _needs_tls(url) from None
                raise UnreachableClusterError(
                    f"{method} {url}{path}: {self._why(error)}"
                    + ("" if method == "GET" else "; whether it was done is not known: look at `connect status`")
                ) from None
        raise UnreachableClusterError("; ".join(refusals))

    def _why(self, error: Exception) -> str:
        import httpx

        if isinstance(error, httpx.ConnectTimeout):
            return f"takes no connection within {_CONNECT_TIMEOUT_S:g} s: is a worker running there?"
        if isinstance(error, (TimeoutError, httpx.TimeoutException)):
            return f"no complete answer within {self.access.request_timeout_s:g} s"
        message = self.access.without_secrets(str(error)) or type(error).__name__
        if any(reason in message for reason in _NO_TLS):
            return "does not speak TLS: give its URL with http://"
        if "CERTIFICATE_VERIFY_FAILED" in message:
            return f"its certificate is not believed ({message:.200}): name its authority's with --ca-file"
        if isinstance(error, httpx.ConnectError):
            return f"takes no connection ({message:.200}): is a worker running there?"
        return message[:_MOST_WORDS]

    async def _send(self, url: ConnectUrl, method: str, path: str, params: Sequence[tuple[str, str]]) -> Response:
        request = self._client.build_request(method, f"{url}{path}", params=list(params) or None)
        response = await self._client.send(request, stream=True)
        subject = f"{method} {url}{path}"
        try:
            body = await self._body(response, subject)
        finally:
            await response.aclose()
        if response.is_redirect:
            raise NotConnectError(
                f"{subject}: sent elsewhere ({response.status_code}); that is not followed: give the worker's own URL"
            )
        if response.status_code == _BAD_REQUEST and await _speaks_tls(url):
            # A proxy in front of a worker may return its own page.
            raise _needs_tls(url)
        value = self._value(body, subject, response.status_code)
        if response.status_code >= 400:
            raise self._refused(subject, response.status_code, value)
        return Response(url, response.status_code, value)

    async def _body(self, response: httpx.Response, subject: str) -> bytes:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise NotConnectError(f"{subject}: the answer is compressed, although no compression was requested")
        body = bytearray()
        async for part in response.aiter_raw():
            body += part
            if len(body) > self.access.max_answer_bytes:
                raise NotConnectError(f"{subject}: the answer is longer than {self.access.max_answer_bytes:,} bytes")
        return bytes(body)

    def _value(self, body: bytes, subject: str, status: int) -> Any:
        if not body.strip():
            return None
        try:
            return self._without_secrets(parse_json(body))
        except Mismatch as mismatch:
            if status >= 400:
                return None
            raise NotConnectError(
                f"{subject}: {status} with an answer that is no JSON ({mismatch.reason.partition(':')[0]}): is this "
                "the REST interface of Kafka Connect?"
            ) from None

    def _without_secrets(self, value: Any) -> Any:
        """Traces are free text, and may hold the password."""
        if self.access.credentials is None:
            return value
        left = [value]
        while left:
            each = left.pop()
            if isinstance(each, dict):
                if isinstance(each.get("trace"), str):
                    each["trace"] = self.access.without_secrets(each["trace"])
                left += each.values()
            elif isinstance(each, list):
                left += each
        return value

    def _refused(self, subject: str, status: int, value: Any) -> RemoteClusterError:
        if not isinstance(value, Mapping) or "error_code" not in value:
            if status in (401, 403):
                return ConnectRefusedError(subject, status, "")
            return NotConnectError(f"{subject}: {status} without Connect's error body: is this Kafka Connect?")
        said = value.get("message")
        message = self.access.without_secrets(printable(said, _MOST_WORDS)) if isinstance(said, str) else ""
        return ConnectRefusedError(subject, status, message)


def _needs_tls(url: ConnectUrl) -> UnreachableClusterError:
    return UnreachableClusterError(f"{url} speaks TLS: give its URL with https://")


async def _speaks_tls(url: ConnectUrl) -> bool:
    """True if a port that refused plain requests accepts TLS; only the handshake is sent."""
    if url.scheme != "http":
        return False
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        async with asyncio.timeout(_CONNECT_TIMEOUT_S):
            _, writer = await asyncio.open_connection(url.host, url.port, ssl=context)
    except ssl.SSLError as error:
        # A client certificate, or a TLS version that we lack, may be required.
        return error.reason not in _NO_TLS
    except (OSError, TimeoutError):
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
