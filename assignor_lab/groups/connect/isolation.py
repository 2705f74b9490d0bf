"""Assignors for Connect, each in a process of its own.

Such an assignor may keep what it needs from round to round. Where its process has to be started again, it is taken
through the rounds that it has answered, so that it goes on as if nothing had happened to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from assignment_api import AssignorLabError
from assignment_api.connect import Rebalance
from assignment_api.plugins import FoundConnectAssignor
from assignor_lab.groups.connect.invocation import ConnectOutcome, LeadingAssignor, checked_connect_answer
from assignor_lab.groups.connect.transfer import connect_answer_of, packed_rebalance
from assignor_lab.groups.streams.isolation import Isolation, duration_in, failure_in
from assignor_lab.groups.streams.transfer import plain
from assignor_lab.runtime.invocation import failure_of
from assignor_lab.runtime.isolation.errors import AnswerFormatError, IsolationError
from assignor_lab.runtime.isolation.process import Question

__all__ = ["IsolatedLeadingAssignor", "Leading", "leading_assignor"]

_numbers = count(1)


class IsolatedLeadingAssignor:
    """The assignor of one worker, as :class:`~assignor_lab.groups.connect.invocation.LeadingAssignor`.

    Args:
        found: Entry of a registry.
        configs: Effective configuration of the worker.
        isolation: The processes.
    """

    def __init__(self, found: FoundConnectAssignor, configs: Mapping[str, Any], isolation: Isolation) -> None:
        self._found = found
        self._configs = configs
        self._isolation = isolation
        self._process = isolation.process("connect", found.name, found.distribution)
        self._number = next(_numbers)
        #: The rounds that it has answered, and the start of the process in which it knows of them.
        self._past: list[bytes] = []
        self._start = -1

    def assign(self, rebalance: Rebalance) -> ConnectOutcome:
        """Lets the assignor place the jobs of a group; what comes of it, the errors of isolation included."""
        packed = packed_rebalance(rebalance)

        def question(start: int) -> Question:
            past = None if start == self._start else tuple(self._past)
            return ("connect", (self._number, plain(self._configs), past, packed))

        try:
            document = self._process.ask(question)
        except IsolationError as error:
            return ConnectOutcome(None, failure_of(error), loss=error)
        self._start = self._process.start
        try:
            elapsed = duration_in(document)
            if "failure" in document:
                return ConnectOutcome(None, failure_in(document), assign_ns=elapsed)
            answer = connect_answer_of(document.get("answer"))
        except AnswerFormatError:
            refused = self._process.refuse()
            return ConnectOutcome(None, failure_of(refused), loss=refused)
        try:
            checked = checked_connect_answer(self._found.name, answer, rebalance)
        except AssignorLabError as error:
            return ConnectOutcome(None, failure_of(error), assign_ns=elapsed)
        self._past.append(packed)
        return ConnectOutcome(checked, None, assign_ns=elapsed)

    def copied(self) -> IsolatedLeadingAssignor:
        """Another one with the same past, to see what would follow.

        Raises:
            IsolationError: if the plugin's object cannot be copied, or its process does not answer.
        """
        other = IsolatedLeadingAssignor(self._found, self._configs, self._isolation)
        document = self._process.ask(("connect_copy", (self._number, other._number)))
        if "failure" in document or self._process.start != self._start:
            raise IsolationError(f"assignor {self._found.name} cannot be copied")
        other._past, other._start = list(self._past), self._start
        return other


#: An assignor that leads, wherever it runs.
Leading = LeadingAssignor | IsolatedLeadingAssignor


def leading_assignor(found: FoundConnectAssignor, configs: Mapping[str, Any], isolation: Isolation | None) -> Leading:
    """The assignor of one worker, where the policy wants it to run; ``isolation`` None: in this process."""
    if isolation is not None and isolation.policy.isolates(found.distribution, found.name):
        return IsolatedLeadingAssignor(found, configs, isolation)
    return LeadingAssignor(found, configs)
