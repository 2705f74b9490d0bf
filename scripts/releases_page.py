"""Writes the tables of ``docs/reference/releases.md`` from ``assignment_api.releases``.

Usage: releases_page.py [--write]. Without ``--write`` the exit code is 1 if the page differs.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from assignment_api.releases import BEHAVIOURS, KNOWN_RELEASES, BehaviourRange

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "releases.md"
BEGIN, END = "<!-- written by scripts/releases_page.py --write: begin -->", "<!-- written: end -->"
_TITLES = {
    "assignors": "Assignors",
    "coordinator": "Brokers and their coordinator",
    "clients": "Clients",
    "restore": "State and restoring",
    "wire": "Messages",
    "logs": "Log lines",
    "configuration": "Configuration",
}


def tables() -> str:
    """The part of the page that comes from the table of ranges."""
    lines = [f"Known releases: {', '.join(f'{each.line} ({each})' for each in KNOWN_RELEASES)}."]
    for area, ranges in groupby(BEHAVIOURS, lambda each: each.area):
        lines += ["", f"### {_TITLES[area]}", "", "| key | from | to | behaviour | known by |", "|---|---|---|---|---|"]
        lines += [_row(each) for each in ranges]
    return "\n".join(lines)


def _row(each: BehaviourRange) -> str:
    return f"| `{each.key}` | {each.since} | {each.until or 'newest'} | {each.text} | {each.known_by} |"


def written(page: str) -> str:
    """The page with its tables as they are now."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{tables()}\n\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Compare, or with ``--write`` write."""
    page = PAGE.read_text(encoding="utf-8")
    now = written(page)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(now, encoding="utf-8")
    elif now != page:
        print(f"{PAGE} differs from assignment_api/releases.py: run python scripts/releases_page.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
