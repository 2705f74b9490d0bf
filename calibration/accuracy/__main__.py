"""Predicts every recorded change: docs/reference/accuracy.md and the errors that ``assignor plan`` uses."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import attrs

from assignment_api.plugins import Registry, discover
from calibration.accuracy.changes import RECORDINGS
from calibration.accuracy.conformal import calibration_of
from calibration.accuracy.connect_page import connect_text
from calibration.accuracy.connect_predicting import connect_widenings, machine_of, predicted_connect, rows_of_connect
from calibration.accuracy.connect_recordings import CONNECT_RECORDINGS
from calibration.accuracy.page import CONNECT, STREAMS, page_text, write_page, write_shipped
from calibration.accuracy.predicting import constants_without, predicted_changes
from calibration.accuracy.public_report import planned_report
from calibration.accuracy.rows import choices, rows_of


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m calibration.accuracy", description=__doc__)
    parser.add_argument("--plays", type=int, default=20, help="plays of each plan (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (%(default)s)")
    parser.add_argument("--only-connect", action="store_true", help="Connect groups alone; the rest stays")
    parser.add_argument("--write", action="store_true", help="write the page and calibration.json")
    options = parser.parse_args()
    registry = discover()
    shipped: dict[str, Any] = {}
    texts = {}
    if not options.only_connect:
        texts[STREAMS], shipped = _streams(registry, options.plays, options.seed)
    texts[CONNECT], shipped["connect"] = _connect(registry, 2 * options.plays, options.seed)
    for text in texts.values():
        sys.stdout.write(f"{text}\n\n")
    if options.write:
        for part, text in texts.items():
            write_page(text, part)
        write_shipped(shipped)
    return 0


def _streams(registry: Registry, plays: int, seed: int) -> tuple[str, dict[str, Any]]:
    predicted = predicted_changes(registry, list(RECORDINGS), plays, seed)
    rows, calibration = rows_of(predicted), calibration_of(predicted)
    text = page_text(rows, choices(rows), calibration, list(planned_report(registry)))
    forms = {form: attrs.asdict(known) for form, known in calibration.items()}
    return text, {"made_by": "make accuracy", "constants": constants_without(""), "forms": forms}


def _connect(registry: Registry, plays: int, seed: int) -> tuple[str, dict[str, Any]]:
    changes = predicted_connect(registry, CONNECT_RECORDINGS, plays, seed)
    widenings = connect_widenings(changes)
    forms = {form: attrs.asdict(known) for form, known in widenings.items()}
    document = {"constants": attrs.asdict(machine_of(changes))["changes"], "forms": forms}
    return connect_text(rows_of_connect(changes), widenings), document


if __name__ == "__main__":
    raise SystemExit(main())
