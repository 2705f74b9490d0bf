"""Suggestions for misspelled names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """End of a sentence: ``"; did you mean 'x'?"`` with the one or two nearest known names, or ``"."`` for none."""
    candidates = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(name.lower()[:200], list(candidates), n=2, cutoff=0.7)
    if not near:
        return "."
    return "; did you mean " + " or ".join(repr(candidates[item]) for item in near) + "?"
