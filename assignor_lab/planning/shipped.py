"""The measured file of the distribution, ``calibration.json``: constants of plays, and errors of predictions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["shipped_connect_constants", "shipped_connect_forms", "shipped_constants", "shipped_forms"]


@cache
def _document() -> Mapping[str, Any]:
    text = resources.files("assignor_lab.planning").joinpath("calibration.json").read_text("utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def shipped_constants() -> Mapping[str, int]:
    """Timing to its value: the recordings that also gave the errors, ``assignor derive-constants``."""
    found: Mapping[str, int] = _document()["constants"]
    return found


def shipped_forms() -> Mapping[str, Mapping[str, Any]]:
    """Form of change to its entry, as :class:`~assignor_lab.planning.intervals.Widening`."""
    found: Mapping[str, Mapping[str, Any]] = _document()["forms"]
    return found


def shipped_connect_constants() -> Sequence[Mapping[str, Sequence[int]]]:
    """Durations of Connect workers in each recorded change, as :mod:`~assignor_lab.planning.connect_machine`."""
    found: Sequence[Mapping[str, Sequence[int]]] = _document()["connect"]["constants"]
    return found


def shipped_connect_forms() -> Mapping[str, Mapping[str, Any]]:
    """The same as :func:`shipped_forms` for changes of Connect groups."""
    found: Mapping[str, Mapping[str, Any]] = _document()["connect"]["forms"]
    return found
