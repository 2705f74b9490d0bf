"""The wording of the page and of its tables: that of every view, :mod:`assignor_lab.documents.wording`."""

from __future__ import annotations

from assignor_lab.documents.wording import (
    figure,
    listed,
    mean,
    moment,
    plain,
    plural,
    shortened,
    signed,
    unit_words,
    without_uuids,
)

__all__ = [
    "figure",
    "listed",
    "mean",
    "moment",
    "plain",
    "plural",
    "shortened",
    "signed",
    "unit_words",
    "without_uuids",
]
