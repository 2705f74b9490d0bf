"""The verification of the real groups among the sources of a run."""

from __future__ import annotations

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.histories.past_terms import PLAYED
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.plugins import Isolation
from assignor_lab.scoring.sources.plan import ScoringPlan
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import is_recorded_past, past_episodes, verify_past
from assignor_lab.verification.verified import NOTHING, Verification, group_sources

__all__ = ["verification_of"]


def verification_of(plan: ScoringPlan, registry: Registry, given: ConfigSources) -> Verification:
    """The verification of the groups with recorded decisions in a plan; empty without any."""
    sample = plan.sample
    is_played = plan.past.way == PLAYED
    episodes = [each for each in plan.scenarios() if is_recorded_past(each)] if is_played else []
    if not sample.decisions and not episodes:
        return NOTHING
    config = group_sources(given)
    effective = config.effective()
    isolation = Isolation(Limits.of(effective), effective.policy())
    try:
        terms = terms_of(
            registry,
            config,
            isolation,
            read=plan.read,
            around=plan.around,
            timings=plan.past.timings,
            settings=plan.past.typed_settings,
        )
        # The past of a sample cannot be played.
        if not is_played and sum(sample.recorded.values()) == len(sample.decisions):
            episodes = past_episodes(sample.decisions, terms.settings)
        return verify_past(sample.decisions, terms, episodes, plan.past.plays, plan.past.seed, recorded=sample.recorded)
    finally:
        isolation.close()
