"""Secrets: texts that libraries can use and that no ``repr`` shows."""

from __future__ import annotations

__all__ = ["Secret"]


class Secret(str):
    """A password; libraries print settings with ``repr``, which shows stars here."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"
