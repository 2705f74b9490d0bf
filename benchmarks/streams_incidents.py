"""Plays every named episode of a Streams group: the table of incidents in docs/reference/streams-episodes.md."""

from __future__ import annotations

import argparse
from pathlib import Path

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.named_episodes import EPISODES, NamedStreamsEpisode
from benchmarks.pages import put_between

__all__ = ["BEGIN", "END", "PAGE", "figure", "row", "write_page"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "streams-episodes.md"
BEGIN = "<!-- written by python -m benchmarks.streams_incidents --write: begin -->"
END = "<!-- written by python -m benchmarks.streams_incidents --write: end -->"


def figure(named: NamedStreamsEpisode) -> float:
    episode = read_episode(scenario_from_document(named.document(), Place(named.name)))
    return named.figure(play(episode, discover(), config_sources(environ={}), keep_log=False)[1])


def row(named: NamedStreamsEpisode, found: float) -> str:
    shown = f"{found:.1f} {named.shown_unit}"
    return f"| `{named.name}` | {named.source}: {named.report} | {shown if named.is_met(found) else f'**{shown}**'} |"


def write_page(table: str, page: Path = PAGE) -> None:
    put_between(page, BEGIN, table, END)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.streams_incidents", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into the documentation")
    options = parser.parse_args()
    lines = ["| name | published | played |", "|---|---|---|"]
    table = "\n".join([*lines, *(row(named, figure(named)) for named in EPISODES.values())])
    print(table)
    if options.write:
        write_page(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
