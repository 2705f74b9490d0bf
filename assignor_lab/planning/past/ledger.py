"""The ledger of a recording: its changes with the prediction before each, ``changes.jsonl`` in the folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from assignor_lab.documents.durable import append_durably
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.documents.shapes import Check, faults_at, one_of, open_record, whole
from assignor_lab.documents.values import value_of
from assignor_lab.documents.writer import canonical_line
from assignor_lab.planning.past_record import PredictedChange, change_document

__all__ = ["LEDGER", "add_to_ledger", "read_ledger"]

LEDGER = "changes.jsonl"
_KIND = "predicted-change"
_REMEDY = "remove the file: plan predicts the changes again"
_HEAD = open_record({"format": whole(1, 1), "kind": one_of(_KIND)}, {}, hint=_REMEDY)
_CHANGE: Check[PredictedChange] = value_of(PredictedChange, _REMEDY)


def read_ledger(folder: Path) -> dict[int, PredictedChange]:
    """Time of a change to the change; empty without a ledger.

    Raises:
        DocumentFormatError: with its place, if a line is none of a ledger.
    """
    file = folder / LEDGER
    if not file.is_file():
        return {}
    found = {}
    for place, line in json_lines(file):
        with faults_at(place):
            _HEAD(line)
            change = _CHANGE(line)
        found[change.at_ms] = change
    return found


def add_to_ledger(folder: Path, changes: Iterable[PredictedChange]) -> None:
    """Appends changes, the oldest first."""
    ordered = sorted(changes, key=lambda each: each.at_ms)
    lines = [canonical_line({"format": 1, "kind": _KIND, **change_document(each)}) for each in ordered]
    if lines:
        append_durably(folder / LEDGER, b"".join(lines))
