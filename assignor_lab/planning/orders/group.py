"""A group whose restarts are ordered, as the search sees it; one class for Streams, one for other members."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

import attrs

from assignor_lab.planning.conduct import GRACE_MS, RESTS_MS, close_ms, looks_ms, start_ms
from assignor_lab.planning.measured import cost_of
from assignor_lab.planning.orders.copies import copy_sentences
from assignor_lab.planning.orders.figures import OrderTrial, trial_of
from assignor_lab.planning.orders.order import Conditions, Order, plan_in_order, restarted
from assignor_lab.planning.plans import CALM, Plan, draws_of
from assignor_lab.planning.predicted import plan_seed, play_plan, play_timings
from assignor_lab.planning.state import PresentState
from assignor_lab.planning.variants import PlanVariant

__all__ = ["ENDS_EARLY", "MOST_EXACT", "PRESENT", "Floors", "OrderedGroup", "StreamsOrders", "wait_ms"]

#: Most instances of a search over all orders.
MOST_EXACT = 12
#: Plays of more instances, and of groups that never rest, wait no longer for rest: probing rebalances take hours.
_REST_WITHIN_MS = 60_000
#: Its sentence.
ENDS_EARLY = (
    "a play ends a minute after its last step: absences of later probing rebalances are not counted (plan the order "
    "with --order for them)"
)
#: Name of the present settings.
PRESENT = ""


@attrs.frozen
class Floors:
    """Lower bounds of a play's steps.

    Args:
        seconds: Instance to the least time of a step that restarts it.
        usual_seconds: The same if the instance gets its tasks back at once.
        away_seconds: Least absence of a task whose owner stops.
        look_seconds: Delay of the first, second, ... step of any order until its end is seen; empty: none.
    """

    seconds: Mapping[str, float]
    usual_seconds: Mapping[str, float]
    away_seconds: float
    look_seconds: Sequence[float] = ()


class OrderedGroup(Protocol):
    """A group with instances to restart."""

    @property
    def names(self) -> tuple[str, ...]:
        """The instances to restart, in natural order."""

    @property
    def loads(self) -> Mapping[str, int]:
        """Tasks of each instance at present."""

    @property
    def tasks(self) -> int: ...

    @property
    def most_one_by_one(self) -> int:
        """Most instances for which one by one is played to its end, and not estimated from its first steps."""

    @property
    def start_ms(self) -> int:
        """From the start of a process until it joins, if the plan does not give it."""

    @property
    def shared(self) -> Mapping[frozenset[str], int]:
        """Two instances to the number of tasks of which they have all ready copies."""

    @property
    def alike(self) -> Mapping[str, Hashable]:
        """Instance to a key; plays draw the same for instances with one key, which are alike."""

    def reasons(self, order: Order) -> list[str]:
        """Sentences on the batches of an order."""

    def plan(self, order: Order) -> Plan:
        """The plan of an order, whose draws do not depend on it."""

    def trial(self, order: Order, draw: int) -> OrderTrial:
        """One play of an order; a draw is the same for all orders."""

    def floors(self, conditions: Conditions, draw: int) -> Floors: ...


@attrs.frozen(eq=False, slots=False)
class StreamsOrders:
    """A Streams group.

    Args:
        variants: Name of settings to the roll of one instance after the other under them; empty: the present ones.
        rests: False: the group is in a loop, and no play waits for its end.
    """

    variants: Mapping[str, PlanVariant]
    seed: int
    rests: bool = True

    @property
    def most_one_by_one(self) -> int:
        return MOST_EXACT

    @cached_property
    def names(self) -> tuple[str, ...]:
        return restarted(self.variants[PRESENT].plan)

    @cached_property
    def loads(self) -> Mapping[str, int]:
        episode = self.variants[PRESENT].state.episode
        loads = {
            name: len(each.previous_active_tasks) for name, each in zip(episode.names, episode.clients, strict=True)
        }
        return {name: loads[name] for name in self.names}

    @property
    def tasks(self) -> int:
        return len(self.variants[PRESENT].state.episode.tasks)

    @property
    def start_ms(self) -> int:
        timings = self.variants[PRESENT].state.episode.timings
        return timings.startup_ms + timings.join_ms

    @cached_property
    def copies(self) -> Mapping[str, tuple[str, tuple[str, ...]]]:
        """Task with state to the instance that runs it, and to those with a ready copy."""
        episode = self.variants[PRESENT].state.episode
        members = list(zip(episode.names, episode.clients, episode.lags, strict=True))
        found = {}
        for task in episode.tasks:
            owner = next((name for name, client, _ in members if task.id in client.previous_active_tasks), None)
            if task.is_stateful and owner is not None:
                ready = tuple(
                    name
                    for name, client, lags in members
                    if task.id in client.previous_standby_tasks and lags.get(task.id, 0) <= 0
                )
                found[str(task.id)] = (owner, ready)
        return found

    @cached_property
    def shared(self) -> Mapping[frozenset[str], int]:
        return Counter(frozenset((owner, *ready)) for owner, ready in self.copies.values() if len(ready) == 1)

    @cached_property
    def alike(self) -> Mapping[str, Hashable]:
        episode = self.variants[PRESENT].state.episode
        if self.copies:
            # State is on certain disks, and copies on certain instances.
            return {name: name for name in self.names}
        members = zip(episode.names, episode.clients, episode.instance_ids, strict=True)
        keys: dict[str, Hashable] = {
            name: (
                client.num_stream_threads, client.rack_id, instance_id is None,
                tuple(sorted(task.subtopology for task in client.previous_active_tasks)),
            )
            for name, client, instance_id in members
        }  # fmt: skip
        return {name: keys[name] for name in self.names}

    def reasons(self, order: Order) -> list[str]:
        return copy_sentences(order, self.copies)

    def plan(self, order: Order) -> Plan:
        plan = plan_in_order(self._variant(order.conditions).plan, order)
        return attrs.evolve(plan, rest_within_ms=_REST_WITHIN_MS) if self.ends_early else plan

    @property
    def ends_early(self) -> bool:
        """True if plays end soon after their last step."""
        # A group that is in a rebalance may take longer to come to rest before the first step.
        is_settled = all(each.state.is_settled for each in self.variants.values())
        return not self.rests or (len(self.names) > MOST_EXACT and is_settled)

    def trial(self, order: Order, draw: int) -> OrderTrial:
        variant = self._variant(order.conditions)
        terms = variant.terms
        played, conduct = play_plan(
            variant.state, self.plan(order), terms.registry, terms.sources, self._seed(draw), terms.assignor
        )
        ledger = played.world.ledger
        owners = Counter(ledger.owner(task) for task in range(len(played.world.tasks)))
        return trial_of(
            cost_of(played, conduct),
            keeps_owners=all(owners[name] == load for name, load in self.loads.items()),
        )

    def floors(self, conditions: Conditions, draw: int) -> Floors:
        variant = self._variant(conditions)
        state, terms, single = variant.state, variant.terms, variant.plan
        plan = plan_in_order(single, Order(tuple((name,) for name in self.names), conditions))
        seed = self._seed(draw)
        timings = play_timings(state, plan, terms.registry, terms.sources, seed, terms.assignor)
        members, draws = _members(state, plan), partial(draws_of, plan, random.Random(0))  # noqa: S311 - not used
        waits_for_tasks = not conditions.surge and not isinstance(conditions.wait, int)
        found = {}
        away = []
        for name in self.names:
            starts_ms = max(timings.join_ms, start_ms(plan, timings, draws(f"{plan_seed(seed)} start", name)))
            closes_ms = close_ms(timings, draws(f"{plan_seed(seed)} close", name))
            # Closing commits, which renews the session, if there is anything to commit.
            renews = self.loads[name] > 0 and not state.episode.eos
            heard_ms = 0 if renews else timings.heartbeat_interval_ms + timings.heartbeat_late_us // 1000
            session_ms = timings.session_timeout_ms - heard_ms
            returns_ms = closes_ms + plan.down_ms + starts_ms
            # A dynamic member that stays in its group holds up the rebalance until its session ends.
            found[name] = max(returns_ms, session_ms + timings.assign_ms) if members == STAYS else returns_ms
            away.append({STAYS: session_ms, STATIC: min(session_ms, returns_ms)}.get(members, 0))
            if conditions.surge:
                away[-1] = 0
                found[name] = starts_ms + max(closes_ms, GRACE_MS + 1)
            elif not waits_for_tasks:
                # The step need not wait for assignments.
                found[name] = returns_ms
            found[name] += wait_ms(conditions)
        opens_ms = timings.first_open_store_ms + timings.restore_poll_ms
        opens = {owner for owner, _ in self.copies.values()} if members != LEAVES and waits_for_tasks else ()
        return Floors(
            {name: time_ms / 1000 for name, time_ms in found.items()},
            {name: (time_ms + opens_ms * (name in opens)) / 1000 for name, time_ms in found.items()},
            min(away) / 1000,
            [each / 1000 for each in looks_ms(plan, timings, plan_seed(seed), is_settled=state.is_settled)],
        )

    def _variant(self, conditions: Conditions) -> PlanVariant:
        return self.variants[conditions.settings]

    def _seed(self, draw: int) -> str:
        return f"{self.seed}-{draw}"


#: A closed member stays in its group until its session ends; it keeps its place in the group; it leaves.
STAYS, STATIC, LEAVES = "stays", "static", "leaves"


def _members(state: PresentState, plan: Plan) -> str:
    episode = state.episode
    if any(action.leave for step in plan.steps for action in step.actions):
        return LEAVES
    if all(each is not None for each in episode.instance_ids):
        return STATIC if state.is_classic else LEAVES
    is_dynamic = all(each is None for each in episode.instance_ids)
    return STAYS if is_dynamic and state.is_classic else LEAVES


def wait_ms(conditions: Conditions) -> int:
    wait = conditions.wait
    return wait if isinstance(wait, int) else RESTS_MS if wait == CALM else 0
