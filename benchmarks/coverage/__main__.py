"""Measures how often intervals of differences cover the truth: the tables of docs/explanation/intervals.md."""

from __future__ import annotations

import argparse
import os

from benchmarks.coverage.page import tables, write_page
from benchmarks.coverage.runs import LEVEL, cells

RUNS, SEED = 8_000, 12


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, help="runs for each field (%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="of all draws (%(default)s)")
    parser.add_argument("--level", type=float, default=LEVEL, help="confidence that is asked for (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="at a time (%(default)s)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/explanation/intervals.md")
    options = parser.parse_args()
    text = tables(cells(options.runs, options.seed, options.level, options.processes), options.level)
    print(text)
    if options.write:
        write_page(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
