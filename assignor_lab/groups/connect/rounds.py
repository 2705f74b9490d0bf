"""One round of a Connect group's history, the consequences of an answer, and the player of the rounds."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from assignment_api.connect import (
    CONNECT_PROTOCOL,
    NO_JOBS,
    ConnectAssignment,
    ConnectProtocol,
    Jobs,
    Rebalance,
    WorkerAssignment,
)
from assignment_api.plugins import FoundConnectAssignor
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.connect.assignor_calls import ASKING, ConnectOutcome, LeadingAssignor
from assignor_lab.groups.connect.metrics import ConnectDecision
from assignor_lab.groups.kind import AnsweringAssignor, ContenderReply, LoadedContender
from assignor_lab.runtime.assignor_calls import OwnProcesses, TracingAssignor, assignor_for
from assignor_lab.runtime.invocation import CallFailure, CallOutcome
from assignor_lab.scenarios import ConnectHistory, ConnectRound

__all__ = ["RebalanceAnswer", "RoundSession", "RoundState", "decided_by", "rounds_until_rest", "spoken_protocol"]

#: After so many rebalances a group is assumed never to come to rest.
MAX_ROUNDS = 50


@attrs.frozen(eq=False)
class RoundState:
    """A rebalance of a group before its leader is known."""

    history: ConnectHistory
    number: int

    @property
    def round(self) -> ConnectRound:
        return self.history.rounds[self.number]

    def rebalance(self, protocol: ConnectProtocol) -> Rebalance:
        """The leader's input in a group with ``protocol``."""
        return self.history.rebalance(self.number, protocol)


@attrs.frozen(eq=False)
class RebalanceAnswer:
    """An answer to one rebalance."""

    rebalance: Rebalance
    assignment: ConnectAssignment
    decision: ConnectDecision


class RoundSession:
    """A Connect assignor through the rounds of a history: one object for as long as the same worker leads."""

    def __init__(self, contender: LoadedContender, isolation: OwnProcesses | None) -> None:
        assert isinstance(contender.found, FoundConnectAssignor)
        self._found = contender.found
        self._isolation = isolation
        self._leading: LeadingAssignor | None = None
        self._protocol: ConnectProtocol | None = None

    def asked(self, state: RoundState, config: EffectiveConfig) -> AnsweringAssignor:
        self._protocol = spoken_protocol(self._found, ConnectProtocol.from_config(config[CONNECT_PROTOCOL].value))
        return AnsweringAssignor(self._found.name, self._found.distribution, config.values_of(self._found))

    def answer(self, state: RoundState, chosen: AnsweringAssignor) -> ContenderReply[RebalanceAnswer]:
        """Lets the assignor place the jobs of the group, and follows the consequences."""
        rebalance, leading = self._asked_now(state, chosen)
        outcome = leading.ask(rebalance)
        result = outcome.result
        if isinstance(result, CallFailure):
            return ContenderReply(_with_result(outcome, result), [(rebalance, outcome)])
        return ContenderReply(_with_result(outcome, _decided(state, rebalance, result)), [(rebalance, outcome)])

    def traced(self, state: RoundState, chosen: AnsweringAssignor) -> Traced[RebalanceAnswer] | None:
        """The answer with its steps; ``None`` if they are not reported."""
        rebalance, leading = self._asked_now(state, chosen)
        found = leading.traced(rebalance) if isinstance(leading, TracingAssignor) else None
        return None if found is None else Traced(_decided(state, rebalance, found.answer), found.steps, found.rules)

    def _asked_now(self, state: RoundState, chosen: AnsweringAssignor) -> tuple[Rebalance, LeadingAssignor]:
        assert self._protocol is not None
        if self._leading is None or state.round.new_leader:
            self._leading = assignor_for(ASKING, self._found, chosen.configs, self._isolation)
        return state.rebalance(self._protocol), self._leading

    def looked_ahead(self, answer: RebalanceAnswer) -> RebalanceAnswer:
        """The answer with the number of rebalances until the group is at rest."""
        assert self._leading is not None
        rounds = rounds_until_rest(self._leading, answer.rebalance, answer.assignment)
        return attrs.evolve(answer, decision=attrs.evolve(answer.decision, rounds=rounds))


