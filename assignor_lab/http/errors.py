"""Errors of HTTP servers: a refused request, and an address that is not free."""

from __future__ import annotations

from collections.abc import Mapping

from assignment_api import AssignorLabError

__all__ = ["BindError", "HttpError"]


class BindError(AssignorLabError):
    """An address cannot be listened at."""


class HttpError(AssignorLabError):
    """A request that the server refuses.

    Args:
        typed: Whether the answer has a content type.
    """

    def __init__(
        self, status: int, message: str, *, typed: bool = True, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.typed = typed
        self.headers = dict(headers or {})
