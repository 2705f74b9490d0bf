"""``assignor connect``: Connect groups, simulated, measured and planned."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from assignment_api.plugins import discover
from assignor_lab.cli.connect_views import print_played
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, print_json, print_line, table
from assignor_lab.scenarios import Place, canonical_line, scenario_from_document
from assignor_lab.simulation import EPISODES, ConnectEpisode, assignors_from, read_episode, read_episodes, simulate

__all__ = ["register"]

Episode = Annotated[
    str,
    typer.Argument(
        metavar="EPISODE",
        help="File of kind connect-episode, plain or gzip (- is the standard input), or the name of an episode that "
        "comes with the command (see --list).",
    ),
]
Assignor = Annotated[
    str | None,
    typer.Option("--assignor", metavar="NAME", help="Assignor for every protocol but eager; Kafka's own by default."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every draw.")]
Columns = Annotated[int, typer.Option("--width", metavar="N", min=10, max=1000, help="Columns of the timeline.")]
Names = Annotated[bool, typer.Option("--list", help="List the episodes that come with the command.")]
Document = Annotated[
    bool, typer.Option("--document", help="Print the episode as a file would hold it, and play nothing.")
]


def register(app: typer.Typer) -> None:
    """Adds the commands to ``app``."""
    connect = typer.Typer(
        name="connect", help="Kafka Connect: simulate a group, replay the benchmark, plan static workers.",
        no_args_is_help=True,
    )  # fmt: skip
    connect.command("simulate")(_simulate)
    app.add_typer(connect)


def _simulate(
    episode: Episode = "",
    assignor: Assignor = None,
    seed: Seed = 0,
    width: Columns = 100,
    json: Json = False,  # noqa: FBT002 - a flag
    names: Names = False,  # noqa: FBT002 - a flag
    document: Document = False,  # noqa: FBT002 - a flag
) -> None:
    """Play what happens to a Connect group on a virtual clock, with a log to follow and a timeline."""
    if names:
        _print_names(as_json=json)
        return
    if not episode:
        raise typer.BadParameter("give a file or a name; --list shows the names", param_hint="EPISODE")
    if document:
        for each in _documents(episode):
            print_line(canonical_line(each).decode().rstrip("\n"))
        return
    assignors = assignors_from(discover(), assignor, may_run_code=True)
    played = [simulate(each, assignors, seed) for each in _episodes(episode)]
    print_played(played, width, as_json=json)


def _print_names(*, as_json: bool) -> None:
    rows = [(each.name, each.summary) for each in EPISODES.values()]
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in rows])
    else:
        console().print(table(("name", "what happens"), rows))


def _episodes(source: str) -> list[ConnectEpisode]:
    if source in EPISODES:
        return [read_episode(scenario_from_document(EPISODES[source].document(), Place(source)))]
    return read_episodes(source)


def _documents(source: str) -> list[Any]:
    if source in EPISODES:
        return [EPISODES[source].document()]
    from assignor_lab.scenarios import read_scenarios

    return [scenario.document for scenario in read_scenarios(source)]
