"""``assignor replay``: a recorded history of a Streams group, played again with other assignors."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from assignor_lab.capture.histories.episodes import past_scenarios, read_as_episodes
from assignor_lab.cli.found_plugins import found_plugins
from assignor_lab.cli.options import ConfigFile, Json, Overrides, RackFiles, sources
from assignor_lab.cli.past_options import TimingsFile, Topology, WorkloadFile, Zone, given_timings, surroundings
from assignor_lab.cli.simulate import Reads, Seed
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table
from assignor_lab.groups.playing import traffic_terms
from assignor_lab.groups.replaying import Replayed, replay
from assignor_lab.groups.variants import variants_of
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.episode_format import read_episode
from assignor_lab.simulation.streams.recorded_result import RECORDED, recorded_result
from assignor_lab.simulation.streams.results import document_of
from assignor_lab.simulation.streams.traffic import TrafficTerms
from assignor_lab.verification.past import verified_past
from assignor_lab.verification.words import document_of as document_of_verification
from assignor_lab.verification.words import sentences

__all__ = ["register"]

History = Annotated[
    list[str],
    typer.Argument(
        metavar="HISTORY",
        help="A group's past: what import-log, import-recording or import-episode writes, the folder of record, or "
        "the logs of all instances; - is the standard input.",
    ),
]
Assignors = Annotated[
    list[str] | None,
    typer.Option("--assignor", metavar="NAME", help="Who decides; may be given several times."),
]
Variants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="NAME=ASSIGNOR,KEY=VALUE",
        help=(
            "An assignor with keys of its own, several with commas: two=high_availability,num.standby.replicas=2; "
            "another protocol: new=group_sticky_4_4,group.protocol=streams."
        ),
    ),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("replay")
    def replay_history(
        history: History,
        assignor: Assignors = None,
        variant: Variants = None,
        seed: Seed = 0,
        config: ConfigFile = None,
        c: Overrides = None,
        topology: Topology = None,
        timezone: Zone = None,
        racks: RackFiles = None,
        workload: WorkloadFile = None,
        timings: TimingsFile = None,
        reads_from: Reads = "leader",
        json: Json = False,
    ) -> None:
        """Play a recorded group's history again with other assignors, beside what really happened.

        Who started, stopped and crashed and when stays; the answers and what follows are the contender's.
        """
        contenders = variants_of(assignor or (), variant or ())
        if not contenders:
            raise typer.BadParameter("name somebody who decides, such as --assignor high_availability")
        given = sources(config, c)
        plugins = found_plugins(given.effective())
        registry = plugins.registry
        around = surroundings(given, config, topology, timezone, racks)
        known = given_timings(timings)
        scenarios = past_scenarios(history, around)
        past = read_as_episodes(scenarios, known, workload, around)
        verification = verified_past(
            history, scenarios, past, around, given, registry, plugins.isolation, known
        )  # fmt: skip
        if not json:
            for sentence in sentences(verification):
                print_sentence(sentence)
        for episode in map(read_episode, past):
            for sentence in episode.assumptions:
                note(f"assumed: {sentence}")
            terms = traffic_terms(reads_from, given, episode)
            documents = {
                each.contender.name: _document(each, terms)
                for each in replay(episode, registry, given, contenders, seed)
            }
            verified = document_of_verification(verification.of(episode.id))
            _tell(episode, documents, seed, verified, as_json=json)


def _tell(
    episode: StreamsEpisode,
    documents: dict[str, dict[str, Any]],
    seed: int,
    verified: dict[str, Any] | None,
    *,
    as_json: bool,
) -> None:
    first = next((each for each in documents.values() if "error" not in each), None)
    recorded = None
    if first is not None and episode.recorded is not None:
        recorded = recorded_result(first, episode.recorded)
    if as_json:
        print_json({
            "verified": verified, "episode": episode.id, "seed": seed, "contenders": documents, "recorded": recorded,
        })  # fmt: skip
        return
    print_line(f"{episode.id}, seed {seed}")
    for name, document in documents.items():
        if "error" in document:
            note(f"{name}: {document['error']}")
    shown = {name: each for name, each in documents.items() if "error" not in each}
    if recorded is not None:
        shown = {RECORDED: recorded, **shown}
    if shown:
        _print(shown)


def _document(replayed: Replayed, terms: TrafficTerms) -> dict[str, Any]:
    if replayed.played is None:
        return {"assignor": replayed.assignor, "error": replayed.error}
    return document_of(replayed.played, replayed.assignor, terms)


def _print(documents: dict[str, dict[str, Any]]) -> None:
    actions = next(iter(documents.values()))["actions"]
    rows = [
        [f"{action['t_ms'] / 1000:.1f}", action["action"], action["who"]]
        + [_action(document["actions"][place]) for document in documents.values()]
        for place, action in enumerate(actions)
    ]
    print_line("rebalances and seconds until stable after each action:")
    console().print(table(["at s", "action", "who", *documents], rows))
    totals = [
        (_NAMES[key], *(_total(document["totals"].get(key)) for document in documents.values())) for key in _NAMES
    ]
    console().print(table(["in all", *documents], totals))


#: Totals in the order in which they are shown.
_NAMES = {
    "unavailable_task_s": "unavailable task-seconds",
    "worst_task_s": "of the worst task, s",
    "restored_bytes": "restored bytes",
    "restored_before_processing_bytes": "before processing",
    "cross_zone_bytes": "bytes across zones",
    "dollars": "dollars",
    "rebalances": "rebalances",
    "longest_until_stable_s": "longest until stable, s",
    "warmups": "warm-ups",
    "cold_takeovers": "takeovers without a copy that had caught up",
}


def _action(row: dict[str, Any]) -> str:
    stable = "-" if row["until_stable_ms"] is None else f"{row['until_stable_ms'] / 1000:.1f}"
    return f"{row['rebalances']}, {stable}"


def _total(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"
