"""Episodes of whatever holds a group's past: files of recorded decisions, or episodes that are there already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assignment_api.plugins.layers import ConfigLayer
from assignor_lab.capture.histories.flight_recordings import flight_recordings, recorded_decisions
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.documents.errors import DocumentFormatError, Place
from assignor_lab.documents.lines import STANDARD_INPUT
from assignor_lab.scenarios import Scenario, read_scenarios, scenario_from_document
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.episode_format import read_episode, with_workload

__all__ = ["episodes_of_past", "past_as_episodes"]

_EPISODE = "streams-episode"


def past_as_episodes(
    source: str,
    timings: Mapping[str, int] | None = None,
    workload: Path | None = None,
    config: Sequence[ConfigLayer] = (),
    on_problem: Callable[[str], None] = lambda _: None,
) -> list[Scenario]:
    """The episodes that a group's past makes up, as checked documents.

    Args:
        source: A file of episodes or of recorded decisions, or the folder of a recording; ``-`` is the standard input.
        timings: Settings of the group, where decisions do not tell them.
        workload: What the tasks weigh, in place of what the source says; ``None``: as it says.
        config: The application's configuration, for recordings, which do not tell it; the lowest layer first.
        on_problem: Told of records that cannot be read.

    Raises:
        DocumentFormatError: if the file cannot be read or is not in the format.
        HistoryError: if its decisions make up no history.
    """
    recordings = [] if source == STANDARD_INPUT else flight_recordings(Path(source))
    scenarios = [
        scenario_from_document(document, Place(str(file), document.get("source", {}).get("line")))
        for file in recordings
        for document in recorded_decisions(file, config, on_problem=on_problem)
    ] or list(read_scenarios(source))
    if not scenarios:
        raise DocumentFormatError(source, None, "", "holds nothing: neither an episode nor a recorded decision")
    episodes = [scenario for scenario in scenarios if scenario.kind == _EPISODE]
    decisions = [scenario for scenario in scenarios if scenario.kind != _EPISODE]
    if recordings:
        # What was decided in some of them is not told; they are no part of what can be played.
        decisions = [scenario for scenario in decisions if scenario.observed is not None] or decisions
    episodes += [
        scenario_from_document(history_episode(history, timings), history.place)
        for history in read_histories(decisions)
    ]
    return episodes if workload is None else [with_workload(each, workload) for each in episodes]


def episodes_of_past(
    source: str,
    timings: Mapping[str, int] | None = None,
    workload: Path | None = None,
    config: Sequence[ConfigLayer] = (),
    on_problem: Callable[[str], None] = lambda _: None,
) -> list[StreamsEpisode]:
    """As :func:`past_as_episodes`, ready to be played."""
    return [read_episode(each) for each in past_as_episodes(source, timings, workload, config, on_problem)]
