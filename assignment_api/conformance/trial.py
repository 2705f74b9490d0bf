"""The trial: one history played with one assignor, and the rules that it breaks on the way."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

import attrs

from assignment_api.conformance.history import Capabilities, History
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.subject import Raised, Reply, Subject

__all__ = ["Broken", "Trial"]

#: Rebalances after a group has come to rest in which it has to stay there: an answer that comes back in turns of up to
#: three is seen.
_CALM_ROUNDS = 3
_NO_CONFIGS: Mapping[str, Any] = {}


@attrs.frozen
class Broken:
    """A rule that was broken.

    Args:
        rule: Its name.
        found: What happened instead, in a sentence.
        round: Number of the rebalance, from 0.
        traceback: Where an exception came from; empty where there was none.
    """

    rule: str
    found: str
    round: int
    traceback: str = ""


@attrs.define(eq=False)
class Trial:
    """Plays histories with one assignor.

    Args:
        kind: Kind of the group.
        subject: Who is asked.
        capabilities: What it is made for.
        configs: Configuration of its own, beside Kafka's.
    """

    kind: Kind[Any]
    subject: Subject[Any]
    capabilities: Capabilities = attrs.field(factory=Capabilities)
    configs: Mapping[str, Any] = _NO_CONFIGS
    #: States that were asked in the last play, in order.
    asked: list[Any] = attrs.field(factory=list)
    _elsewhere: Subject[Any] | None = attrs.field(default=None, init=False)
    _looked_elsewhere: bool = attrs.field(default=False, init=False)
    #: Plays that got as far as the answer to their last event.
    calm_histories: int = attrs.field(default=0, init=False)

    @property
    def elsewhere(self) -> Subject[Any] | None:
        """The same assignor in another process; it is started when it is asked for."""
        if not self._looked_elsewhere:
            self._looked_elsewhere = True
            self._elsewhere = self.subject.elsewhere()
        return self._elsewhere

    def first_broken(self, history: History, ignored: Container[str] = ()) -> Broken | None:
        """The first rule that a history breaks, but those that are ``ignored``; ``None``: it breaks none."""
        return next((broken for broken in self.broken(history) if broken.rule not in ignored), None)

    def broken(self, history: History) -> Iterator[Broken]:
        """Every rule that a history breaks, as the play comes to it.

        A history ends with an answer that no group could carry out, and with an exception.
        """
        kind = self.kind
        world = kind.world(history, self.capabilities)
        configs = {**self.configs, **world.configs()}
        leader = self.subject.leader()
        self.asked = []
        answered: list[Any] = []
        for number in range(len(history.events) + 1):
            if number:
                world.happens(history.events[number - 1])
            reply = yield from self._asked(world, leader, configs, answered)
            if reply is None:
                return
        self.calm_histories += 1
        yield from self._asked_again(configs, answered)
        yield from self._at_rest(world, leader, configs, answered)

    # --- single calls -----------------------------------------------------------------------------

    def _asked(self, world: Any, leader: Any, configs: Mapping[str, Any], answered: list[Any]) -> Any:
        """Asks once, tells what is wrong with the answer, and carries it out; returns it, or ``None``: no way on."""
        kind, number = self.kind, len(self.asked)
        state = world.state()
        self.asked.append(state)
        reply = leader.ask(state, configs)
        if reply.input_changed:
            yield Broken("input untouched", "the state that it was given is another one after the call", number)
            return None
        if reply.raised is not None:
            yield _of_raised(reply.raised, number)
            return None
        wrong = reply.badly_typed or kind.badly_typed(reply.answer)
        if wrong is not None:
            yield Broken("right types", wrong, number)
            return None
        for rule, sentence in kind.troubles(state, reply.answer):
            yield Broken(rule, sentence, number)
            if rule == "accepted":
                return None
        answered.append((kind.placement(state, reply.answer), kind.asks_again(state, reply.answer)))
        world.carry_out(state, reply.answer)
        return reply

    def _asked_again(self, configs: Mapping[str, Any], answered: list[Any]) -> Iterator[Broken]:
        """The same questions once more: watched, in another order, in another process."""
        states = list(self.asked)
        yield from self._retold(states, answered, configs, "nothing kept", "asked again", watched=True)
        if self.capabilities.any_order:
            turned = [self.kind.turned(state) for state in states]
            yield from self._retold(turned, answered, configs, "any order", "with everything listed backwards")
        if self.elsewhere is not None:
            yield from self._retold(
                states, answered, configs, "any process", "in another process", subject=self.elsewhere
            )

    def _retold(
        self,
        states: list[Any],
        answered: list[Any],
        configs: Mapping[str, Any],
        rule: str,
        how: str,
        *,
        watched: bool = False,
        subject: Subject[Any] | None = None,
    ) -> Iterator[Broken]:
        leader = (subject or self.subject).leader()
        for number, state in enumerate(states):
            reply: Reply = leader.ask(state, configs, watched=watched)
            for seen, sentence in reply.seen:
                yield Broken(seen, sentence, number)
            if reply.raised is not None:
                raised = reply.raised
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
        """Nothing happens any more: the group comes to rest, and stays there."""
        calm = 0
        restless_since = len(answered)
        for _ in range(world.bound + 1 + _CALM_ROUNDS):
            world.rest()
            before, asked_before = answered[-1]
            reply = yield from self._asked(world, leader, configs, answered)
            if reply is None:
                return
            after, asks = answered[-1]
            number = len(self.asked) - 1
            if not asked_before and (after != before or asks):
                yield Broken(
                    "at rest",
                    "nothing has changed, nothing more was asked for, and "
                    + _difference((before, False), answered[-1]),
                    number,
                )
            calm = calm + 1 if after == before and not asks else 0
            if calm > _CALM_ROUNDS:
                return
            if number - restless_since > world.bound and not calm:
                rounds = number - restless_since + 1
                yield Broken(
                    "comes to rest", f"{rounds} rebalances after the last event it still changes or asks", number
                )
                return


def _of_raised(raised: Raised, number: int) -> Broken:
    sentence = f"it raises {raised.type}: {raised.message}"
    rule = "in time" if raised.is_loss else "nothing refused" if raised.is_refusal else "answers"
    return Broken(rule, sentence, number, raised.traceback)


def _difference(before: tuple[Any, bool], after: tuple[Any, bool]) -> str:
    """The first thing in which two placements differ, in words."""
    for member in sorted({*before[0], *after[0]}):
        had, has = before[0].get(member, []), after[0].get(member, [])
        if had != has:
            return f"{member} has {_roles(has)} in place of {_roles(had)}"
    return "it asks for a further rebalance" if after[1] else "it asks for no further rebalance"


def _roles(held: list[list[str]]) -> str:
    return " and ".join(f"[{', '.join(tasks)}]" for tasks in held) or "nothing"
