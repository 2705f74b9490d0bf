"""The same plan under other settings: the relevant changes, as far as the group allows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import attrs

from assignment_api import AssignorLabError
from assignment_api.releases import NEWEST, RELEASE_KEY, holds
from assignor_lab.groups.deciding_release import how_known, release_sentence
from assignor_lab.groups.streams_episode.kind import STREAMS_EPISODE
from assignor_lab.groups.streams_episode.playing import deciding
from assignor_lab.groups.variants import Contender, configured, timings_of
from assignor_lab.kafka.coordinator.session_timeout import shorter_session
from assignor_lab.planning.making import Options, is_in_memory, roll_plan
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.plans import Plan
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Prediction
from assignor_lab.planning.state import PresentState, under_other_protocol
from assignor_lab.simulation.streams.simulate import with_accepted_members
from assignor_lab.simulation.streams.timings import TIMING_KEYS

__all__ = [
    "MORE_PROBES", "MORE_WARM_UPS", "PlanVariant", "as_accepted", "differing_assumptions", "given_variant",
    "releases_of", "usual_variants", "without_effect",
]  # fmt: skip

_WARM_UPS, _USUAL_WARM_UPS, _MANY_WARM_UPS = "max.warmup.replicas", 2, 20
#: The variant of a scale-out with ``max.warmup.replicas`` 20.
MORE_WARM_UPS = f"{_MANY_WARM_UPS} warm-ups"
_PROBING, _USUAL_PROBING_MS, _LEAST_PROBING_MS = "probing.rebalance.interval.ms", 600_000, 60_000
#: The variant of a scale-out with Kafka's least ``probing.rebalance.interval.ms``.
MORE_PROBES = f"probing every {_LEAST_PROBING_MS // 1000} s"
_STANDBYS, _TRANSACTIONAL = "num.standby.replicas", "enable.transactional.statestores"

#: Creates the plan again under other options.
Make = Callable[[PresentState, Options], Plan]


@attrs.frozen
class PlanVariant:
    """A plan under other settings."""

    name: str
    state: PresentState
    plan: Plan
    terms: Terms


def as_accepted(variant: PlanVariant) -> PlanVariant:
    """The variant with the static members that its broker accepts; a play reports an assignor that is not available."""
    terms, episode = variant.terms, variant.state.episode
    try:
        leader, _ = deciding(episode, terms.registry, terms.sources, terms.assignor, may_run_code=True)
    except AssignorLabError:
        return variant
    return attrs.evolve(variant, state=attrs.evolve(variant.state, episode=with_accepted_members(episode, leader)))


def releases_of(variant: PlanVariant) -> list[str]:
    """Sentences on the release of the decisions and of the clients, and how each is known."""
    terms, episode = variant.terms, variant.state.episode
    effective = terms.sources.effective(episode.config, str(episode.place))
    leader, under = deciding(episode, terms.registry, terms.sources, terms.assignor, may_run_code=True)
    found = STREAMS_EPISODE.find(terms.registry, leader.name, may_run_code=True)
    decides = release_sentence(leader.name, found, effective)
    clients = f"clients: as those of Kafka {under.release.line} ({how_known(effective)})"
    return [*([] if decides is None else [decides]), clients]


def differing_assumptions(present: PlanVariant, variants: Iterable[PlanVariant]) -> list[str]:
    """The assumptions of variants that the plan as it is does not have, each with its variant's name."""
    known = {*present.plan.assumptions, *present.state.episode.assumptions}
    return [
        f"{each.name}: {sentence}"
        for each in variants
        for sentence in (*each.plan.assumptions, *each.state.episode.assumptions)
        if sentence not in known
    ]


def usual_variants(
    state: PresentState, options: Options, plan: Plan, terms: Terms, make: Make
) -> Iterator[PlanVariant]:
    """The variants that matter for a plan in a group.

    Args:
        make: Creates the plan again.
    """
    if plan.name == "broker-roll":
        for line in ("4.3", NEWEST.line):
            if line != state.episode.release.line:
                name = f"Kafka {line}"
                sources = configured(terms.sources, name, {RELEASE_KEY: line})
                episode = attrs.evolve(state.episode, config={**state.episode.config, RELEASE_KEY: line})
                other = attrs.evolve(state, episode=episode)
                yield PlanVariant(name, other, make(other, options), attrs.evolve(terms, sources=sources))
        return
    is_static = any(each is not None for each in state.episode.instance_ids)
    stops = any(action.type in ("restart", "remove", "surge") for step in plan.steps for action in step.actions)
    comes_back = any(
        action.type == "restart" or action.back_after_ms is not None for step in plan.steps for action in step.actions
    )
    if plan.protocol is None and state.is_classic:
        if comes_back and not is_static and not is_in_memory(state):
            yield PlanVariant("static members", _static(state), make(_static(state), options), terms)
        if stops and not options.leave and not is_static:
            leaving = attrs.evolve(options, leave=True)
            yield PlanVariant("LEAVE_GROUP", state, make(state, leaving), terms)
        if (not (options.leave and stops) and plan.name != "scale") or options.to < len(state.names):
            yield from _shorter_session(state, plan, terms)
    as_usual = options.batch == 1 and not (options.surge or options.stuck or options.crash_in)
    if plan.name == "upgrade":
        yield PlanVariant("same release", state, roll_plan(state, attrs.evolve(options, to_release=None)), terms)
    if plan.name in ("roll", "upgrade") and as_usual and len(plan.steps) > 2:
        yield PlanVariant("two at once", state, make(state, attrs.evolve(options, batch=2)), terms)
    if plan.name == "kill" and comes_back and not options.wipe and _may_be_transactional(state):
        yield PlanVariant("transactional stores", _transactional(state), make(_transactional(state), options), terms)
    if plan.protocol is None and state.is_classic:
        if (not stops or options.leave or options.replace) and _has_room(state, options, terms):
            # An orderly restart of members that stay keeps its state: standbys change nothing.
            yield _one_standby_more(state, plan, terms)
        if plan.name == "scale" and options.to > len(state.names) and _has_state(state):
            yield from _more_warm_ups(state, plan, terms)
            yield from _more_probes(state, plan, terms)
        if not is_static and terms.assignor is None:
            protocol = under_other_protocol(state, "streams")
            yield PlanVariant("streams protocol", protocol, make(protocol, options), terms)


