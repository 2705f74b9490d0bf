"""The real course of a recorded episode: its picture and figures, beside those of its plays."""

from __future__ import annotations

from collections.abc import Sequence

from assignor_lab.groups.kind import ContenderAnswer
from assignor_lab.groups.ownership.recorded_outcome import ActionRow, RecordedOutcome
from assignor_lab.groups.streams_episode.session import PlayedEpisode
from assignor_lab.groups.streams_episode.snapshots import history_picture
from assignor_lab.groups.work import OBSERVED
from assignor_lab.model.history import GroupHistory
from assignor_lab.simulation.streams.actions import action_name
from assignor_lab.simulation.streams.comparison import actions_of
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.recorded import NO_OWNER, SEEN
from assignor_lab.simulation.streams.results import recorded_totals

__all__ = ["recorded_outcome"]


def recorded_outcome(answers: Sequence[ContenderAnswer[StreamsEpisode, PlayedEpisode]]) -> RecordedOutcome:
    plays = [None if each.outcome.answer is None else each.outcome.answer.played.history for each in answers]
    episode = next((each.state for each in answers if each.state is not None), None)
    recorded = None if episode is None else episode.recorded
    actions = _actions(plays, recorded)
    if recorded is None:
        return RecordedOutcome(actions, None, {})
    causes = (SEEN,) if recorded.probes else (NO_OWNER,)
    return RecordedOutcome(actions, history_picture(recorded, OBSERVED, causes), _figures(recorded))


def _figures(recorded: GroupHistory) -> dict[str, float]:
    """Column of a metric to its recorded value."""
    totals = recorded_totals(recorded)
    figures = {
        "rebalances": totals.rebalances,
        "unavailable_task_seconds": totals.unavailable_task_s,
        "worst_task_unavailable_seconds": totals.worst_task_s,
        "restored_bytes": totals.restored_bytes,
    }
    return {name: float(value) for name, value in figures.items() if value is not None}


def _actions(plays: Sequence[GroupHistory | None], recorded: GroupHistory | None) -> tuple[ActionRow, ...]:
    """The response of the recording is that to the actions of the first play."""
    known = [None if play is None else actions_of(play) for play in plays]
    first = next((each for each in known if each is not None), [])
    longest = max((each for each in known if each is not None), key=len, default=[])
    columns = [
        None if play is None or actions is None else play.responses([each.at.latest_ms for each in actions])
        for play, actions in zip(plays, known, strict=True)
    ]
    if recorded is not None and any(play is not None for play in plays):
        columns.append(recorded.responses([each.at.latest_ms for each in first]))
    begin = next((play.begin_ms or 0 for play in plays if play is not None), 0)
    return tuple(
        ActionRow(
            action.at.latest_ms - begin,
            action_name(action) or "",
            action.subject or "",
            tuple(
                None if column is None or place >= len(column) else (
                    column[place].rebalances, column[place].until_stable_ms
                )
                for column in columns
            ),
        )
        for place, action in enumerate(longest)
    )  # fmt: skip
