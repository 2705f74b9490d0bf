"""Rebalances and events out of the ordinary, by rules."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import attrs

from assignor_lab.documents.wording import listed, natural_order, plural
from assignor_lab.model.events import (
    ConfigMismatch,
    DecisionFailed,
    GroupEmptied,
    GroupEvent,
    GroupRefilled,
    InstanceGone,
    InstanceRestarted,
    InstanceRestartedInSession,
    InstanceStarted,
    PollTimedOut,
    ShutdownRequested,
    ThreadDied,
    ThreadReplaced,
)
from assignor_lab.watching.known_loops import KNOWN_LOOPS, named_loop
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.planned import NOTHING_PLANNED, PlannedRestarts
from assignor_lab.watching.rebalances import WatchedGroup, WatchedRebalance

__all__ = ["RULES", "Unusual", "unusual_rebalances"]

_MOST_NAMED = 3


@attrs.frozen
class Unusual:
    """A rebalance out of the ordinary."""

    rule: str
    group: str
    time_ms: int
    generation: int | None
    value: float
    limit: float
    sentence: str
    known: str | None = None

    @property
    def remedy(self) -> str | None:
        return None if self.known is None else KNOWN_LOOPS[self.known].remedy

    def document(self) -> dict[str, Any]:
        return {**attrs.asdict(self), "remedy": self.remedy}


def unusual_rebalances(
    group: WatchedGroup, limits: WatchLimits, planned: PlannedRestarts = NOTHING_PLANNED
) -> list[Unusual]:
    """By time, then in the order of ``RULES``.

    Args:
        planned: Restarts that are no sign of a flapping instance.
    """
    unplanned = attrs.evolve(group, events=planned.without(group.events))
    found = [
        each for name, rule in RULES.items() for each in rule(unplanned if name in _OF_DEPARTURES else group, limits)
    ]
    return sorted(found, key=lambda each: each.time_ms)


# --- rules ----------------------------------------------------------------------------------------


def _unexplained(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Rebalances without a cause. Soon after another one with the same members, a rebalance is a follow-up."""
    count = 0
    for each in group.rebalances[1:]:
        entry = each.entry
        if entry.reason or entry.inferred_reason or entry.missing is not None or not each.is_late:
            continue
        count += 1
        if count > limits.unexplained:
            yield _unusual(
                "no known cause", group, each, count, limits.unexplained, "The rebalance has no known cause."
            )


