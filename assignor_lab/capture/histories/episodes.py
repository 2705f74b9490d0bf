"""Episodes of whatever holds a group's past: files of recorded decisions, or episodes that are there already."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.scenarios import Scenario, read_scenarios, scenario_from_document
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.episode_format import read_episode, with_workload

__all__ = ["episodes_of_past", "past_as_episodes"]

_EPISODE = "streams-episode"


def past_as_episodes(
    source: str, timings: Mapping[str, int] | None = None, workload: Path | None = None
) -> list[Scenario]:
    """The episodes that a group's past makes up, as checked documents.

    Args:
        source: A file of episodes, or of recorded decisions; ``-`` is the standard input.
        timings: Settings of the group, where decisions do not tell them.
        workload: What the tasks weigh, in place of what the source says; ``None``: as it says.

    Raises:
        DocumentFormatError: if the file cannot be read or is not in the format.
        HistoryError: if its decisions make up no history.
    """
    scenarios = list(read_scenarios(source))
    if not scenarios:
        raise DocumentFormatError(source, None, "", "holds nothing: neither an episode nor a recorded decision")
    episodes = [scenario for scenario in scenarios if scenario.kind == _EPISODE]
    episodes += [
        scenario_from_document(history_episode(history, timings), history.place)
        for history in read_histories(scenario for scenario in scenarios if scenario.kind != _EPISODE)
    ]
    return episodes if workload is None else [with_workload(each, workload) for each in episodes]


def episodes_of_past(
    source: str, timings: Mapping[str, int] | None = None, workload: Path | None = None
) -> list[StreamsEpisode]:
    """As :func:`past_as_episodes`, ready to be played."""
    return [read_episode(each) for each in past_as_episodes(source, timings, workload)]
