"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` with one or two near names, or ``"."``.

    A known name with last word ``name`` is near, too.
    """
    candidates = {candidate.lower(): candidate for candidate in known}
    word = name.lower()[:200]
    near = [candidate for candidate in candidates if word and candidate.endswith(f"_{word}")][:2]
    near = near or difflib.get_close_matches(word, list(candidates), n=2, cutoff=0.7)
    if not near:
        return "."
    return "; did you mean " + " or ".join(repr(candidates[item]) for item in near) + "?"