def without_effect(prediction: Prediction, variants: Mapping[str, Prediction | str]) -> list[str]:
    """The variants whose plays equal those of the plan as it is, draw by draw."""
    usual = list(map(_course, prediction.plays))
    return [
        name
        for name, each in variants.items()
        if isinstance(each, Prediction) and list(map(_course, each.plays)) == usual
    ]


def _course(play: PlayedPlan) -> tuple[object, ...]:
    """A play without the names of its causes."""
    costs = [(each.rebalances, each.restored_bytes) for each in play.steps]
    return play.absences, play.at_seconds, play.duration_seconds, play.rest_seconds, play.failed, costs


def given_variant(variant: Contender, state: PresentState, options: Options, terms: Terms, make: Make) -> PlanVariant:
    """A variant of the command line.

    Raises:
        VariantError: if a key is none, or its value.
    """
    own, timings = timings_of(variant, TIMING_KEYS)
    episode = attrs.evolve(state.episode, timings=attrs.evolve(state.episode.timings, **timings))
    if _TRANSACTIONAL in own:
        episode = attrs.evolve(episode, is_transactional=own[_TRANSACTIONAL] == "true")
    if RELEASE_KEY in own:
        episode = attrs.evolve(episode, config={**episode.config, RELEASE_KEY: own[RELEASE_KEY]})
    changed = attrs.evolve(state, episode=episode)
    if variant.protocol is not None and variant.protocol != episode.protocol:
        changed = under_other_protocol(changed, variant.protocol)
    if _STANDBYS in own:
        changed = attrs.evolve(changed, assigned=None)
    sources = configured(terms.sources, variant.name, own, terms.registry)
    under = attrs.evolve(terms, sources=sources, assignor=variant.assignor)
    return PlanVariant(variant.name, changed, make(changed, options), under)


def _may_be_transactional(state: PresentState) -> bool:
    """True if a kill wipes state now, and would not with transactional stores (KIP-892)."""
    episode = state.episode
    can = episode.eos and not episode.is_transactional and holds("transactional_stores", episode.release)
    return can and any(log is not None for log in episode.changelogs)


def _transactional(state: PresentState) -> PresentState:
    return attrs.evolve(state, episode=attrs.evolve(state.episode, is_transactional=True))


def _static(state: PresentState) -> PresentState:
    return attrs.evolve(state, episode=attrs.evolve(state.episode, instance_ids=state.names))


def _shorter_session(state: PresentState, plan: Plan, terms: Terms) -> Iterator[PlanVariant]:
    timings = state.episode.timings
    if (shorter := shorter_session(timings.session_timeout_ms, timings.heartbeat_interval_ms)) is not None:
        timings = attrs.evolve(timings, session_timeout_ms=shorter[0], heartbeat_interval_ms=shorter[1])
        changed = attrs.evolve(state, episode=attrs.evolve(state.episode, timings=timings))
        yield PlanVariant(f"session timeout {shorter[0] // 1000} s", changed, plan, terms)


def _has_state(state: PresentState) -> bool:
    return any(task.is_stateful for task in state.episode.tasks)


def _more_warm_ups(state: PresentState, plan: Plan, terms: Terms) -> Iterator[PlanVariant]:
    """A new instance gets its share of stateful tasks in fewer probing rebalances."""
    if _number_of(_WARM_UPS, _USUAL_WARM_UPS, state, terms) < _MANY_WARM_UPS:
        under = attrs.evolve(terms, sources=configured(terms.sources, MORE_WARM_UPS, {_WARM_UPS: str(_MANY_WARM_UPS)}))
        yield PlanVariant(MORE_WARM_UPS, state, plan, under)


def _more_probes(state: PresentState, plan: Plan, terms: Terms) -> Iterator[PlanVariant]:
    """A new instance gets its share sooner, in as many probing rebalances."""
    if _number_of(_PROBING, _USUAL_PROBING_MS, state, terms) > _LEAST_PROBING_MS:
        sources = configured(terms.sources, MORE_PROBES, {_PROBING: str(_LEAST_PROBING_MS)})
        yield PlanVariant(MORE_PROBES, state, plan, attrs.evolve(terms, sources=sources))


def _number_of(key: str, usual: int, state: PresentState, terms: Terms) -> int:
    entries: Mapping[str, object] = terms.sources.effective(state.episode.config, "").values_for("")
    return int(str(entries.get(key, state.episode.config.get(key) or usual)))


def _has_room(state: PresentState, options: Options, terms: Terms) -> bool:
    """True if the instances can hold one standby more of each task."""
    return max(options.to, len(state.names)) > _number_of(_STANDBYS, 0, state, terms) + 1


def _one_standby_more(state: PresentState, plan: Plan, terms: Terms) -> PlanVariant:
    """One standby more: the group places it, and is at rest again, before the plan begins."""
    count = _number_of(_STANDBYS, 0, state, terms) + 1
    name = "one standby" if count == 1 else f"{count} standbys"
    under = attrs.evolve(terms, sources=configured(terms.sources, name, {_STANDBYS: str(count)}))
    return PlanVariant(name, attrs.evolve(state, assigned=None, is_probing=False, is_settled=False), plan, under)
