"""Predicts every recorded change: docs/reference/accuracy.md and the errors that ``assignor plan`` uses."""

from __future__ import annotations

import argparse
import json
import sys

import attrs

from assignment_api.plugins import discover
from assignor_lab.documents.durable import write_durably
from calibration.accuracy.changes import RECORDINGS
from calibration.accuracy.conformal import calibration_of
from calibration.accuracy.page import PAGE, page_text, write_page
from calibration.accuracy.predicting import constants_without, predicted_changes
from calibration.accuracy.public_report import planned_report
from calibration.accuracy.rows import choices, rows_of

_SHIPPED = PAGE.parents[2] / "assignor_lab" / "planning" / "calibration.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m calibration.accuracy", description=__doc__)
    parser.add_argument("--plays", type=int, default=20, help="plays of each plan (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws (%(default)s)")
    parser.add_argument("--write", action="store_true", help="write the page and calibration.json")
    options = parser.parse_args()
    registry = discover()
    predicted = predicted_changes(registry, list(RECORDINGS), options.plays, options.seed)
    rows, calibration = rows_of(predicted), calibration_of(predicted)
    text = page_text(rows, choices(rows), calibration, list(planned_report(registry)))
    sys.stdout.write(f"{text}\n")
    if options.write:
        write_page(text)
        forms = {form: attrs.asdict(known) for form, known in calibration.items()}
        document = {"made_by": "make accuracy", "constants": constants_without(""), "forms": forms}
        write_durably(_SHIPPED, f"{json.dumps(document, indent=1)}\n".encode())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
