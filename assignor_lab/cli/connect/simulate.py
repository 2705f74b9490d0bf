"""``assignor connect simulate``: episodes of Connect groups, played on a virtual clock."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.options import ConfigFile, EpisodeDocument, EpisodeNames, Json, Overrides, Seed, sources
from assignor_lab.cli.text import console, note, print_json, print_line, table

if TYPE_CHECKING:
    from assignor_lab.planning.predict import Terms
    from assignor_lab.simulation.connect.episode import ConnectEpisode

__all__ = ["register"]

Episode = Annotated[
    str,
    typer.Argument(
        metavar="EPISODE",
        help="File of kind connect-episode, plain or gzip (- is the standard input), or the name of an episode that "
        "comes with the command (see --list); random-N is the episode of `connect fuzz` under seed N.",
    ),
]
Assignor = Annotated[
    str | None,
    typer.Option("--assignor", metavar="NAME", help="Assignor for every protocol but eager; Kafka's own by default."),
]
Events = Annotated[
    list[str] | None,
    typer.Option(
        "--event",
        metavar="JSON",
        help='An event of a captured state, such as \'{"at_ms": 10000, "type": "crash", "worker": "w1:8083"}\'; '
        "repeatable.",
    ),
]
Columns = Annotated[
    int | None,
    typer.Option(
        "--width",
        metavar="N",
        min=10,
        max=1000,
        help="Columns of the timeline; 100 by default, or the width of the console.",
    ),
]


#: A captured state is played this long after its last event and the delay.
_REST_MS = 120_000
#: Names of the episodes that `assignor connect fuzz` plays, each with its seed.
_RANDOM = re.compile(r"random-([0-9]{1,18})\Z")


def register(connect: typer.Typer) -> None:
    """Adds the command to ``assignor connect``."""
    connect.command("simulate")(_simulate)


def _simulate(
    episode: Episode = "",
    assignor: Assignor = None,
    seed: Seed = 0,
    width: Columns = None,
    config: ConfigFile = None,
    c: Overrides = None,
    json: Json = False,
    names: EpisodeNames = False,
    document: EpisodeDocument = False,
    event: Events = None,
) -> None:
    """Play what happens to a Connect group on a virtual clock, with a log to follow and a timeline."""
    from assignor_lab.cli.connect.views import print_played
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.planning.predict import Terms
    from assignor_lab.scenarios import canonical_line
    from assignor_lab.scenarios.settings import given_settings
    from assignor_lab.simulation.connect.simulate import assignors_from, simulate

    if names:
        _print_names(as_json=json)
        return
    if not episode:
        raise typer.BadParameter("give a file or a name; --list shows the names", param_hint="EPISODE")
    if document:
        for each in _documents(episode):
            print_line(canonical_line(each).decode().rstrip("\n"))
        return
    given = sources(config, c)
    registry = found_plugins(given.effective()).registry
    assignors = assignors_from(registry, assignor, may_run_code=True)
    found = _captured(episode, event or [], Terms(registry, given, given_settings(given.above)))
    if event and found is None:
        raise typer.BadParameter("an episode has its own events: give a captured state", param_hint="--event")
    played = [simulate(each, assignors, seed) for each in (_episodes(episode) if found is None else [found])]
    print_played(played, width, as_json=json)


def _print_names(*, as_json: bool) -> None:
    from assignor_lab.simulation.connect.named_episodes import EPISODES

    rows = [(each.name, each.summary) for each in EPISODES.values()]
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in rows])
    else:
        console().print(table(("name", "what happens"), rows))


def _episodes(source: str) -> list[ConnectEpisode]:
    from assignor_lab.scenarios import Place, scenario_from_document
    from assignor_lab.simulation.connect.formats.episodes import read_episode, read_episodes

    document = _known_document(source)
    if document is not None:
        return [read_episode(scenario_from_document(document, Place(source)))]
    return read_episodes(source)


def _captured(source: str, events: list[str], terms: Terms) -> ConnectEpisode | None:
    """The last captured state of a file with events; ``None``: the source holds episodes."""
    import attrs

    from assignor_lab.planning.connect_state import connect_state, is_connect_state
    from assignor_lab.planning.making import Options
    from assignor_lab.scenarios import Place, read_scenarios
    from assignor_lab.simulation.connect.formats.episodes import read_events

    if _known_document(source) is not None:
        return None
    if source == "-" and not events:
        return None
    last = None
    for last in read_scenarios(source):
        if not is_connect_state(last):
            return None
    if last is None:
        return None
    state = connect_state(last, terms, Options())
    for sentence in state.assumptions:
        note(f"assumed: {sentence}")
    happen = read_events(events, Place("--event"), state.names)
    until_ms = max((each.at_ms for each in happen), default=0) + state.max_delay_ms + _REST_MS
    return attrs.evolve(state.episode, events=happen, until_ms=until_ms)


def _documents(source: str) -> list[Any]:
    from assignor_lab.scenarios import read_scenarios

    document = _known_document(source)
    if document is not None:
        return [document]
    return [scenario.document for scenario in read_scenarios(source)]


def _known_document(source: str) -> Any:
    from assignor_lab.scenarios.formats.connect_episodes import connect_episode_document
    from assignor_lab.simulation.connect.named_episodes import EPISODES
    from assignor_lab.simulation.connect.safety import random_episode

    if source in EPISODES:
        return EPISODES[source].document()
    random = _RANDOM.match(source)
    if random is not None and not Path(source).exists():
        return connect_episode_document(random_episode(int(random[1])))
    return None
