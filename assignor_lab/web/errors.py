"""Errors of the page, with the status that a browser is told."""

from __future__ import annotations

from assignment_api import AssignorLabError

__all__ = ["NotThereError", "PageError"]


class PageError(AssignorLabError):
    """What was asked for cannot be shown: an address that means nothing, a change that cannot be made."""

    status = 400


class NotThereError(PageError):
    """What was asked for is not there."""

    status = 404
