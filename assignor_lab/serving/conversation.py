"""The exchange with one Java application: its questions, the answers, and its reports on them."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any

import attrs

from assignment_api import AssignorLabError, TaskId
from assignor_lab.documents.errors import Place, printable
from assignor_lab.kafka.leader.task_order import made_order_of
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.serving.deciding import BusyError, Decider
from assignor_lab.serving.decision_log import DecisionEntry, DecisionLog
from assignor_lab.serving.errors import PeerError
from assignor_lab.serving.link import MAX_FRAME_BYTES, DescriptorLink

__all__ = ["Conversation"]

#: Longest wait of a question for others; a shim's own deadline is shorter.
_MAX_WAIT_MS = 60_000
_MOST_TEXT = 2_000
#: Seconds for an application's report on an answer, which follows at once.
VERDICT_SECONDS = 2.0


@attrs.define(eq=False)
class Conversation:
    """The exchange after the handshake.

    Args:
        idle_seconds: Longest silence of the other end; ``None``: unlimited.
        stopped: Descriptor that becomes readable when the server stops.
    """

    link: DescriptorLink
    decider: Decider
    log: DecisionLog | None
    idle_seconds: float | None
    stopped: int | None
    _entry: DecisionEntry | None = attrs.field(default=None, init=False)

    def hold(self) -> None:
        """Answers until the other end closes, or the server stops.

        Raises:
            PeerError: if the other end breaks the protocol; no further question is answered.
        """
        try:
            while self._waits():
                document = self.link.receive(MAX_FRAME_BYTES)
                if document is None:
                    return
                self._take(document)
        finally:
            self._close_entry()

    def _waits(self) -> bool:
        if self._entry is not None and self.link.waits(VERDICT_SECONDS):
            return True
        self._close_entry()
        return self.link.waits(self.idle_seconds, self.stopped)

    def _take(self, document: Any) -> None:
        if not isinstance(document, dict):
            raise PeerError("a frame holds no JSON object")
        if "decided" in document:
            self._note(document["decided"])
        elif "missed" in document:
            self._miss(document["missed"])
        elif "ask" in document:
            self._close_entry()
            self._answer(document)
        else:
            raise PeerError(f"a frame has none of ask, decided and missed: {printable(str(list(document))[:200])}")

    def _answer(self, question: dict[str, Any]) -> None:
        group, wait_ms = question.get("group"), question.get("deadline_ms")
        if not isinstance(group, str) or type(wait_ms) is not int or not 0 < wait_ms <= _MAX_WAIT_MS:
            raise PeerError("a question has no group, or no deadline_ms in its range")
        try:
            scenario = _state(question["ask"])
        except AssignorLabError as error:
            self._refuse("state", str(error))
            return
        entry = self._entry = None if self.log is None else self.log.asked(scenario.document, group)
        start = perf_counter_ns()

        def tell(line: dict[str, Any]) -> None:
            if entry is not None:
                entry.result, entry.ms = line, (perf_counter_ns() - start) / 1e6
            self.link.send({"answer": line})

        try:
            self.decider.decide(scenario, group, wait_ms / 1_000, tell)
        except BusyError as error:
            self._refuse("busy", str(error))

    def _refuse(self, why: str, message: str) -> None:
        self.link.send({"refused": {"why": why, "message": message[:_MOST_TEXT]}})

    def _note(self, verdict: Any) -> None:
        if not isinstance(verdict, dict):
            raise PeerError("a decision is no JSON object")
        if self._entry is not None:
            self._entry.verdict = verdict
        self._close_entry()

    def _miss(self, message: Any) -> None:
        """Receives decisions that could not be reported at their time."""
        if self.log is None:
            return
        group, verdict = (message.get(key) if isinstance(message, dict) else None for key in ("group", "decided"))
        if not isinstance(group, str) or not isinstance(verdict, dict):
            raise PeerError("a missed decision has no group, or no answer")
        try:
            state = _state(message.get("ask"))
        except AssignorLabError as error:
            raise PeerError(f"a missed decision has no state: {error}") from None
        self.log.missed(state.document, group, verdict)

    def _close_entry(self) -> None:
        entry, self._entry = self._entry, None
        if entry is not None:
            entry.close()


def _state(document: Any) -> Scenario:
    return scenario_from_document(_with_tasks_as_made(document), Place("question"))


def _with_tasks_as_made(document: Any) -> Any:
    """The state with its tasks in Kafka's order; the application had them from a hash map.

    So the state equals the one from the group's log or recording, and has the same answer.
    """
    try:
        by_id = {TaskId.parse(task["id"]): task for task in document["tasks"]}
        made = [by_id[task] for task in made_order_of(list(by_id))]
        return {**document, "tasks": made} if len(made) == len(document["tasks"]) else document
    except (AssignorLabError, KeyError, TypeError, AttributeError):
        # It is no valid state; its reader raises the error.
        return document
