"""Groups that never rest: Kafka's known loops, in the recorded past of a planned group or in a play of the plan."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.groups.streams_episode.playing import deciding
from assignor_lab.model.history import GroupHistory
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import play_plan
from assignor_lab.planning.state import PresentState
from assignor_lab.scenarios import Scenario
from assignor_lab.watching.findings import unusual_rebalances
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import WatchedGroup, watched_groups

__all__ = ["played_loop", "recorded_loop"]

#: A loop shows itself within this time after a plan: nine probing rebalances of ten minutes.
_SHOWS_WITHIN_MS = 6_000_000


def recorded_loop(scenarios: Iterable[Scenario]) -> str | None:
    """A sentence on the known loop in which a recorded past ends; ``None`` without one."""
    return _loop(group_histories(each for each in scenarios if each.observed is not None), "This group never rests")


def played_loop(state: PresentState, plan: Plan, terms: Terms, seed: int) -> str | None:
    """The same for the group after a plan, from one play."""
    within = attrs.evolve(plan, rest_within_ms=min(plan.rest_within_ms, _SHOWS_WITHIN_MS))
    leader, _ = deciding(state.episode, terms.registry, terms.sources, terms.assignor, may_run_code=True)
    played, _ = play_plan(state, within, terms.registry, terms.sources, f"{seed}-0", terms.assignor)
    history = played.history
    decisions = tuple(attrs.evolve(each, assignor=leader.name) for each in history.decisions)
    return _loop([attrs.evolve(history, decisions=decisions)], "This group never rests after the plan")


def _loop(histories: Iterable[GroupHistory], words: str) -> str | None:
    for group in watched_groups(histories):
        for each in unusual_rebalances(_tail(group), WatchLimits()):
            if each.known is not None:
                return f"{words}: {each.known}. {each.sentence} Remedy: {each.remedy}."
    return None


def _tail(group: WatchedGroup) -> WatchedGroup:
    """The rebalances since the last change of the members."""
    changed = [place for place, each in enumerate(group.rebalances) if not each.is_same_group]
    return attrs.evolve(group, rebalances=group.rebalances[changed[-1] if changed else 0 :])
