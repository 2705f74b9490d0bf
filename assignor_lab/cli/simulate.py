"""``assignor simulate``: episodes of Streams groups, played on a virtual clock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assignor_lab.cli.options import (
    ConfigFile,
    EpisodeDocument,
    EpisodeNames,
    Json,
    Overrides,
    Processes,
    RackFiles,
    Reads,
    Release,
    Seed,
    sources,
)
from assignor_lab.cli.past_options import (
    Dates,
    Day,
    TimingsFile,
    Topology,
    WorkloadFile,
    Zone,
    dates_of,
    given_timings,
    rack_filler,
    surroundings,
)
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignment_api.plugins import Registry
    from assignor_lab.scenarios.settings import Settings
    from assignor_lab.scenarios.with_racks import RackFiller
    from assignor_lab.simulation.streams.episode import StreamsEpisode
    from assignor_lab.simulation.streams.results import PlayTotals
    from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode

__all__ = ["register"]

Episode = Annotated[
    str,
    typer.Argument(
        metavar="EPISODE",
        help="File of kind streams-episode, plain or gzip (- is the standard input), or the name of an episode that "
        "comes with the command (see --list); random-N is the episode of --fuzz under seed N.",
    ),
]
Past = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="HISTORY",
        help="Play the events of a group's past: a file of import, or the folder of record. --config has "
        "the application's timeouts.",
    ),
]
Assignor = Annotated[
    str | None,
    typer.Option(
        "--assignor",
        metavar="NAME",
        help="The assignor, as for 'assignor assign'; by default the episode's, or Kafka's default.",
    ),
]
ProtocolName = Annotated[
    Literal["classic", "streams"] | None,
    typer.Option(
        "--protocol", metavar="NAME", help="Play the same world under classic or streams. By default the episode's."
    ),
]
ExperimentalWarmup = Annotated[
    bool,
    typer.Option(
        "--experimental-warmup",
        help="Streams protocol: the broker warms up state before it moves tasks. No release of Kafka does this yet.",
    ),
]
Columns = Annotated[int, typer.Option("--width", metavar="N", min=10, max=1000, help="Columns of the timeline.")]
Fuzz = Annotated[
    bool, typer.Option("--fuzz", help="Play random episodes, and check that none breaks a rule of safety.")
]
Count = Annotated[int, typer.Option("--count", metavar="N", min=1, help="With --fuzz: number of episodes.")]
Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="With --fuzz: folder for the smallest episode of each finding.")
]
#: Folder of findings without --out.
_FINDINGS = Path("fuzz-findings")
#: Names of the episodes that --fuzz plays, each with its seed.
_RANDOM = re.compile(r"random-([0-9]{1,18})\Z")
Script = Annotated[
    Path | None, typer.Option("--script", metavar="FILE", help="Events of a consumer group's state, as for plan: JSON.")
]
Log = Annotated[bool, typer.Option("--log", help="Print the event log below the timeline.")]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("simulate")(_simulate)


def _simulate(
    episode: Episode = "",
    from_: Past = None,
    assignor: Assignor = None,
    seed: Seed = 0,
    config: ConfigFile = None,
    c: Overrides = None,
    release: Release = None,
    racks: RackFiles = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    workload: WorkloadFile = None,
    timings: TimingsFile = None,
    protocol: ProtocolName = None,
    experimental_warmup: ExperimentalWarmup = False,
    reads_from: Reads = "leader",
    width: Columns = 100,
    log: Log = False,
    script: Script = None,
    names: EpisodeNames = False,
    document: EpisodeDocument = False,
    fuzz: Fuzz = False,
    count: Count = 1_000,
    processes: Processes = 0,
    out: Out = _FINDINGS,
    json: Json = False,
) -> None:
    """Play the events of a Streams or consumer group on a virtual clock: rebalances, restoring, and waiting times."""
    from assignor_lab.capture.histories.episodes import past_scenarios, read_as_episodes
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.cli.simulate_consumers import is_of_consumers, simulate_consumers
    from assignor_lab.cli.simulate_fuzz import play_random_episodes
    from assignor_lab.documents.wording import plural
    from assignor_lab.groups.deciding_release import release_sentence
    from assignor_lab.groups.streams_episode.kind import STREAMS_EPISODE
    from assignor_lab.groups.streams_episode.playing import play, traffic_terms
    from assignor_lab.scenarios import read_scenarios
    from assignor_lab.scenarios.settings import given_settings
    from assignor_lab.simulation.streams.formats.episodes import read_episode
    from assignor_lab.simulation.streams.formats.plays import document_of
    from assignor_lab.simulation.streams.results import totals_of
    from assignor_lab.verification.past import verified_past
    from assignor_lab.verification.verified import NOTHING
    from assignor_lab.verification.words import document_of as document_of_verification
    from assignor_lab.verification.words import sentences

    if names:
        _print_names(as_json=json)
        return
    given = sources(config, c, release)
    plugins = found_plugins(given.effective())
    registry = plugins.registry
    verification = NOTHING
    if episode and from_ is not None:
        raise typer.BadParameter("give an episode or --from, not both", param_hint="EPISODE")
    if fuzz:
        if episode or from_ is not None:
            raise typer.BadParameter("--fuzz makes its own episodes: omit EPISODE and --from", param_hint="EPISODE")
        play_random_episodes(registry, count, seed, assignor, protocol, processes, out, as_json=json)
        return
    if episode and episode != "-" and is_of_consumers(episode):
        if document:
            raise typer.BadParameter("an episode of consumers has no document", param_hint="--document")
        simulate_consumers(episode, script, given, registry, assignor, seed, width, as_json=json)
        return
    if from_ is not None:
        around = surroundings(given, topology, timezone, racks, dates_of(dates, day))
        scenarios = past_scenarios([from_], around)
        past = read_as_episodes(scenarios, given_timings(timings), workload, around)
        if document:
            _print_lines(scenario.document for scenario in past)
            return
        verification = verified_past(
            [from_], scenarios, past, around, given, registry, plugins.isolation, given_timings(timings), plays=1
        )
        if not json:
            for sentence in sentences(verification):
                print_sentence(sentence)
        played_ones = [read_episode(scenario) for scenario in past]
    elif not episode:
        raise typer.BadParameter("give a file or a name; --list shows the names", param_hint="EPISODE")
    else:
        known = _known_document(episode, registry, assignor, protocol)
        if document:
            _print_lines([known] if known is not None else (each.document for each in read_scenarios(episode)))
            return
        filler = rack_filler(racks)
        settings = given_settings(given.above)
        played_ones = _episodes(episode, known, workload, given_timings(timings), settings, filler)
        for sentence in () if filler is None else filler.unused():
            note(f"warning: {sentence}")
    for each in played_ones:
        name, played = play(
            each, registry, given, assignor, seed, protocol=protocol, coming_refiner=experimental_warmup,
            may_run_code=True,
        )  # fmt: skip
        for sentence in played.episode.assumptions:
            note(f"assumed: {sentence}")
        found = STREAMS_EPISODE.find(registry, name, may_run_code=True)
        decides = release_sentence(name, found, given.effective(each.config, str(each.place)))
        if decides is not None:
            note(decides)
        if played.failures:
            note(f"{plural(len(played.failures), 'decision')} left no new target, first: {played.failures[0][1]}")
        traffic = traffic_terms(reads_from, given, each)
        if json:
            verified = {} if from_ is None else {"verified": document_of_verification(verification.of(each.id))}
            print_json({**verified, **document_of(played, name, traffic)})
        else:
            _print(name, totals_of(played, traffic), played, width, with_log=log)


def _known_document(source: str, registry: Registry, assignor: str | None, protocol: str | None) -> Any:
    """The document of an episode that needs no file, or ``None``."""
    from assignor_lab.groups.streams_episode.fuzzing import drawn_assignors
    from assignor_lab.scenarios.formats.streams_episodes import episode_document
    from assignor_lab.simulation.streams.named_episodes import EPISODES
    from assignor_lab.simulation.streams.safety.random_episodes import random_episode

    if source in EPISODES:
        return EPISODES[source].document()
    random = _RANDOM.match(source)
    if random is not None and not Path(source).exists():
        assignors = drawn_assignors(registry, assignor, protocol, may_run_code=True)
        return episode_document(random_episode(int(random[1]), assignors))
    return None


def _episodes(
    source: str,
    known: Any,
    workload: Path | None,
    timings: Mapping[str, int],
    settings: Settings,
    racks: RackFiller | None,
) -> list[StreamsEpisode]:
    from assignor_lab.scenarios import Place, scenario_from_document
    from assignor_lab.simulation.streams.formats.episodes import read_episode, read_episodes, with_workload
    from assignor_lab.simulation.streams.formats.timings import with_timings

    if known is None:
        return read_episodes(source, workload, timings, racks, settings)
    scenario = scenario_from_document(known if racks is None else racks.filled(known), Place(source))
    weighed = scenario if workload is None else with_workload(scenario, workload)
    return [read_episode(with_timings(weighed, timings, settings))]


def _print_lines(documents: Iterable[Any]) -> None:
    from assignor_lab.scenarios import canonical_line

    for each in documents:
        print_line(canonical_line(each).decode().rstrip("\n"))


def _print_names(*, as_json: bool) -> None:
    from assignor_lab.cli.simulate_consumers import consumer_episode_rows
    from assignor_lab.simulation.streams.named_episodes import EPISODES

    if as_json:
        print_json(
            [
                *({"name": each.name, "summary": each.summary, "published": each.report} for each in EPISODES.values()),
                *({"name": row[0], "summary": row[1], "published": row[3]} for row in consumer_episode_rows()),
            ]
        )
        return
    rows = [(each.name, each.summary, f"{each.source}: {each.report}") for each in EPISODES.values()]
    rows += [(name, summary, f"{source}: {report}") for name, summary, source, report in consumer_episode_rows()]
    console().print(table(("name", "what happens", "what was published"), rows))


def _print(assignor: str, totals: PlayTotals, played: PlayedStreamsEpisode, width: int, *, with_log: bool) -> None:
    from assignor_lab.simulation.streams.results import played_actions
    from assignor_lab.simulation.streams.timeline import timeline

    print_line(f"{played.episode.id}: {assignor}, seed {played.seed}")
    columns = ("at s", "action", "who", "rebalances", "stable after s")
    console().print(
        table(
            columns,
            [
                (
                    f"{row.at_ms / 1000:.1f}",
                    row.action,
                    row.instance,
                    row.rebalances,
                    "-" if row.until_stable_ms is None else f"{row.until_stable_ms / 1000:.1f}",
                )
                for row in played_actions(played)
            ],
        )
    )
    for line in timeline(played.history, width):
        print_line(line)
    _print_totals(totals)
    if with_log:
        for entry in played.world.log.entries:
            print_line(entry.line())


def _print_totals(totals: PlayTotals) -> None:
    from assignor_lab.documents.wording import plural

    causes = ", ".join(
        f"{cause} {'unknown' if seconds is None else f'{seconds:.1f}'}"
        for cause, seconds in totals.unavailable_by_cause_s.items()
    )
    if totals.unavailable_task_s is None:
        seconds = totals.unavailable_without_restoring_task_s
        print_line(f"unavailable: {seconds:.1f} task-seconds and an unknown time of restoring ({causes})")
    else:
        print_line(f"unavailable: {totals.unavailable_task_s:.1f} task-seconds ({causes or 'none'})")
        print_line(f"the worst task: {totals.worst_task_s:.1f} s")
    print_line(
        f"restored: {_bytes(totals.restored_bytes)}, {_bytes(totals.restored_before_processing_bytes)} of them "
        f"before processing; {plural(totals.rebalances, 'rebalance')}, {plural(totals.warmups, 'warm-up')}"
    )
    print_line(f"taken over without a copy that had caught up: {plural(totals.cold_takeovers, 'task')}")
    if totals.cross_zone_bytes is None:
        print_line("across zones: unknown, because racks or the bytes of a state are unknown")
    else:
        source = {"leader": "leaders", "nearest": "the nearest replicas"}[totals.reads_from]
        bytes_, dollars = totals.cross_zone_bytes, totals.dollars
        print_line(f"across zones: {_bytes(bytes_)}, {dollars:.4f} dollars, where clients read from {source}")


def _bytes(number: int | None) -> str:
    return "unknown bytes" if number is None else f"{number:,} byte{'' if number == 1 else 's'}"