def decided_by(state: RoundState, protocol: ConnectProtocol, assignment: ConnectAssignment) -> RebalanceAnswer:
    return _decided(state, state.rebalance(protocol), assignment)


def _decided(state: RoundState, rebalance: Rebalance, assignment: ConnectAssignment) -> RebalanceAnswer:
    before = {worker.member_id: worker.owned for worker in state.round.workers}
    return RebalanceAnswer(rebalance, assignment, _decision(rebalance, before, assignment))


def _with_result(outcome: ConnectOutcome, result: RebalanceAnswer | CallFailure) -> CallOutcome[RebalanceAnswer]:
    return CallOutcome(
        result,
        **outcome.times,
        unread=outcome.unread,
        out_of_memory=outcome.out_of_memory,
        loss=outcome.loss,
        input_mutated=outcome.input_mutated,
    )


def spoken_protocol(found: FoundConnectAssignor, protocol: ConnectProtocol) -> ConnectProtocol:
    """The assumed protocol of the group.

    An assignor that can lead only eager groups decides as if the group were one: no member then reports its jobs.
    The reverse is impossible without these reports, and the assignor itself refuses.
    """
    eager = ConnectProtocol.EAGER
    return eager if found.plugin.protocols == (eager.value,) else protocol


def rounds_until_rest(leading: LeadingAssignor, rebalance: Rebalance, answer: ConnectAssignment) -> int | None:
    """Rebalances until nothing more follows from ``answer``, including the answered one.

    A copy of the assignor continues; the assignor itself stays unchanged.

    Returns:
        The number, or ``None`` if the group does not come to rest or the assignor cannot continue.
    """
    if not _asks_for_another(answer):
        return 1
    try:
        going_on = leading.copied()
    except Exception:  # noqa: BLE001 - a plugin may hold objects without a copy
        return None
    for rounds in range(2, MAX_ROUNDS + 1):
        at_once = answer.has_revocations or answer.rejoin
        after = _after(rebalance, answer)
        rebalance = attrs.evolve(
            rebalance,
            workers=[attrs.evolve(worker, owned=_reported(rebalance, after[worker.member_id]))
                     for worker in rebalance.workers],
            time_ms=rebalance.time_ms + (0 if at_once else answer.delay_ms),
            generation=rebalance.generation + 1,
            last_completed_generation=rebalance.generation,
            previous_protocol=rebalance.protocol,
        )  # fmt: skip
        following = going_on.ask(rebalance).answer
        if following is None:
            return None
        if not _asks_for_another(following):
            return rounds
        answer = following
    return None


def _reported(rebalance: Rebalance, owned: Jobs) -> Jobs:
    return owned if rebalance.protocol.is_incremental else NO_JOBS


def _asks_for_another(answer: ConnectAssignment) -> bool:
    return answer.has_revocations or answer.rejoin or answer.delay_ms > 0


def _after(rebalance: Rebalance, answer: ConnectAssignment) -> dict[str, Jobs]:
    assignments = {
        worker.member_id: answer.workers.get(worker.member_id, WorkerAssignment()) for worker in rebalance.workers
    }
    return attrs.evolve(answer, workers=assignments).owned_after(rebalance)


def _decision(rebalance: Rebalance, before: Mapping[str, Jobs], answer: ConnectAssignment) -> ConnectDecision:
    return ConnectDecision(
        configured=rebalance.configured,
        before=before,
        after=_after(rebalance, answer),
        stops_all=not rebalance.protocol.is_incremental,
        followup=_asks_for_another(answer),
    )
