"""A Streams group that an advice is for."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignor_lab.advising.configurations import (
    PROTOCOL,
    SESSION,
    STREAMS_SESSION,
    AdvisedState,
    Configuration,
    under,
)
from assignor_lab.advising.days import Day
from assignor_lab.advising.figures import DayCost, played_day
from assignor_lab.advising.forms import Forms, forms_of
from assignor_lab.advising.mix import Mix
from assignor_lab.advising.past import Past, played_past
from assignor_lab.planning.plans import GIVEN, Starts

__all__ = ["AdvisedStreamsGroup"]


@attrs.frozen(eq=False)
class AdvisedStreamsGroup:
    """A Streams group, with the meanings of :class:`~assignor_lab.advising.group.AdvisedGroup`."""

    subject: AdvisedState
    past: Past | None = None

    @property
    def instances(self) -> int:
        return len(self.subject.state.names)

    @property
    def sessions(self) -> Mapping[str, int]:
        timings = self.subject.state.episode.timings
        return {SESSION: timings.session_timeout_ms, STREAMS_SESSION: timings.streams_session_timeout_ms}

    @property
    def restarts_ms(self) -> tuple[int, int] | None:
        options, timings = self.subject.options, self.subject.state.episode.timings
        usual_ms = options.start_ms or timings.startup_ms + timings.join_ms
        starts = options.starts or Starts(usual_ms, usual_ms, GIVEN)
        away_ms = timings.close_ms + options.down_ms
        return away_ms + starts.low_ms, away_ms + starts.high_ms

    def session_ms(self, configuration: Configuration) -> int:
        is_classic = self.subject.state.is_classic
        if PROTOCOL in configuration:
            is_classic = configuration[PROTOCOL] == "classic"
        key = SESSION if is_classic else STREAMS_SESSION
        return int(configuration.get(key, self.sessions[key]))

    @property
    def judges(self) -> bool:
        return self.past is not None and self.past.second is not None

    def played(self, day: Day, mix: Mix, configuration: Configuration, present: Configuration, seed: str) -> DayCost:
        return played_day(day, mix, under(configuration, present, self.subject), seed)

    def replayed(self, configuration: Configuration, present: Configuration, seed: int) -> DayCost:
        if self.past is None or self.past.second is None:
            raise ValueError("this group has no second part of a past")
        return played_past(self.past.second, self.subject, configuration, present, seed)

    def forms(self, changes: Mapping[str, str]) -> Forms:
        return forms_of(changes, self.subject)
