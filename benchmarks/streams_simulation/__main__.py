"""Plays every recording of a Streams group and compares: the tables of docs/explanation/streams-accuracy.md."""

from __future__ import annotations

import argparse

from assignment_api.plugins import discover
from benchmarks.streams_simulation.page import summary, tables, write_page
from benchmarks.streams_simulation.placements import placements_of, placements_table
from benchmarks.streams_simulation.ranking import table
from benchmarks.streams_simulation.recordings import RECORDINGS, compared


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams_simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="of the races; without it acknowledgements take the median")
    parser.add_argument("--plays", type=int, default=20, help="seeds of the races that are tried (%(default)s)")
    parser.add_argument("--write", action="store_true", help="put the tables into the documentation")
    options = parser.parse_args()
    registry = discover()
    placements = {name: placements_of(name, registry, options.plays) for name in RECORDINGS}
    measured = {name: compared(name, options.seed) for name in RECORDINGS}
    text = "\n\n".join(
        (
            summary(measured),
            "### Where tasks were",
            placements_table(placements),
            tables(measured),
            "### Ranking",
            table(measured),
        )
    )
    print(text)
    if options.write:
        write_page(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
