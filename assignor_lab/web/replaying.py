"""A recorded past as a playable episode, as ``assignor score`` reads it."""

from __future__ import annotations

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.histories.episodes import played_histories
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.documents.wording import plural
from assignor_lab.groups.streams_episode.past_plays import with_plays
from assignor_lab.scenarios import Scenario
from assignor_lab.verification.verified import group_sources
from assignor_lab.web.errors import NotThereError, PageError
from assignor_lab.web.states import OpenedStates

__all__ = ["episode_of"]

#: Plays of a past: a page waits for them, and its plays have a deadline.
MOST_PLAYS = 10


def episode_of(
    states: OpenedStates, number: int, terms: PastTerms, registry: Registry, config: ConfigSources
) -> Scenario:
    """The episode of a past, with the draws of its plays.

    Raises:
        NotThereError: if there is no such past.
        PageError: if it cannot be played, or is incomplete.
        HistoryError: if its decisions are no history.
    """
    if not 0 <= number < len(states.pasts):
        raise NotThereError(f"{states.name} has no past {number}: it holds {plural(len(states.pasts), 'past')}")
    past = states.pasts[number]
    if not past.can_be_played:
        raise PageError(f"{past.group:.80}: {past.moves} of such a group are assigned round by round: open a round")
    if states.left_out:
        raise PageError(
            f"{states.name}: {plural(states.left_out, 'more state')} did not fit in here: play it with `assignor score`"
        )
    decisions = [states.scenarios[each.state] for each in past.decisions if each.state is not None]
    # Of a group that has changed its protocol the later part is played.
    *_, episode = played_histories(decisions, terms.timings, terms.workload_file, settings=terms.typed_settings)
    return with_plays(episode, registry, group_sources(config), min(terms.plays, MOST_PLAYS), terms.seed)
