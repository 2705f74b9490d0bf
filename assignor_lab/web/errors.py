"""Errors of the page, with their HTTP status."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = ["NotThereError", "PageError"]


class PageError(AssignorLabError):
    """The request is invalid: an unreadable URL, or an impossible change."""

    status = 400


class NotThereError(PageError):
    """The requested item does not exist."""

    status = 404
