"""Time every installed assignor on states of growing size; the assign call alone, in milliseconds.

Prints a table, and writes the figures as JSON lines to build/bench.jsonl.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from pathlib import Path

from assignment_api.plugins import FoundTaskAssignor, discover
from benchmarks.states import SHAPES, Shape, state

WARM_UPS = 1
REPEATS = 5
OUT = Path(__file__).resolve().parent.parent / "build" / "bench.jsonl"


def main() -> int:
    """Time everything."""
    OUT.parent.mkdir(exist_ok=True)
    rows = []
    print(f"{'state':<22}{'assignor':<22}{'median ms':>12}{'min ms':>12}")
    for shape in SHAPES:
        for assignor in discover().task_assignors():
            row = timed(shape, assignor)
            rows.append(row)
            print(f"{row['id']:<22}{row['assignor']:<22}{row['median_ms']:>12}{row['min_ms']:>12}", flush=True)
    OUT.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return 0


def timed(shape: Shape, assignor: FoundTaskAssignor) -> dict[str, str | int | float]:
    """One line of the result: median and minimum over a few repeats after a warm-up."""
    application = state(shape, seed=0)
    spent = []
    for _ in range(WARM_UPS + REPEATS):
        fresh = application.for_next_assignor()
        made = assignor.create()
        made.configure({})
        gc.collect()
        begin = time.perf_counter_ns()
        made.assign(fresh)
        spent.append((time.perf_counter_ns() - begin) / 1e6)
    kept = spent[WARM_UPS:]
    return {
        "id": shape.name,
        "assignor": assignor.name,
        "tasks": shape.tasks,
        "clients": shape.clients,
        "median_ms": round(statistics.median(kept), 3),
        "min_ms": round(min(kept), 3),
    }


if __name__ == "__main__":
    sys.exit(main())
