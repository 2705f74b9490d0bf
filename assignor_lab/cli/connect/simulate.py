"""``assignor connect``: Connect groups, simulated, measured and planned."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import attrs
import typer

from assignment_api.plugins import discover
from assignor_lab.cli.connect import fuzz as connect_fuzz
from assignor_lab.cli.connect import import_ as connect_import
from assignor_lab.cli.connect import replay as connect_replay
from assignor_lab.cli.connect import restart as connect_restart
from assignor_lab.cli.connect import serve as connect_serve
from assignor_lab.cli.connect import status as connect_status
from assignor_lab.cli.connect.views import print_benchmark, print_plan, print_played, print_small
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, print_json, print_line, table
from assignor_lab.scenarios import Place, canonical_line, scenario_from_document
from assignor_lab.simulation.connect.episode_format import ConnectEpisode, read_episode, read_episodes
from assignor_lab.simulation.connect.named_episodes import EPISODES
from assignor_lab.simulation.connect.published.benchmark import benchmark
from assignor_lab.simulation.connect.published.small_benchmark import small_benchmark
from assignor_lab.simulation.connect.safety import random_episode
from assignor_lab.simulation.connect.simulate import assignors_from, simulate
from assignor_lab.simulation.connect.static_plan import plan_static, read_plan_input

__all__ = ["register"]

Episode = Annotated[
    str,
    typer.Argument(
        metavar="EPISODE",
        help="File of kind connect-episode, plain or gzip (- is the standard input), or the name of an episode that "
        "comes with the command (see --list); random-N is what `connect fuzz` plays under seed N.",
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

#: Names of the episodes that `assignor connect fuzz` plays, each with its seed.
_RANDOM = re.compile(r"random-([0-9]{1,18})\Z")

Small = Annotated[bool, typer.Option("--small", help="The experiment that was recorded: 300 tasks, 4.3.1.")]
PlanFile = Annotated[str, typer.Argument(metavar="FILE", help="JSON file; - is the standard input.")]


def register(app: typer.Typer) -> None:
    """Adds the commands to ``app``."""
    connect = typer.Typer(
        name="connect", help="Kafka Connect: simulate a group, plan static workers, run a cluster, look after one.",
        no_args_is_help=True,
    )  # fmt: skip
    connect.command("simulate")(_simulate)
    connect.command("benchmark")(_benchmark)
    connect.command("plan-static")(_plan_static)
    connect_fuzz.register(connect)
    connect_replay.register(connect)
    connect_serve.register(connect)
    connect_status.register(connect)
    connect_restart.register(connect)
    connect_import.register(connect)
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


def _benchmark(
    small: Small = False,  # noqa: FBT002 - a flag
    seed: Seed = 0,
    json: Json = False,  # noqa: FBT002 - a flag
) -> None:
    """Replay the published benchmark, 14 minutes against one, with every figure beside ours.

    With --small the smaller run of it that was recorded on real Kafka Connect 4.3.1.
    """
    assignors = assignors_from(discover())
    document = small_benchmark(assignors, seed) if small else benchmark(assignors, seed)
    if json:
        print_json(document)
    elif small:
        print_small(document)
    else:
        print_benchmark(document)


def _plan_static(file: PlanFile, json: Json = False) -> None:  # noqa: FBT002 - a flag
    """Choose static.connectors and static.tasks for each worker (KIP-987), from weights and sizes.

    FILE is JSON: {"connectors": [{"name": "a", "tasks": 3, "task_weight": 2}], "workers": [{"name": "w1", "size": 8}]}.
    """
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    plan = plan_static(*read_plan_input(data, Place(file)))
    if json:
        print_json(attrs.asdict(plan))
    else:
        print_plan(plan)


def _print_names(*, as_json: bool) -> None:
    rows = [(each.name, each.summary) for each in EPISODES.values()]
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in rows])
    else:
        console().print(table(("name", "what happens"), rows))


def _episodes(source: str) -> list[ConnectEpisode]:
    document = _known_document(source)
    if document is not None:
        return [read_episode(scenario_from_document(document, Place(source)))]
    return read_episodes(source)


def _documents(source: str) -> list[Any]:
    document = _known_document(source)
    if document is not None:
        return [document]
    from assignor_lab.scenarios import read_scenarios

    return [scenario.document for scenario in read_scenarios(source)]


def _known_document(source: str) -> Any:
    """The document of an episode that needs no file, or ``None``."""
    if source in EPISODES:
        return EPISODES[source].document()
    random = _RANDOM.match(source)
    if random is not None and not Path(source).exists():
        return random_episode(int(random[1]))
    return None
