"""GateContenders of trials: assignors of a registry, in this process or isolated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import count
from typing import Any

from assignment_api import AssignorLabError
from assignment_api.conformance import KINDS, InProcessSubject, Raised, Reply, Subject
from assignor_lab.groups.kind import FoundAssignor
from assignor_lab.runtime.assignor_calls import AssignorCalls, runs_apart
from assignor_lab.runtime.isolation.errors import AnswerFormatError, IsolationError
from assignor_lab.runtime.isolation.launching import launcher_of
from assignor_lab.runtime.isolation.plugins import Isolation, origin_of, plain, process_of
from assignor_lab.runtime.isolation.process import PluginProcess

__all__ = ["subject_of"]

#: Handler in the assignor's process.
_ASK = "assignor_lab.conformance.trial_calls:ask"
_MOST_TEXT = 4_000
_numbers = count(1)


def subject_of(kind: str, asking: AssignorCalls[Any, Any], found: FoundAssignor, isolation: Isolation) -> Subject[Any]:
    """An assignor in the process that the policy requires.

    Args:
        kind: Kind of its groups.
        asking: Calls of assignors of this kind.
        isolation: The policy, and the limits of a process.
    """
    if runs_apart(found, isolation.policy):
        return _IsolatedSubject(kind, asking, found, isolation, 0)
    # A trusted assignor runs here, and also in another process, which shows its dependence on the process.
    seed = 2 if os.environ.get("PYTHONHASHSEED") == "1" else 1
    return InProcessSubject(
        found.name,
        lambda: asking.created(found),
        KINDS[kind].answering,
        lambda: _IsolatedSubject(kind, asking, found, isolation, seed),
    )


class _IsolatedSubject:
    """An isolated assignor, with its usual limits."""

    def __init__(
        self, kind: str, asking: AssignorCalls[Any, Any], found: FoundAssignor, isolation: Isolation, hash_seed: int
    ) -> None:
        self.name = found.name
        self._parts = (kind, asking, found, isolation)
        self._hash_seed = hash_seed
        launcher = launcher_of(isolation.limits.environment, hash_seed)
        self._process = process_of(
            asking, found.name, found.distribution, isolation.limits, launcher, origin=origin_of(found), shows=False
        )

    def leader(self) -> _IsolatedLeader:
        kind, asking, _, _ = self._parts
        return _IsolatedLeader(kind, asking, self._process, next(_numbers))

    def elsewhere(self) -> _IsolatedSubject:
        return _IsolatedSubject(*self._parts, hash_seed=self._hash_seed + 1)


class _IsolatedLeader:
    """A leader with an isolated assignor."""

    def __init__(self, kind: str, asking: AssignorCalls[Any, Any], process: PluginProcess, number: int) -> None:
        self._kind, self._asking, self._process, self._number = kind, asking, process, number

    def ask(self, state: Any, configs: Mapping[str, object], *, watched: bool = False) -> Reply:
        packed = self._asking.packed(state)
        try:
            document = self._process.ask((_ASK, (self._kind, self._number, plain(configs), packed, watched)))
        except IsolationError as error:
            place = _text(getattr(error, "stopped_at", ""))
            return Reply(raised=Raised(type(error).__name__, str(error), place, is_loss=True))
        try:
            return self._reply(state, document)
        except (AnswerFormatError, KeyError, TypeError, ValueError):
            refused = self._process.refuse()
            return Reply(raised=Raised(type(refused).__name__, str(refused), is_loss=True))

    def _reply(self, state: Any, document: Mapping[str, Any]) -> Reply:
        """A possibly forged reply: texts are cut here, and the trial checks the rest."""
        if "failure" in document:
            name, _, message, where = document["failure"]
            return Reply(raised=Raised(_text(name), _text(message), _text(where)))
        spent = int(document["ns"])
        changed = _text(document["changed"])
        seen = [(_text(rule), _text(sentence)) for rule, sentence in document["seen"]]
        if any(rule not in ("no clock", "no chance", "no machine") for rule, _ in seen):
            raise AnswerFormatError("a rule that is not watched")
        if "raised" in document:
            name, message, traceback, is_refusal, is_late = document["raised"]
            raised = Raised(
                _text(name), _text(message), _text(traceback), is_refusal is True, after_answer=is_late is True
            )
            return Reply(raised=raised, input_changed=changed, seen=seen, cpu_ns=spent)
        if "badly_typed" in document:
            return Reply(badly_typed=_text(document["badly_typed"]), input_changed=changed, seen=seen, cpu_ns=spent)
        try:
            answer = self._asking.answer_of(state, document["answer"])
        except AnswerFormatError:
            raise
        except AssignorLabError as error:
            return Reply(badly_typed=str(error), input_changed=changed, seen=seen, cpu_ns=spent)
        return Reply(answer, None, changed, seen, spent)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise AnswerFormatError("a text that is none")
    return value[:_MOST_TEXT]
