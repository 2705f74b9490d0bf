"""``assignor replay``: a recorded history of a Streams group, played again with other assignors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import attrs
import typer

from assignor_lab.cli.options import (
    Client,
    ConfigFile,
    Drivers,
    Json,
    Overrides,
    RackFiles,
    Reads,
    Releases,
    Seed,
    Variants,
    sources,
)
from assignor_lab.cli.past_options import (
    Dates,
    Day,
    MostPlays,
    TimingsFile,
    Topology,
    WorkloadFile,
    Zone,
    dates_of,
    given_timings,
    surroundings,
)
from assignor_lab.cli.text import console, note, print_json, print_line, print_sentence, table

if TYPE_CHECKING:
    from assignment_api.plugins import ConfigSources, MetricPlugin, Registry
    from assignor_lab.capture.histories.past import PastSurroundings
    from assignor_lab.compare.plays import PlaysCompared
    from assignor_lab.groups.kind import GroupKind
    from assignor_lab.groups.streams_episode.replaying import Replayed
    from assignor_lab.groups.variants import Contender
    from assignor_lab.model.comparisons import FigureCompared
    from assignor_lab.runtime.discovery import Plugins
    from assignor_lab.scenarios import Scenario
    from assignor_lab.simulation.streams.episode import StreamsEpisode
    from assignor_lab.simulation.streams.results import ActionResponse, PlayTotals, RecordedTotals
    from assignor_lab.verification.verified import Verification

__all__ = ["register"]

History = Annotated[
    list[str],
    typer.Argument(
        metavar="HISTORY",
        help="A group's past: a file of import or import-episode, the folder of record, or the logs of all "
        "instances; - is the standard input.",
    ),
]
Assignors = Annotated[
    list[str] | None,
    typer.Option("--assignor", metavar="NAME", help="A contender; may be repeated."),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("replay")(_replay_history)


def _replay_history(
    history: History,
    assignor: Assignors = None,
    client: Client = None,
    driver: Drivers = None,
    variant: Variants = None,
    plays: MostPlays = 20,
    seed: Seed = 0,
    config: ConfigFile = None,
    c: Overrides = None,
    release: Releases = None,
    topology: Topology = None,
    timezone: Zone = None,
    dates: Dates = None,
    day: Day = None,
    racks: RackFiles = None,
    workload: WorkloadFile = None,
    timings: TimingsFile = None,
    reads_from: Reads = "leader",
    json: Json = False,
) -> None:
    """Play a recorded group's history again with other assignors, beside the recorded outcome.

    Starts, stops and crashes stay; the assignments and their consequences are the contender's. Decisions of plain
    consumers are decided again one by one.
    """
    from assignor_lab.capture.histories.episodes import past_scenarios, read_as_episodes
    from assignor_lab.capture.recorded.partition_states import partition_decision
    from assignor_lab.cli.found_plugins import found_plugins
    from assignor_lab.clients.plugins import client_assignor, known_client_assignor, use_drivers
    from assignor_lab.groups.deciding_release import at_releases
    from assignor_lab.groups.streams_episode.past_plays import with_plays
    from assignor_lab.groups.streams_episode.replaying import replay
    from assignor_lab.groups.variants import variants_of
    from assignor_lab.simulation.streams.formats.episodes import read_episode
    from assignor_lab.verification.decisions import recorded_assignor
    from assignor_lab.verification.past import verified_past
    from assignor_lab.verification.verified import group_sources
    from assignor_lab.verification.words import sentences

    if client is not None:
        use_drivers(driver or ())
        assignor = [client_assignor(client, each) for each in assignor or ()]
    if not (assignor or variant or release or client):
        raise typer.BadParameter("name a contender, such as --assignor high_availability")
    one_release = at_releases((), release)[1]
    given = sources(config, c, one_release)
    plugins = found_plugins(given.effective())
    registry = plugins.registry
    around = surroundings(given, topology, timezone, racks, dates_of(dates, day))
    known = given_timings(timings)
    scenarios = past_scenarios(history, around)
    recorded = [each for each in scenarios if partition_decision(each.document) is not None]
    scenarios = [each for each in scenarios if each not in recorded]
    if recorded:
        strategy = recorded_assignor(recorded[0])
        if client is not None and not assignor:
            assignor = [client_assignor(client, strategy)]
        leading = None if client is None else known_client_assignor(client, strategy)
        _decide_again(recorded, assignor or (), leading, plugins, given, around, as_json=json)
        if not scenarios:
            return
    past = read_as_episodes(scenarios, known, workload, around)
    own = group_sources(given)
    past = [with_plays(each, registry, own, plays, seed) for each in past]
    named = assignor or ([] if variant or not past else [_kind().usual(past[0]) or ""])
    contenders = at_releases(variants_of(named, variant or ()), release)[0]
    _refuse_unknown(contenders, registry)
    verification = verified_past(
        history, scenarios, past, around, given, registry, plugins.isolation, known, plays, seed
    )  # fmt: skip
    if not json:
        for sentence in sentences(verification):
            print_sentence(sentence)
    compared = []
    for episode in map(read_episode, past):
        for sentence in episode.assumptions:
            note(f"assumed: {sentence}")
        played = replay(episode, registry, given, contenders, seed, reads_from=reads_from)
        group = _Group.of(episode, map(_Kept.of, played), verification.of(episode.id), registry)
        compared.append(group)
        if not json:
            _tell(group, seed)
    overall = _overall(compared, registry) if len(compared) > 1 and not verification.refused else None
    if json:
        shown = None if overall is None else attrs.asdict(overall)
        for group in compared:
            print_json({**_document(group, seed), **({} if len(compared) < 2 else {"overall": shown})})
    elif overall is not None:
        print_line(f"over {len(compared)} histories:")
        print_sentence(overall.verdict)


def _refuse_unknown(contenders: Iterable[Contender], registry: Registry) -> None:
    """Refuses a name of no assignor before the plays; one of another kind of group fails in its own play."""
    from assignment_api.plugins import PluginError, UnknownPluginError

    for contender in contenders:
        try:
            _kind().find(registry, contender.assignor, may_run_code=True)
        except UnknownPluginError:
            if not registry.assignor_kinds(contender.assignor):
                raise
        except PluginError:
            continue


def _decide_again(
    recorded: Sequence[Scenario],
    assignors: Sequence[str],
    leading: str | None,
    plugins: Plugins,
    given: ConfigSources,
    around: PastSurroundings,
    *,
    as_json: bool,
) -> None:
    """The recorded decisions of plain consumers beside those of the contenders.

    Args:
        leading: The assignor of the group's client library; ``None``: the recorded one.
    """
    from assignor_lab.compare.decisions import decided_again
    from assignor_lab.documents.wording import plural
    from assignor_lab.verification.readings import terms_of
    from assignor_lab.verification.verified import verify
    from assignor_lab.verification.words import sentences

    if not assignors:
        raise typer.BadParameter("name a strategy for plain consumers, such as --assignor cooperative-sticky")
    verification = verify(
        recorded, terms_of(plugins.registry, given, plugins.isolation, around=around, assignor=leading)
    )
    parts = decided_again(recorded, assignors, plugins.registry, given, plugins.isolation)
    if as_json:
        for part in parts:
            decided = [attrs.asdict(each) for each in part.decided]
            print_json({"group": part.group, "kind": part.kind, "decided": decided})
        return
    for sentence in sentences(verification):
        print_sentence(sentence)
    for part in parts:
        print_line(f"{part.group} ({part.kind}): {plural(part.decided[0].decisions, 'decision')}, decided one by one")
        figures = part.decided[0].figures
        titles = [title for title in figures if any(each.figures[title] is not None for each in part.decided)]
        rows = [
            (
                each.name,
                "" if each.as_recorded is None else each.as_recorded,
                *("" if (value := each.figures[title]) is None else f"{value:g}" for title in titles),
                each.failed or "",
            )
            for each in part.decided
        ]
        console().print(table(("CONTENDER", "AS RECORDED", *map(str.upper, titles), "FAILED"), rows))
        for each in part.decided:
            if each.first_failure is not None:
                note(f"{each.name}: {each.first_failure}")


@attrs.frozen
class _Outcome:
    """The outcome of a play, or the recorded one."""

    actions: Sequence[ActionResponse]
    totals: PlayTotals | RecordedTotals


@attrs.frozen
class _Kept:
    """The shown part of a play, which is large itself; ``outcome`` is ``None`` if it failed with ``error``."""

    contender: Contender
    outcome: _Outcome | None
    recorded: _Outcome | None
    error: str | None
    figures: Mapping[str, float | None] | None
    row: dict[str, Any] | None
    not_comparable: str | None
    release: str | None
    document: dict[str, Any]
    recorded_document: dict[str, Any] | None

    @classmethod
    def of(cls, replayed: Replayed) -> _Kept:
        from assignor_lab.simulation.streams.formats.plays import document_of, recorded_document
        from assignor_lab.simulation.streams.results import played_actions, recorded_actions, recorded_totals, totals_of

        outcome = recorded = shown = None
        document: dict[str, Any] = {"assignor": replayed.assignor, "error": replayed.error}
        played = replayed.played
        if played is not None:
            outcome = _Outcome(played_actions(played), totals_of(played, replayed.terms))
            document = document_of(played, replayed.assignor, replayed.terms)
            past = played.episode.recorded
            if past is not None:
                recorded = _Outcome(recorded_actions(played, past), recorded_totals(past))
                shown = recorded_document(played, past)
        return cls(
            replayed.contender, outcome, recorded, replayed.error, replayed.figures, replayed.row,
            replayed.not_comparable, replayed.release, document, shown,
        )  # fmt: skip


@attrs.frozen
class _Overall:
    """The verdict over several groups."""

    histories: int
    best: Sequence[str]
    verdict: str
    headline: Sequence[FigureCompared]


@attrs.frozen
class _Group:
    """A group's past as each contender played it.

    Args:
        recorded: A play with a recorded counterpart, or ``None``.
        compared: The plays compared; ``None`` without a verdict.
    """

    episode: StreamsEpisode
    plays: tuple[_Kept, ...]
    recorded: _Kept | None
    verification: Verification
    compared: PlaysCompared | None

    @classmethod
    def of(
        cls, episode: StreamsEpisode, plays: Iterable[_Kept], verification: Verification, registry: Registry
    ) -> _Group:
        from assignor_lab.compare.plays import compared_plays
        from assignor_lab.compare.verdicts import settings_words

        made = tuple(plays)
        recorded = next((each for each in made if each.recorded is not None), None)
        compared = None
        if not verification.refused:
            settings = {each.contender.name: settings_words(each.contender.settings) for each in made}
            rows = {each.contender.name: each.row for each in made}
            words_of = {name: words for name, words in settings.items() if words}
            compared = compared_plays(rows, _kind().headline, _metrics(registry), words_of)
        return cls(episode, made, recorded, verification, compared)


def _kind() -> GroupKind[Any, Any]:
    from assignor_lab.groups.entries import kind_named

    return kind_named("streams-episode")


def _metrics(registry: Registry) -> dict[str, MetricPlugin]:
    return {name: found.plugin for name, found in _kind().metrics(registry).items()}


def _overall(groups: Sequence[_Group], registry: Registry) -> _Overall | None:
    """The verdict over several groups, by the rule of `score`; ``None`` if its extra is not installed."""
    from assignor_lab.compare.verdicts import NOT_RANKED, TOO_MANY, alone, verdict_of_several
    from assignor_lab.documents.wording import shortened

    try:
        from assignor_lab.scoring.summaries.headline import MOST_COMPARED, PlayedStates, headline_of
    except ModuleNotFoundError:
        note("a verdict over several groups needs the extra spark: pip install 'assignor-lab[spark]'")
        return None
    rows: dict[str, list[dict[str, Any] | None]] = {}
    for group in groups:
        for each in group.plays:
            rows.setdefault(each.contender.name, []).append(each.row)
    found = headline_of(PlayedStates(rows), _kind().headline, _metrics(registry))
    names = {name: shortened(name, 40) for name in found.places}
    first = [name for name, place in found.places.items() if place == 1]
    figures = found.found.figures
    if not first:
        verdict = TOO_MANY if len(rows) > MOST_COMPARED else NOT_RANKED
    elif len(names) == 1:
        verdict = alone(names[first[0]])
    else:
        verdict = verdict_of_several(figures, names, found.found.baseline, first, "history")
    return _Overall(len(groups), found.found.best, verdict, figures)


def _tell(group: _Group, seed: int) -> None:
    from assignor_lab.model.history import RECORDED

    print_line(f"{group.episode.id}, seed {seed}")
    past = None if group.recorded is None else group.recorded.recorded
    shown = {} if past is None else {RECORDED: past}
    for each in group.plays:
        name = each.contender.name
        if each.outcome is None:
            note(f"{name}: {each.error}")
            continue
        shown[name] = each.outcome
        if each.release is not None:
            print_sentence(each.release)
        if each.not_comparable is not None:
            print_sentence(f"Not comparable: {name}: {each.not_comparable}.")
    if group.compared is not None:
        print_sentence(group.compared.verdict)
    if any(name != RECORDED for name in shown):
        _print(shown)


def _document(group: _Group, seed: int) -> dict[str, Any]:
    from assignor_lab.verification.words import document_of as document_of_verification

    compared = group.compared
    return {
        "verified": document_of_verification(group.verification),
        "episode": group.episode.id,
        "seed": seed,
        "best": [] if compared is None else list(compared.best),
        "verdict": None if compared is None else compared.verdict,
        "headline": [] if compared is None else [attrs.asdict(each) for each in compared.figures],
        "figures": {each.contender.name: each.figures for each in group.plays},
        "not_comparable": {each.contender.name: each.not_comparable for each in group.plays if each.not_comparable},
        "contenders": {each.contender.name: each.document for each in group.plays},
        "recorded": None if group.recorded is None else group.recorded.recorded_document,
        "releases": [each.release for each in group.plays if each.release is not None],
    }


def _print(outcomes: Mapping[str, _Outcome]) -> None:
    rows = [
        [f"{action.at_ms / 1000:.1f}", action.action, action.instance]
        + [_action(each.actions[place]) for each in outcomes.values()]
        for place, action in enumerate(next(iter(outcomes.values())).actions)
    ]
    print_line("rebalances and seconds until stable after each action:")
    console().print(table(["at s", "action", "who", *outcomes], rows))
    totals = [
        # A recording does not show all of them.
        (_NAMES[key], *(_total(getattr(each.totals, key, None)) for each in outcomes.values()))
        for key in _NAMES
    ]
    console().print(table(["in all", *outcomes], totals))


#: Totals in display order.
_NAMES = {
    "unavailable_task_s": "unavailable task-seconds",
    "unavailable_without_restoring_task_s": "restoring left out",
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


def _action(row: ActionResponse) -> str:
    stable = "-" if row.until_stable_ms is None else f"{row.until_stable_ms / 1000:.1f}"
    return f"{row.rebalances}, {stable}"


def _total(value: float | None) -> str:
    return "-" if value is None else f"{value:,}"
