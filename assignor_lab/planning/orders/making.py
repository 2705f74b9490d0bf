"""The search of an order from the options of the command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from assignor_lab.planning.connect_plan import (
    ConnectContender,
    connect_plan,
    connect_returns,
    played_connect_plan,
)
from assignor_lab.planning.connect_state import ConnectState
from assignor_lab.planning.consumer_plan import (
    ConsumerContender,
    consumer_plan,
    consumer_returns,
    played_consumer_plan,
)
from assignor_lab.planning.consumer_state import ConsumerState, under_members
from assignor_lab.planning.making import Options, PlanError, roll_plan, with_times
from assignor_lab.planning.measured import PlayedPlan
from assignor_lab.planning.orders.aims import DURATION, aims_of
from assignor_lab.planning.orders.answer import BestOrder, best_order
from assignor_lab.planning.orders.group import MOST_EXACT, PRESENT, OrderedGroup, StreamsOrders
from assignor_lab.planning.orders.members import MemberOrders
from assignor_lab.planning.orders.order import Conditions, Order
from assignor_lab.planning.orders.search import OrderSearch, search
from assignor_lab.planning.plans import CALM, READY, Plan, Wait
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Prediction
from assignor_lab.planning.state import PresentState
from assignor_lab.planning.variants import PlanVariant, as_accepted, usual_variants
from assignor_lab.simulation.consumer.consumers import ConsumerSettings

__all__ = [
    "SETTINGS",
    "WantedOrder",
    "check_wanted",
    "connect_orders",
    "consumer_orders",
    "found_order",
    "streams_orders",
]

#: The usual value of ``--form``.
TEXT = "text"
#: Value of ``--may``: settings of membership may change.
SETTINGS = "settings"
#: The settings that it allows, by the names of their variants.
_ALLOWED = ("static members", "LEAVE_GROUP")
#: Draws of a search over all orders, and of one over many instances.
_DRAWS, _FEW_DRAWS = 5, 3
#: Options of a roll that the search chooses itself, or that leave no choice, and their usual values.
_CHOSEN = {
    "order": "the search chooses the order: leave out --order, or --best",
    "batch": "the search chooses the batches: leave out --batch, or --best",
    "stuck": "--stuck is of one order: plan it with --order",
    "crash_in": "--crash-in is of one order: plan it with --order",
    "upgrade_from": "two rolls have two orders: plan them with --order",
}


@attrs.frozen
class WantedOrder:
    """A search as the command line has it.

    Args:
        minimize: Name of the figure that decides.
        at_most: Limits, such as ``worst_task_seconds=20``.
        may: Names of further freedoms: ``settings``.
        plays: Most plays of the search.
    """

    minimize: str = DURATION
    at_most: Sequence[str] = ()
    may: Sequence[str] = ()
    plays: int = 2_000


def check_wanted(
    plan: str, options: Options, wanted: WantedOrder, *, is_best: bool, has_others: bool, form: str = TEXT
) -> None:
    """Refuses options that contradict ``--best``, or that need it.

    Args:
        has_others: The command has other settings or another place for its plays.

    Raises:
        PlanError: with the remedy.
    """
    if not is_best:
        if wanted != WantedOrder() or form != TEXT:
            raise PlanError("--at-most, --minimize, --may, --form and --search-plays are for plan SOURCE roll --best")
        return
    if plan != "roll":
        raise PlanError(f"--best finds the order of a roll: it has no effect on {plan}")
    if has_others:
        raise PlanError("--best: leave out --variant, --master and --remote; --may settings tries other settings")
    usual = Options()
    for name, sentence in _CHOSEN.items():
        if getattr(options, name) != getattr(usual, name):
            raise PlanError(f"--best: {sentence}")


def streams_orders(
    state: PresentState, options: Options, terms: Terms, wanted: WantedOrder, seed: int, restless: str | None = None
) -> tuple[StreamsOrders, list[Conditions]]:
    """A Streams group and the conditions to choose from, the present ones first.

    Args:
        restless: A sentence on the loop of a group that never rests: no step can wait for rest.

    Raises:
        PlanError, UnknownInstanceError: if the options contradict the state.
    """
    if restless is not None and options.wait == CALM:
        raise PlanError(f"--wait {CALM} never ends. {restless}")
    alone = attrs.evolve(options, surge=min(options.surge, 1))

    def make(of: PresentState, under: Options) -> Plan:
        return with_times(roll_plan(of, under), under)

    present = PlanVariant("", state, make(state, alone), terms)
    variants = [present]
    _check_freedoms(wanted)
    if wanted.may:
        variants += [each for each in usual_variants(state, alone, present.plan, terms, make) if each.name in _ALLOWED]
        if len(variants) == 1:
            raise PlanError("--may settings: this group has no other settings of membership: leave it out")
    found = {each.name: as_accepted(each) for each in variants}
    conditions = [each for each in conditions_of(list(found), options) if restless is None or each.wait != CALM]
    return StreamsOrders(found, seed, restless is None), conditions


def connect_orders(
    state: ConnectState, options: Options, terms: Terms, wanted: WantedOrder, seed: int
) -> tuple[MemberOrders, list[Conditions]]:
    """A Connect group and its conditions; errors as for :func:`streams_orders`."""
    _check_freedoms(wanted)
    if wanted.may:
        raise PlanError("--may settings: workers have no other settings of membership: leave it out")
    single = connect_plan("roll", None, state, options)
    contender = ConnectContender("", state, single, terms)

    def play(_: str, plan: Plan, play_seed: str) -> PlayedPlan:
        return played_connect_plan(attrs.evolve(contender, plan=plan), play_seed)

    def returns(_: str, play_seed: str) -> Mapping[str, int]:
        return connect_returns(contender, play_seed)

    workers = state.episode.workers
    loads = {name: len(workers[name][1].tasks) for name in state.names}
    tasks = sum(state.episode.connectors.values())
    sentences = ("The state does not show the leader: each draw has its own, and the order is best in their median.",)
    alike = {
        name: (repr(attrs.evolve(workers[name][0], url="")), len(workers[name][1].connectors), loads[name])
        for name in state.names
    }
    start_ms = state.episode.timings.worker_start_ms
    group = MemberOrders({PRESENT: single}, loads, tasks, play, returns, start_ms, seed, alike, sentences=sentences)
    return group, conditions_of([PRESENT], options)


def consumer_orders(
    state: ConsumerState, options: Options, terms: Terms, wanted: WantedOrder, seed: int
) -> tuple[MemberOrders, list[Conditions]]:
    """A consumer group and its conditions; errors as for :func:`streams_orders`."""
    _check_freedoms(wanted)
    single = consumer_plan("roll", None, state, options)
    states = {PRESENT: state}
    if wanted.may:
        if all(each.instance_id is not None for each in state.episode.consumers.values()):
            raise PlanError("--may settings: all consumers are static members already: leave it out")
        states = {**states, "static members": under_members(state, are_static=True)}
    contenders = {name: ConsumerContender(name, of, single, terms) for name, of in states.items()}

    def play(settings: str, plan: Plan, play_seed: str) -> PlayedPlan:
        return played_consumer_plan(attrs.evolve(contenders[settings], plan=plan), play_seed)

    def returns(settings: str, play_seed: str) -> Mapping[str, int]:
        return consumer_returns(contenders[settings], play_seed)

    present = state.episode.present or {}
    loads = {name: sum(map(len, present.get(name, {}).values())) for name in state.names}
    tasks = sum(topic.partitions for topic in state.episode.topics.values())
    alike = {name: (_kind_of(each), loads[name]) for name, each in state.episode.consumers.items()}
    start_ms = state.episode.timings.start_ms
    stays_ms = {
        name: _session_ms(of)
        for name, of in states.items()
        if all(each.instance_id is not None for each in of.episode.consumers.values())
    }
    group = MemberOrders(dict.fromkeys(states, single), loads, tasks, play, returns, start_ms, seed, alike, stays_ms)
    return group, conditions_of(list(states), options)


def _session_ms(state: ConsumerState) -> int:
    """The shortest session that a member of the group may have."""
    timings = state.episode.timings
    return min(timings.session_timeout_ms, timings.group_session_timeout_ms)


def _kind_of(settings: ConsumerSettings) -> ConsumerSettings:
    """Settings without the names of the consumer."""
    static = None if settings.instance_id is None else ""
    return attrs.evolve(settings, client_id="", member_id=None, instance_id=static)


def _check_freedoms(wanted: WantedOrder) -> None:
    for freedom in wanted.may:
        if freedom != SETTINGS:
            raise PlanError(f"--may {freedom!r:.80}: the search may change {SETTINGS}: give --may {SETTINGS}")


def conditions_of(settings: Sequence[str], options: Options) -> list[Conditions]:
    waits: list[Wait] = [READY, CALM] if options.wait == READY else [options.wait]
    return [Conditions(name, wait, options.surge) for name in settings for wait in waits]


def found_order(
    group: OrderedGroup,
    conditions: Sequence[Conditions],
    wanted: WantedOrder,
    processes: int,
    predict: Callable[[Order, Plan], Prediction],
    on_play: Callable[[], None] = lambda: None,
) -> BestOrder:
    """The best order of a group.

    Args:
        predict: Predicts the plan of an order.

    Raises:
        PlanError: if a limit is malformed, or no order keeps the limits.
    """
    aims = aims_of(wanted.minimize, wanted.at_most)
    if len(group.names) < 2:
        raise PlanError(f"--best: {', '.join(group.names)} is alone, and has one order: leave out --best")
    how = OrderSearch(
        draws=_DRAWS if len(group.names) <= MOST_EXACT else _FEW_DRAWS, plays=wanted.plays, processes=processes
    )
    return best_order(group, search(group, conditions, aims, how, on_play), how, predict)