def _endless(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    for chain in _chains(group):
        late = [each for each in chain if each.is_late]
        unmoved = _unmoved(late)
        if len(unmoved) > limits.known_rounds and (loop := named_loop(group, unmoved)) is not None:
            yield _loop(group, unmoved, limits.known_rounds, "probing rebalance", loop)
        elif len(late) > limits.probings:
            yield _loop(group, late, limits.probings, "probing rebalance", named_loop(group, chain))
        soon = [each for each in chain if not each.is_late]
        if len(soon) > limits.followups:
            yield _loop(group, soon, limits.followups, "follow-up", named_loop(group, chain))


def _loop(group: WatchedGroup, rounds: Sequence[WatchedRebalance], limit: int, noun: str, loop: str | None) -> Unusual:
    sentence = f"{plural(len(rounds), noun)}, one after the other, with the same members."
    found = _unusual("endless follow-ups", group, rounds[limit], len(rounds), limit, sentence)
    return attrs.evolve(found, known=loop)


def _unmoved(rounds: Sequence[WatchedRebalance]) -> list[WatchedRebalance]:
    """The longest run of rebalances with one and the same placement."""
    longest: list[WatchedRebalance] = []
    run: list[WatchedRebalance] = []
    for each in rounds:
        is_same = bool(run) and run[-1].owners == each.owners and run[-1].copies == each.copies
        run = [*run, each] if is_same else [each]
        longest = max(longest, run, key=len)
    return longest


def _chains(group: WatchedGroup) -> Iterator[list[WatchedRebalance]]:
    """Longest runs of rebalances with the members of their predecessor."""
    chain: list[WatchedRebalance] = []
    for each in group.rebalances:
        if each.is_same_group:
            chain.append(each)
        elif chain:
            yield chain
            chain = []
    if chain:
        yield chain


def _back_and_forth(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Tasks that return to an instance that gave them away, while the members stay the same."""
    window_ms = limits.window_seconds * 1_000
    moves: dict[str, tuple[str, str]] = {}
    returns: dict[str, deque[int]] = {}
    reported: set[str] = set()
    owners: dict[str, str] = {}
    for each in group.rebalances:
        exceeding = []
        there = {*each.owners.values()} | {name for _, name in each.copies}
        for task, owner in each.owners.items():
            before = owners.get(task, owner)
            owners[task] = owner
            if before == owner:
                continue
            if before not in there and before in {*each.entry.gone, *each.entry.restarted}:
                moves.pop(task, None)
                continue
            # A member that came or went is a cause of moves.
            if each.is_same_group and moves.get(task) == (owner, before):
                recent = returns.setdefault(task, deque())
                recent.append(each.entry.time_ms)
                while recent[0] < each.entry.time_ms - window_ms:
                    recent.popleft()
                if len(recent) > limits.returns and task not in reported:
                    exceeding.append((task, owner, before, len(recent)))
                    reported.add(task)
            moves[task] = before, owner
        if exceeding:
            tasks = sorted({task for task, *_ in exceeding}, key=natural_order)
            names = sorted({name for _, *both, _ in exceeding for name in both}, key=natural_order)
            count = max(count for *_, count in exceeding)
            sentence = f"{_named(tasks)} moved back and forth between {_named(names)}."
            yield _unusual("back and forth", group, each, count, limits.returns, sentence)


def _flapping(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    for name, found in _by_instance(_departures(group)).items():
        for each, count in _exceeding(found, limits.departures, limits):
            sentence = f"{name} left or restarted {count} times within {limits.window_seconds} s."
            yield _of_event("flapping instance", group, each, count, limits.departures, sentence)


def _departing(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Departures of a group, as in a crash loop of an instance that has another name after each start."""
    departures = _departures(group)
    names = Counter(each.subject for each in departures)
    # An instance that is found again has a rule of its own.
    found = [each for each in departures if names[each.subject] <= limits.departures]
    most = limits.group_departures * _usual(group)
    for each, count in _exceeding(found, most, limits):
        sentence = f"Instances left or restarted {count} times within {limits.window_seconds} s."
        yield _of_event("departures of the group", group, each, count, most, sentence)
        return
    starts: dict[str, list[int]] = {}
    for event in group.events:
        if isinstance(event, InstanceStarted):
            starts.setdefault(event.instance, []).append(event.at.latest_ms)
    window_ms = limits.window_seconds * 1_000
    # An instance that starts after its departure was restarted, as in a roll.
    short = [
        each for each in found
        if names[each.subject] == 1 and (started := starts.get(str(each.subject)))
        and each.at.latest_ms - window_ms <= started[-1] <= each.at.latest_ms
    ]  # fmt: skip
    for each, count in _exceeding(short, limits.departures, limits):
        sentence = f"{count} new instances left again within {limits.window_seconds} s."
        yield _of_event("departures of the group", group, each, count, limits.departures, sentence)
        return


def _usual(group: WatchedGroup) -> int:
    """Instances in most decisions."""
    counts = Counter(each.entry.instances for each in group.rebalances)
    return max(counts, key=lambda instances: (counts[instances], instances), default=1)


def _restarting(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    restarts = [each for each in group.events if isinstance(each, InstanceRestartedInSession)]
    for name, found in _by_instance(restarts).items():
        for each, count in _exceeding(found, limits.static_restarts, limits):
            sentence = f"{name} restarted {count} times within {limits.window_seconds} s, each time within its session."
            yield _of_event("restarts of a static member", group, each, count, limits.static_restarts, sentence)


def _departures(group: WatchedGroup) -> list[GroupEvent]:
    """One for each time that an instance leaves, without restarts within a session and without outages.

    An instance that has left leaves again only after it started, or after a decision that has it (so it is gone in the
    next one): a thread that is fenced after its poll timeout does not. An instance whose threads were replaced has new
    members, and did not leave.
    """
    times = [each.entry.time_ms for each in group.rebalances]
    emptied = {bisect_left(times, each.at.latest_ms) for each in group.events if isinstance(each, GroupEmptied)}
    left: dict[str | None, int] = {}
    replaced = {
        (each.instance, bisect_left(times, each.at.latest_ms))
        for each in group.events
        if isinstance(each, ThreadReplaced)
    }
    found: list[GroupEvent] = []
    for each in group.events:
        place = bisect_left(times, each.at.latest_ms)
        if isinstance(each, InstanceStarted) and left.get(each.subject, place) < place:
            del left[each.subject]
        if not each.is_departure or isinstance(each, InstanceRestartedInSession) or place in emptied:
            continue
        if isinstance(each, InstanceRestarted) and (each.instance, place) in replaced:
            continue
        since = left.get(each.subject)
        between = group.rebalances[since or 0 : place]
        is_back = bool(between) and isinstance(each, InstanceGone)
        if since is None or is_back or any(_has(rebalance, each.subject) for rebalance in between):
            found.append(each)
            left[each.subject] = place
    return found


def _has(rebalance: WatchedRebalance, instance: str | None) -> bool:
    return rebalance.decision is None or instance in rebalance.decision.shares


def _by_instance(events: Iterable[GroupEvent]) -> dict[str, list[GroupEvent]]:
    found: dict[str, list[GroupEvent]] = {}
    for each in events:
        found.setdefault(str(each.subject), []).append(each)
    return found


def _exceeding(events: Iterable[GroupEvent], limit: int, limits: WatchLimits) -> Iterator[tuple[GroupEvent, int]]:
    """Each event with which the number within the window begins to exceed the limit, and the largest number then."""
    recent: deque[int] = deque()
    first: GroupEvent | None = None
    most = 0
    for each in events:
        recent.append(each.at.latest_ms)
        while recent[0] < each.at.latest_ms - limits.window_seconds * 1_000:
            recent.popleft()
        if len(recent) > limit:
            first, most = first or each, max(most, len(recent))
        elif first is not None:
            yield first, most
            first, most = None, 0
    if first is not None:
        yield first, most


def _outages(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    emptied: GroupEmptied | None = None
    for each in group.events:
        if isinstance(each, GroupEmptied):
            emptied = each
        elif isinstance(each, GroupRefilled) and emptied is not None:
            seconds = each.empty_ms / 1_000
            if seconds > limits.outage_seconds:
                sentence = f"The group had no members for {each.duration}."
                yield _of_event("outage", group, emptied, seconds, limits.outage_seconds, sentence)
            emptied = None
    every = [each for each in group.events if isinstance(each, GroupEmptied)]
    for event, count in _exceeding(every, limits.departures, limits):
        sentence = f"The group lost its last member {count} times within {limits.window_seconds} s."
        yield _of_event("outage", group, event, count, limits.departures, sentence)
    if emptied is not None and group.is_empty:
        yield _of_event(
            "outage",
            group,
            emptied,
            0,
            limits.outage_seconds,
            "The group has no members since then, in this recording.",
        )


def _each_of(
    rule: str, limit: Callable[[WatchLimits], int], *types: type[GroupEvent]
) -> Callable[[WatchedGroup, WatchLimits], Iterator[Unusual]]:
    """A rule that reports each event of some types beyond the limit, with its own sentence."""

    def found(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
        for number, each in enumerate((each for each in group.events if isinstance(each, types)), 1):
            if number > limit(limits):
                sentence = f"{each.sentence[:1].upper()}{each.sentence[1:]}."
                yield _of_event(rule, group, each, number, limit(limits), sentence)

    return found


def _mismatches(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    for each in group.events:
        if isinstance(each, ConfigMismatch) and each.rounds > limits.config_mismatches:
            sentence = f"{each.sentence}."
            found = _of_event("config mismatch", group, each, each.rounds, limits.config_mismatches, sentence)
            yield attrs.evolve(found, generation=each.first)


def _without_place(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Wanted standbys that no instance has, although the last rebalance needs no other one."""
    if not group.rebalances or group.is_empty:
        return
    last = group.rebalances[-1]
    decision = last.decision
    if decision is None or not decision.standbys or decision.followup != "none" or decision.hands_over:
        return
    copies = Counter(task for task, _ in last.copies)
    wanted = sum(decision.standbys - copies[task] for task in decision.stateful if copies[task] < decision.standbys)
    if wanted > limits.missing_standbys:
        place = plural(len(decision.shares), "instance")
        sentence = (
            f"{plural(wanted, 'wanted standby', 'wanted standbys')} had no place on {place} after the last rebalance."
        )
        yield _unusual("standbys without a place", group, last, wanted, limits.missing_standbys, sentence)


def _idle(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Instances without any task, although the last rebalance needs no other one."""
    if not group.rebalances or group.is_empty:
        return
    last = group.rebalances[-1]
    decision = last.decision
    if decision is None or decision.followup != "none" or decision.hands_over or decision.members <= len(last.owners):
        return
    idle = sorted(
        (name for name, each in decision.shares.items() if not (each.active or each.copies)), key=natural_order
    )
    if len(idle) > limits.idle_instances:
        sentence = (
            f"{_named(idle)} cannot get work: {plural(decision.members, 'member')} for "
            f"{plural(len(last.owners), 'task')} or jobs."
        )
        yield _unusual("instance without work", group, last, len(idle), limits.idle_instances, sentence)


def _unowned(group: WatchedGroup, limits: WatchLimits) -> Iterator[Unusual]:
    """Tasks without an owner for too long, or after the last rebalance."""
    since: dict[str, WatchedRebalance] = {}
    allowed_ms = limits.unowned_seconds * 1_000
    for each in group.rebalances:
        ended = [(task, begin) for task, begin in since.items() if task not in each.unowned]
        yield from _too_long(group, ended, each.entry.time_ms, allowed_ms, limits)
        since = {task: since.get(task, each) for task in each.unowned}
    if not group.rebalances or group.is_empty:
        return
    last = group.rebalances[-1]
    left = sorted(last.unowned, key=natural_order) if not last.allowed_ms else []
    if left:
        sentence = f"{_named(left)} had no owner after the last rebalance."
        yield _unusual("tasks without owner", group, last, len(left), 0, sentence)


def _too_long(
    group: WatchedGroup,
    ended: Iterable[tuple[str, WatchedRebalance]],
    now_ms: int,
    allowed_ms: int,
    limits: WatchLimits,
) -> Iterator[Unusual]:
    late: dict[WatchedRebalance, list[str]] = {}
    for task, begin in ended:
        if now_ms - begin.entry.time_ms > allowed_ms + begin.allowed_ms:
            late.setdefault(begin, []).append(task)
    for begin, tasks in late.items():
        seconds = (now_ms - begin.entry.time_ms) / 1_000
        sentence = f"{_named(sorted(tasks, key=natural_order))} had no owner for {seconds:.0f} s."
        yield _unusual("tasks without owner", group, begin, seconds, limits.unowned_seconds, sentence)


RULES: dict[str, Callable[[WatchedGroup, WatchLimits], Iterator[Unusual]]] = {
    "no known cause": _unexplained,
    "endless follow-ups": _endless,
    "back and forth": _back_and_forth,
    "flapping instance": _flapping,
    "departures of the group": _departing,
    "restarts of a static member": _restarting,
    "tasks without owner": _unowned,
    "outage": _outages,
    "poll timeout": _each_of("poll timeout", lambda limits: limits.poll_timeouts, PollTimedOut),
    "dead thread": _each_of(
        "dead thread", lambda limits: limits.dead_threads, ThreadDied, ThreadReplaced, ShutdownRequested
    ),
    "failed assignment": _each_of("failed assignment", lambda limits: limits.failed_assignments, DecisionFailed),
    "config mismatch": _mismatches,
    "standbys without a place": _without_place,
    "instance without work": _idle,
}

#: Rules that count departures and restarts.
_OF_DEPARTURES = ("flapping instance", "departures of the group", "restarts of a static member")


def _of_event(rule: str, group: WatchedGroup, event: GroupEvent, value: float, limit: float, sentence: str) -> Unusual:
    """With the number of the generation at that time, if it is known."""
    before = [each.entry for each in group.rebalances if each.entry.time_ms <= event.at.latest_ms]
    number = getattr(event, "number", None)
    generation = number if number is not None else before[-1].generation if before else None
    return Unusual(rule, group.group, event.at.latest_ms, generation, value, limit, sentence)


def _unusual(
    rule: str, group: WatchedGroup, rebalance: WatchedRebalance, value: float, limit: float, sentence: str
) -> Unusual:
    entry = rebalance.entry
    return Unusual(rule, group.group, entry.time_ms, entry.generation, value, limit, sentence)


def _named(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
