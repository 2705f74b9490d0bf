"""One history with one assignor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event
from typing import Any

import attrs

from assignment_api.conformance.history import Capabilities, History
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.levels import Level
from assignment_api.conformance.subject import InProcessSubject, Raised, Reply, Subject

__all__ = ["Broken", "Trial"]

#: Detects cycles of up to three answers in a settled group.
_CALM_ROUNDS = 3
#: Histories that begin with a fresh other process.
_FRESH = frozenset({12, 40})
_NO_CONFIGS: Mapping[str, Any] = {}


@attrs.frozen
class Broken:
    """A violated rule."""

    rule: str
    found: str
    round: int
    traceback: str = ""


@attrs.define(eq=False)
class Trial:
    """Runs histories with one assignor."""

    kind: Kind[Any]
    subject: Subject[Any]
    capabilities: Capabilities = attrs.field(factory=Capabilities)
    configs: Mapping[str, Any] = _NO_CONFIGS
    asked: list[Any] = attrs.field(factory=list)
    #: Inputs from which on another leader calls.
    _taken_over: set[int] = attrs.field(factory=set, init=False)
    _elsewhere: Subject[Any] | None = attrs.field(default=None, init=False)
    _looked_elsewhere: bool = attrs.field(default=False, init=False)
    _played: int = attrs.field(default=0, init=False)
    reached: set[Level] = attrs.field(factory=set, init=False)

    @property
    def elsewhere(self) -> Subject[Any] | None:
        """The assignor in another process, started on first use."""
        if not self._looked_elsewhere:
            self._looked_elsewhere = True
            self._elsewhere = self.subject.elsewhere()
        return self._elsewhere

    def _begin_elsewhere(self) -> None:
        """Now and then the other process is a fresh one: what a class keeps of earlier histories is missing there."""
        self._played += 1
        if self._played in _FRESH and self._elsewhere is not None:
            close = getattr(self._elsewhere, "close", None)
            if close is not None:
                close()
            self._elsewhere, self._looked_elsewhere = None, False

    def broken(self, history: History) -> Iterator[Broken]:
        """Yield violated rules in order, up to an exception or impossible answer."""
        kind = self.kind
        self._begin_elsewhere()
        world = kind.world(history, self.capabilities)
        configs = {**self.configs, **world.configs()}
        leader = self.subject.leader()
        self.asked = []
        self._taken_over = set()
        answered: list[Any] = []
        for number in range(len(history.events) + 1):
            if number:
                event = history.events[number - 1]
                if event.type == "lead":
                    leader = self.subject.leader()
                    self._taken_over.add(number)
                world.happens(event)
            reply = yield from self._asked(world, leader, configs, answered)
            if reply is None:
                return
        yield from self._asked_again(configs, answered)
        self.reached.update((Level.PURE, Level.DETERMINISTIC))
        yield from self._at_rest(world, leader, configs, answered)

    # --- single calls -----------------------------------------------------------------------------

    def _asked(self, world: Any, leader: Any, configs: Mapping[str, Any], answered: list[Any]) -> Any:
        """Yield faults; ``None`` if the run must end."""
        kind, number = self.kind, len(self.asked)
        state = world.state()
        self.asked.append(state)
        reply = leader.ask(state, configs)
        if reply.input_changed:
            yield Broken("input untouched", f"the call changed {_bounded(reply.input_changed)}", number)
            return None
        if reply.raised is not None:
            is_asked = kind.is_called_without_members or kind.has_members(state) or reply.raised.is_loss
            is_refused = reply.raised.is_refusal and not reply.raised.after_answer and not kind.has_members(state)
            if is_asked and not is_refused:
                yield _of_raised(reply.raised, number)
            return None
        wrong = reply.badly_typed or kind.badly_typed(reply.answer)
        if (
            not kind.is_called_without_members
            and not kind.has_members(state)
            and (wrong or any(self._troubles(state, reply)))
        ):
            return None
        if wrong is not None:
            yield Broken("right types", wrong, number)
            return None
        self.reached.add(Level.VALID)
        for rule, sentence in kind.troubles(state, reply.answer):
            yield Broken(rule, sentence, number)
            if rule == "accepted":
                return None
        self.reached.add(Level.COMPLETE)
        answered.append((kind.placement(state, reply.answer), kind.asks_again(state, reply.answer)))
        world.carry_out(state, reply.answer)
        return reply

    def _troubles(self, state: Any, reply: Reply) -> Iterator[object]:
        return iter(self.kind.troubles(state, reply.answer))

    def _asked_again(self, configs: Mapping[str, Any], answered: list[Any]) -> Iterator[Broken]:
        states = list(self.asked)
        stopped = Event()
        with ThreadPoolExecutor(1) as pool, ExitStack() as left:
            left.callback(stopped.set)
            # Beside an assignor in this process, a thread would wait for the interpreter's lock.
            is_apart = self._looked_elsewhere and not isinstance(self.subject, InProcessSubject)
            # One object for each call has no past: the states come in another order, and the last one first.
            back = range(len(states)) if self.kind.answering.lives else range(len(states) - 1, -1, -1)
            other = () if self.elsewhere is None else self._replies(self.elsewhere, states, configs, back)
            # It answers meanwhile; the main thread starts its process, which ends with the thread that starts it.
            others = pool.submit(lambda: list(_up_to_a_failure(other, stopped))) if is_apart else None
            again = self._replies(self.subject, states, configs, back, watched=True)
            yield from self._retold(states, answered, again, "nothing kept", "asked again", back)
            if self.capabilities.any_order:
                turned = [self.kind.turned(state) for state in states]
                replies = self._replies(self.subject, turned, configs)
                yield from self._retold(turned, answered, replies, "any order", "with everything listed backwards")
            yield from self._retold(
                states,
                answered,
                other if others is None else others.result(),
                "any process",
                "in another process",
                back,
            )

    def _replies(
        self,
        subject: Subject[Any],
        states: Sequence[Any],
        configs: Mapping[str, Any],
        order: Sequence[int] | None = None,
        *,
        watched: bool = False,
    ) -> Iterator[Reply]:
        leader = subject.leader()
        for number in range(len(states)) if order is None else order:
            if number in self._taken_over:
                leader = subject.leader()
            yield leader.ask(states[number], configs, watched=watched)

    def _retold(
        self,
        states: Sequence[Any],
        answered: list[Any],
        replies: Iterable[Reply],
        rule: str,
        how: str,
        order: Sequence[int] | None = None,
    ) -> Iterator[Broken]:
        numbers = range(len(states)) if order is None else order
        for number, reply in zip(numbers, replies, strict=False):
            state = states[number]
            for seen, sentence in reply.seen:
                yield Broken(seen, sentence, number)
            if reply.raised is not None:
                raised = reply.raised
                if raised.is_loss:
                    yield attrs.evolve(_of_raised(raised, number), found=f"{how}, {raised.message}")
                    return
                yield Broken(rule, f"{how}, it raises {raised.type}: {raised.message}", number, raised.traceback)
                return
            wrong = reply.badly_typed or self.kind.badly_typed(reply.answer)
            if wrong is not None:
                yield Broken(rule, f"{how}, {wrong}", number)
                return
            found = (self.kind.placement(state, reply.answer), self.kind.asks_again(state, reply.answer))
            if found != answered[number]:
                yield Broken(rule, f"{how}, {_difference(answered[number], found)}", number)
                return

    def _at_rest(self, world: Any, leader: Any, configs: Mapping[str, Any], answered: list[Any]) -> Iterator[Broken]:
        calm = 0
        restless_since = len(answered)
        for _ in range(world.bound + 1 + _CALM_ROUNDS):
            world.rest()
            before, asked_before = answered[-1]
            reply = yield from self._asked(world, leader, configs, answered)
            if reply is None:
                return
            after, requests = answered[-1]
            number = len(self.asked) - 1
            if not asked_before:
                self.reached.add(Level.STABLE)
            if not asked_before and (after != before or requests):
                yield Broken(
                    "at rest",
                    "nothing has changed, no rebalance was due, and " + _difference((before, False), answered[-1]),
                    number,
                )
            calm = calm + 1 if after == before and not requests else 0
            if calm > _CALM_ROUNDS:
                self.reached.add(Level.CONVERGENT)
                return
            if number - restless_since > world.bound and not calm:
                self.reached.add(Level.CONVERGENT)
                rounds = number - restless_since + 1
                yield Broken(
                    "comes to rest",
                    f"{rounds} rebalances after the last event it still moves tasks or requests a rebalance",
                    number,
                )
                return


def _up_to_a_failure(replies: Iterable[Reply], stopped: Event) -> Iterator[Reply]:
    for reply in replies:
        yield reply
        if reply.raised is not None or stopped.is_set():
            return


def _bounded(text: str) -> str:
    return text[:200]


def _of_raised(raised: Raised, number: int) -> Broken:
    sentence = f"it raises {raised.type}: {raised.message}"
    if raised.after_answer and not raised.is_loss:
        return Broken(
            "callback", f"on_assignment_computed raises {raised.type}: {raised.message}", number, raised.traceback
        )
    rule = "in time" if raised.is_loss else "nothing refused" if raised.is_refusal else "answers"
    return Broken(rule, sentence, number, raised.traceback)


def _difference(before: tuple[Any, bool], after: tuple[Any, bool]) -> str:
    for member in sorted({*before[0], *after[0]}):
        had, has = before[0].get(member, []), after[0].get(member, [])
        if had != has:
            return f"{member} has {_roles(has)} in place of {_roles(had)}"
    return "it requests another rebalance" if after[1] else "it requests no other rebalance"


def _roles(held: list[list[str]]) -> str:
    return " and ".join(f"[{', '.join(tasks)}]" for tasks in held) or "nothing"
