"""``python -m calibration.advice``: how often advice on generated groups is the best, and never worse on later days."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from assignment_api.plugins import discover
from benchmarks.pages import put_between
from calibration.advice.known_best import judged_group, judged_past

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "advice.md"
BEGIN = "<!-- written by python -m calibration.advice --write: begin -->"
END = "<!-- written by python -m calibration.advice --write: end -->"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m calibration.advice", description=__doc__)
    parser.add_argument("--groups", type=int, default=40, help="generated groups, and pasts (%(default)s)")
    parser.add_argument("--days", type=int, default=8, help="days of each race (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first group (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="processes (%(default)s)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reference/advice.md")
    options = parser.parse_args()
    registry = discover()
    seeds = range(options.seed, options.seed + options.groups)
    groups, pasts = [], []
    for seed in seeds:
        groups.append(judged_group(registry, seed, options.days, options.processes))
        pasts.append(judged_past(registry, seed, options.days, options.processes))
        sys.stderr.write(f"{groups[-1]} {pasts[-1]}\n")
    lines = [
        "| goal | found | of |",
        "|---|---|---|",
        "| the best configuration, or one within noise of it | "
        f"{sum(each.is_best for each in groups)} | {len(groups)} |",
        "| never worse than the present settings on the second part of a past, beyond the interval | "
        f"{sum(not each.is_worse for each in pasts)} | {len(pasts)} |",
        "",
        f"Task-seconds a day of all groups together: {sum(each.present for each in groups):,.0f} at present, "
        f"{sum(each.advised for each in groups):,.0f} as advised, {sum(each.best for each in groups):,.0f} under the "
        f"best configurations. Seeds from {options.seed}, {options.days} days in each race.",
    ]
    text = "\n".join(lines)
    sys.stdout.write(f"{text}\n")
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
