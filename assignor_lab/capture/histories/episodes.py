"""Episodes from any source of a group's past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from assignor_lab.capture.edges.decision_input import protocol_of
from assignor_lab.capture.histories.history import DecisionHistory, is_complete, part_name, read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.histories.past import PastSurroundings, scenarios_of_past
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.wording import plural
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.scenarios.settings import Settings, given_settings
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episode, with_workload
from assignor_lab.simulation.streams.formats.timings import with_timings

__all__ = [
    "episodes_of_past",
    "past_as_episodes",
    "past_scenarios",
    "played_histories",
    "read_as_episodes",
    "with_terms",
]

_EPISODE = "streams-episode"
_NOTHING = PastSurroundings()


def past_as_episodes(
    sources: Sequence[str],
    timings: Mapping[str, int] | None = None,
    workload: Path | None = None,
    around: PastSurroundings = _NOTHING,
) -> list[Scenario]:
    """The episodes of a group's past, as checked documents.

    Args:
        workload: Tasks' weights, in place of the source's.
        around: Its configuration replaces the settings of the source.
    """
    return read_as_episodes(past_scenarios(sources, around), timings, workload, around)


def past_scenarios(sources: Sequence[str], around: PastSurroundings = _NOTHING) -> list[Scenario]:
    """Decisions or episodes; at least one."""
    scenarios = list(scenarios_of_past(sources, around))
    if not scenarios:
        raise DocumentFormatError(sources[0], None, "", "holds nothing: neither an episode nor a recorded decision")
    return scenarios


def read_as_episodes(
    scenarios: Sequence[Scenario],
    timings: Mapping[str, int] | None = None,
    workload: Path | None = None,
    around: PastSurroundings = _NOTHING,
) -> list[Scenario]:
    settings = given_settings(around.config)
    episodes = [*with_terms((each for each in scenarios if each.kind == _EPISODE), timings, settings)]
    decisions = [scenario for scenario in scenarios if scenario.kind != _EPISODE]
    episodes += _episodes(decisions, timings, settings, around.on_problem)
    return episodes if workload is None else [with_workload(each, workload) for each in episodes]


def played_histories(
    scenarios: Iterable[Scenario],
    timings: Mapping[str, int] | None = None,
    workload: Path | None = None,
    on_note: Callable[[str], None] = lambda _: None,
    settings: Settings | None = None,
) -> list[Scenario]:
    """Recorded Streams decisions replaced by their episodes; other scenarios stay.

    Args:
        workload: Tasks' weights, in place of the source's.
        on_note: Receives a sentence for each recorded state outside all episodes.
        settings: In place of those of the source.
    """
    held = list(scenarios)
    decisions = [each for each in held if protocol_of(each.document) is not None]
    episodes = _episodes(decisions, timings, settings, on_note)
    if workload is not None:
        episodes = [with_workload(each, workload) for each in episodes]
    others = [each for each in held if protocol_of(each.document) is None]
    return [*with_terms(others, timings, settings), *episodes]


def with_terms(
    scenarios: Iterable[Scenario], timings: Mapping[str, int] | None = None, settings: Settings | None = None
) -> Iterator[Scenario]:
    for each in scenarios:
        yield with_timings(each, timings or {}, settings) if each.kind == _EPISODE else each


def _episodes(
    decisions: Sequence[Scenario],
    timings: Mapping[str, int] | None,
    settings: Settings | None,
    on_note: Callable[[str], None],
) -> list[Scenario]:
    # States without decision or time cannot be played.
    complete = [scenario for scenario in decisions if is_complete(scenario)] or decisions
    if len(complete) < len(decisions):
        left_out = plural(len(decisions) - len(complete), "recorded state")
        on_note(f"not played: {left_out} without Kafka's decision or its time")
    histories = read_histories(complete)
    groups = Counter(history.group for history in histories)
    several = {group for group, count in groups.items() if count > 1}
    playable = [history for history in histories if len(history.moments) > 1]
    for history in histories if playable else ():
        if history not in playable:
            on_note(f"not played: {_name_of(history)} has a single decision in the source")
    made = []
    for history in playable or histories:
        document = history_episode(history, timings, settings)
        if history.group in several:
            document["id"] = part_name(history.group, history.protocol, several)
        made.append(scenario_from_document(document, history.place))
    return made


def _name_of(history: DecisionHistory) -> str:
    return f"group {history.group!r:.80}" if history.group else f"the state at {history.place}"


def episodes_of_past(
    sources: Sequence[str],
    timings: Mapping[str, int] | None = None,
    workload: Path | None = None,
    around: PastSurroundings = _NOTHING,
) -> list[StreamsEpisode]:
    return [read_episode(each) for each in past_as_episodes(sources, timings, workload, around)]
