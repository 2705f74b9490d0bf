"""The verification of a command's past, before the command plays it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import attrs

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.histories.past import PastSurroundings, scenarios_of_past
from assignor_lab.documents.lines import STANDARD_INPUT
from assignor_lab.groups.streams_episode.past_plays import PLAYS
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import is_recorded_past, past_episodes, verify_past
from assignor_lab.verification.verified import Verification, group_sources

__all__ = ["verified_past"]


def verified_past(
    sources: Sequence[str],
    scenarios: Sequence[Scenario],
    episodes: Sequence[Scenario],
    around: PastSurroundings,
    given: ConfigSources,
    registry: Registry,
    isolation: OwnProcesses | None = None,
    timings: Mapping[str, int] | None = None,
    plays: int = PLAYS,
    seed: int = 0,
) -> Verification:
    """The verification of the groups of a past, under their own configuration.

    Single keys of the command line are the user's question, not the group's settings: the past is read again without
    them.
    """
    config = group_sources(given)
    read = None if STANDARD_INPUT in sources else partial(scenarios_of_past, sources)
    terms = terms_of(registry, config, isolation, read=read, around=around, timings=timings)
    if read is not None and config.above != given.above:
        own = attrs.evolve(around, config=config.above, on_problem=lambda _: None)
        scenarios = list(read(own))
        terms = attrs.evolve(terms, readings=terms_of(registry, config, isolation, read=read, around=own).readings)
        episodes = [each for each in scenarios if is_recorded_past(each)] + past_episodes(
            [each for each in scenarios if each.observed is not None], terms.settings
        )
    return verify_past(scenarios, terms, filter(is_recorded_past, episodes), plays, seed)
