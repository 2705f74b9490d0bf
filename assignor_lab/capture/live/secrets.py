"""Secrets: texts that libraries can use and nobody can print by accident."""

from __future__ import annotations

__all__ = ["Secret"]


class Secret(str):
    """A password. What prints values by ``repr``, as libraries do with their settings, shows stars."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Stars, whatever it holds."""
        return "'***'"
