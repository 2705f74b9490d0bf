"""Passes a request on to another worker."""

from __future__ import annotations

import json
from collections.abc import Mapping

import attrs
import httpx

from connect_workers.rest.answers import RestError

__all__ = ["Forwarded", "Forwarder"]

#: Enough for the largest plan of a restart. A longer answer is not a worker's.
_MAX_ANSWER_BYTES = 64 * 1024 * 1024


@attrs.frozen
class Forwarded:
    """The answer of the worker that did it; ``document`` is ``None`` without a body."""

    status: int
    document: object


class Forwarder:
    """Sends requests to other workers.

    Redirects are not followed, and of the client's headers only ``Authorization`` goes along (Kafka:
    ``connect.runtime.rest``).

    Args:
        client: Sends the requests; its maker closes it. By default one is made with the first request.
    """

    def __init__(self, client: httpx.AsyncClient | None = None) -> None:
        self._client = client

    async def send(
        self,
        method: str,
        url: str,
        path: str,
        query: Mapping[str, str],
        body: bytes | None,
        authorization: str | None,
        limit_s: float,
    ) -> Forwarded:
        """Sends one request to the worker at ``url``.

        Raises:
            RestError: the other worker's error, or 500 if it cannot be reached or answers nonsense.
        """
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if authorization is not None:
            headers["Authorization"] = authorization
        if self._client is None:
            # Requests go to workers directly, never through a proxy. No connection stays open to a dead worker.
            self._client = httpx.AsyncClient(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))
        target = url.rstrip("/") + path
        try:
            request = self._client.build_request(
                method, target, params=dict(query), content=body, headers=headers, timeout=httpx.Timeout(limit_s)
            )
            answer, content = await _exchange(self._client, request)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RestError(
                500, f"IO Error trying to forward REST request: {str(error) or type(error).__name__}"
            ) from error
        return _read(answer, content)


async def _exchange(client: httpx.AsyncClient, request: httpx.Request) -> tuple[httpx.Response, bytes]:
    response = await client.send(request, stream=True, follow_redirects=False)
    content = bytearray()
    try:
        async for part in response.aiter_bytes():
            content += part
            if len(content) > _MAX_ANSWER_BYTES:
                raise RestError(500, "IO Error trying to forward REST request: the answer does not end")
    finally:
        await response.aclose()
    return response, bytes(content)


def _read(answer: httpx.Response, content: bytes) -> Forwarded:
    status = answer.status_code
    if status == 204 or (not content and 200 <= status < 300):
        return Forwarded(status, None)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RestError(500, "IO Error trying to forward REST request: the answer is not JSON") from error
    if status >= 400:
        if not isinstance(document, dict):
            raise RestError(500, "IO Error trying to forward REST request: the answer is no error of Connect's")
        message = document.get("message")
        raise RestError(status, message if isinstance(message, str) else "")
    if status >= 300:
        raise RestError(500, f"Unexpected status code when handling forwarded request: {status}")
    return Forwarded(status, document)
