"""The measured file of the distribution, ``calibration.json``: constants of plays, and errors of predictions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import attrs

__all__ = [
    "shipped_connect_constants",
    "shipped_connect_forms",
    "shipped_constants",
    "shipped_foreign",
    "shipped_forms",
]

_Forms = Mapping[str, Mapping[str, Any]]


@attrs.frozen
class _OfConnect:
    constants: Sequence[Mapping[str, Sequence[int]]]
    forms: _Forms


def _of_connect(fields: Mapping[str, Any]) -> _OfConnect:
    return _OfConnect(**fields)


@attrs.frozen
class _Shipped:
    made_by: str
    constants: Mapping[str, int]
    forms: _Forms
    foreign: _Forms
    connect: _OfConnect = attrs.field(converter=_of_connect)


@cache
def _shipped() -> _Shipped:
    text = resources.files("assignor_lab.planning").joinpath("calibration.json").read_text("utf-8")
    return _Shipped(**json.loads(text))


def shipped_constants() -> Mapping[str, int]:
    """Timing to its value: the recordings that also gave the errors, ``assignor derive-constants``."""
    return _shipped().constants


def shipped_forms() -> _Forms:
    """Form of change to its entry, as :class:`~assignor_lab.planning.intervals.Widening`."""
    return _shipped().forms


def shipped_foreign() -> _Forms:
    """Form of change to its entry, as :class:`~assignor_lab.planning.foreign.Ratios`."""
    return _shipped().foreign


def shipped_connect_constants() -> Sequence[Mapping[str, Sequence[int]]]:
    """Durations of Connect workers in each recorded change, as :mod:`~assignor_lab.planning.connect_machine`."""
    return _shipped().connect.constants


def shipped_connect_forms() -> _Forms:
    """The same as :func:`shipped_forms` for changes of Connect groups."""
    return _shipped().connect.forms
