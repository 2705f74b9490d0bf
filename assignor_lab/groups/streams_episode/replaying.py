"""Replays a recorded history: the world's events stay, the answers and their consequences are the contender's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.groups.deciding_release import release_sentence
from assignor_lab.groups.streams.comparability import why_play_not_comparable
from assignor_lab.groups.streams_episode.kind import STREAMS_EPISODE
from assignor_lab.groups.streams_episode.metrics import (
    DOLLARS,
    EPISODE_METRICS,
    dollars,
    median_of_plays,
    text_of_plays,
)
from assignor_lab.groups.streams_episode.playing import play, traffic_terms, under_protocol
from assignor_lab.groups.streams_episode.session import PlayedEpisode
from assignor_lab.groups.variants import Contender, configured, timings_of
from assignor_lab.simulation.streams.draws import drawn_pasts
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.results import totals_of
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.simulation.streams.timings import TIMING_KEYS
from assignor_lab.simulation.streams.traffic import ReadsFrom, TrafficTerms

__all__ = ["Replayed", "replay"]

_DEFAULT_TERMS = TrafficTerms()


@attrs.frozen(eq=False)
class Replayed:
    """The outcome of a history with one contender.

    Args:
        plays: All plays of the past; ``played`` has the median time.
        error_of_play: Error of the group's own assignor's play, as a share; ``None``: unknown.
        not_comparable: Reason why the play does not show the contender's real behaviour, or ``None``.
        release: The sentence on its release of Kafka, or ``None``.
    """

    contender: Contender
    assignor: str
    played: PlayedStreamsEpisode | None
    error: str | None = None
    terms: TrafficTerms = _DEFAULT_TERMS
    not_comparable: str | None = None
    release: str | None = None
    plays: PlayedEpisode | None = None
    error_of_play: float | None = None

    @property
    def figures(self) -> dict[str, float | None] | None:
        """Each metric of a played episode under its name in ``assignor score``; ``None``: no play."""
        if self.plays is None:
            return None
        found = {metric.name: median_of_plays(metric.compute, self.plays) for metric in EPISODE_METRICS}
        return {**found, DOLLARS: median_of_plays(dollars(self.terms.dollars_per_gib or 0.0), self.plays)}

    @property
    def row(self) -> dict[str, Any] | None:
        """A row of the figures with ``error_type``, as in a run; ``None``: the play is not comparable."""
        if self.not_comparable is not None:
            return None
        if self.played is None or self.played.failures:
            return {"error_type": self.error or "failed decision"}
        row: dict[str, Any] = {"error_type": None, **(self.figures or {})}
        if self.plays is not None and self.plays.others:
            return {**row, "figures_of_plays": text_of_plays(self.error_of_play, self.plays)}
        return row


def replay(
    episode: StreamsEpisode,
    registry: Registry,
    sources: ConfigSources,
    contenders: Iterable[Contender],
    seed: int = 0,
    *,
    keep_log: bool = False,
    reads_from: ReadsFrom = "leader",
) -> Iterator[Replayed]:
    """Plays an episode once for each contender, independently, in their order, with one seed.

    A failed contender does not affect the others. An assignor of applications plays the past in the classic protocol,
    one of brokers in the streams protocol. Another protocol than the recorded one changes the protocol alone
    (:func:`assignor_lab.groups.streams_episode.playing.under_protocol`). ``reads_from`` selects the replicas from
    which clients read.

    Raises:
        VariantError: if a variant's key or value is not valid.
    """
    for contender in contenders:
        own, timings = timings_of(contender, TIMING_KEYS)
        world = under_protocol(episode, contender.protocol or _protocol(contender, registry) or episode.protocol)
        world = attrs.evolve(world, timings=attrs.evolve(world.timings, **timings))
        under = configured(sources, contender.name, own, registry)
        terms = traffic_terms(reads_from, under, episode)
        plays: list[PlayedEpisode] = []
        name = contender.assignor
        try:
            for number, drawn in enumerate(drawn_pasts(world)):
                name, one = play(drawn, registry, under, contender.assignor, seed, may_run_code=True, keep_log=keep_log)
                plays.append(PlayedEpisode(one, totals_of(one, terms), number))
        except AssignorLabError as error:
            yield Replayed(contender, contender.assignor, None, str(error))
        else:
            result = PlayedEpisode.of(plays)
            played = result.played
            yield Replayed(
                contender,
                name,
                played,
                terms=terms,
                plays=result,
                error_of_play=episode.plays.error,
                release=release_sentence(
                    contender.name,
                    STREAMS_EPISODE.find(registry, name, may_run_code=True),
                    under.effective(world.config, str(world.place)),
                ),
                not_comparable=why_play_not_comparable(episode.assumptions, played, under.explicit_values()),
            )


def _protocol(contender: Contender, registry: Registry) -> str | None:
    try:
        return STREAMS_EPISODE.protocol(STREAMS_EPISODE.find(registry, contender.assignor, may_run_code=True))
    except AssignorLabError:
        return None
