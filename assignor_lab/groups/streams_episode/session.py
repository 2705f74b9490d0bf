"""A contender through an episode: it decides for its own simulated group, from the first generation on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import FoundTaskAssignor
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.groups.kind import AnsweringAssignor, ContenderReply, LoadedContender
from assignor_lab.groups.streams.leading import LeadingAssignor
from assignor_lab.groups.streams_episode.playing import under_protocol
from assignor_lab.groups.streams_group.leading import brokers_assignor_of
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, CallOutcome, failure_of, summed_times
from assignor_lab.simulation.streams.draws import drawn_pasts
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.leading import LeaderFailedError
from assignor_lab.simulation.streams.results import PlayTotals, totals_of
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode, simulate
from assignor_lab.simulation.streams.traffic import TrafficTerms

__all__ = ["EpisodeSession", "PlayedEpisode"]


@attrs.frozen(eq=False)
class PlayedEpisode:
    """An episode after a contender played it.

    Args:
        totals: The figures of the whole episode (:func:`assignor_lab.simulation.streams.results.totals_of`), without
            dollars, which depend on prices.
        number: Position among the draws of a recorded past.
        others: The further plays of a recorded past; this one has the median time.
    """

    played: PlayedStreamsEpisode
    totals: PlayTotals
    number: int = 0
    others: tuple[PlayedEpisode, ...] = ()

    @property
    def plays(self) -> tuple[PlayedEpisode, ...]:
        """All plays."""
        return (attrs.evolve(self, others=()), *self.others)

    @classmethod
    def of(cls, plays: Sequence[PlayedEpisode]) -> PlayedEpisode:
        """Some plays of one past as the one whose time without processing is the median."""
        ordered = sorted(plays, key=lambda each: each.totals.unavailable_without_restoring_task_s)
        middle = ordered.pop((len(ordered) - 1) // 2)
        return attrs.evolve(middle, others=tuple(ordered))


class EpisodeSession:
    """Plays episodes with one assignor.

    An assignor of applications decides in the classic protocol, one of brokers in the streams protocol, independent of
    the recorded protocol; the actions on the group stay.
    """

    def __init__(self, contender: LoadedContender, isolation: OwnProcesses | None) -> None:
        self._found, self._fallback = contender.found, contender.stand_in
        self._timings = contender.timings
        self._isolation = isolation

    def asked(self, state: StreamsEpisode, config: EffectiveConfig) -> AnsweringAssignor:
        return AnsweringAssignor(self._found.name, self._found.distribution, config.values_of(self._found))

    def answer(self, state: StreamsEpisode, chosen: AnsweringAssignor) -> ContenderReply[PlayedEpisode]:
        """Plays the episode; a play with a failed decision has no figures."""
        calls: list[CallOutcome[Any]] = []
        result: PlayedEpisode | CallFailure
        loss: AssignorLabError | None = None
        try:
            plays: list[PlayedEpisode] = []
            failed: CallOutcome[Any] | None = None
            for drawn in drawn_pasts(state):
                played = self._play(drawn, chosen.configs, calls)
                failed = next((call for call in calls if call.failure is not None), None)
                if failed is not None:
                    break
                plays.append(PlayedEpisode(played, totals_of(played, TrafficTerms()), len(plays)))
            if failed is None or failed.failure is None:
                result = PlayedEpisode.of(plays)
            else:
                result, loss = failed.failure, failed.loss
        except LeaderFailedError as error:
            result, loss = (calls[-1].failure or failure_of(error)), calls[-1].loss
        except Exception as error:  # noqa: BLE001 - any failure of the simulation is a row
            result = failure_of(error)
        return ContenderReply(
            CallOutcome(result, **summed_times(calls), loss=loss, unread=calls[-1].unread if calls else ())
        )

    def looked_ahead(self, answer: PlayedEpisode) -> PlayedEpisode:
        return answer

    def _play(
        self, state: StreamsEpisode, configs: Mapping[str, object], calls: list[CallOutcome[Any]]
    ) -> PlayedStreamsEpisode:
        if isinstance(self._found, FoundTaskAssignor):
            leading = LeadingAssignor(self._found, self._fallback, configs, self._isolation, calls.append)
            return simulate(self._world(state, "classic", configs), leading, keep_log=False)
        found: Any = self._found
        deciding = brokers_assignor_of(
            found, configs, self._isolation, refines=state.coming_refiner, on_call=calls.append
        )
        return simulate(self._world(state, "streams", configs), deciding, keep_log=False)

    def _world(self, state: StreamsEpisode, protocol: str, configs: Mapping[str, object]) -> StreamsEpisode:
        spoken = under_protocol(state, protocol)
        return attrs.evolve(spoken, config=configs, timings=attrs.evolve(spoken.timings, **self._timings))
