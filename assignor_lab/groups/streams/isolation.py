"""Task assignors for Streams, each in a process of its own."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api import ApplicationMetadata, AssignmentError, AssignorLabError
from assignment_api.plugins import FoundTaskAssignor, Policy
from assignment_api.utils.validation import strict_findings, validate_task_assignment
from assignor_lab.groups.streams.transfer import answer_of, plain
from assignor_lab.runtime.invocation import (
    MESSAGE_LIMIT,
    Failure,
    InvalidAnswerError,
    Outcome,
    RunnableAssignor,
    checked_answer,
    failure_of,
    invoke,
)
from assignor_lab.runtime.isolation.errors import AnswerFormatError, IsolationError
from assignor_lab.runtime.isolation.launching import launcher_of, search_path
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.process import PluginProcess, Question
from assignor_lab.runtime.packing import packed_application

__all__ = ["Asked", "IsolatedAssignor", "Isolation", "ask"]

_NAME_LIMIT = 200


class Isolation:
    """The processes of a run's plugins, one for each; they end with :meth:`close`, or with this object.

    Args:
        limits: What each of them may use.
        policy: Who is asked in a process of its own.
    """

    def __init__(self, limits: Limits, policy: Policy) -> None:
        self._limits = limits
        #: Who is asked in a process of its own.
        self.policy = policy
        self._processes: dict[tuple[str, str], PluginProcess] = {}
        #: The application that was packed last: in the first round of a history all are asked about the same one.
        self._packed: tuple[ApplicationMetadata, tuple[bytes, bytes]] | None = None
        weakref.finalize(self, _close_all, self._processes)

    def placed(self, found: FoundTaskAssignor) -> Asked:
        """``found``, or what asks it in a process of its own, as the policy wants it."""
        if not self.policy.isolates(found.distribution, found.name):
            return found
        return IsolatedAssignor(found.name, found.distribution, self)

    def process(self, kind: str, name: str, distribution: str | None) -> PluginProcess:
        """The process of a plugin.

        Args:
            kind: ``streams`` or ``connect``.
            name: Name that selects it.
            distribution: Distribution that it comes from; ``None``: it is ``module:attribute``.
        """

        def load() -> Question:
            return ("load", (name, distribution, kind, search_path()))

        key = (kind, name)
        if key not in self._processes:
            launcher = launcher_of(self._limits.environment)
            self._processes[key] = PluginProcess(name, self._limits, launcher, load)
        return self._processes[key]

    def packed(self, application: ApplicationMetadata) -> tuple[bytes, bytes]:
        """The application as it travels."""
        if self._packed is None or self._packed[0] is not application:
            self._packed = (application, packed_application(application))
        return self._packed[1]

    def close(self) -> None:
        """Ends all processes."""
        _close_all(self._processes)


def _close_all(processes: Mapping[tuple[str, str], PluginProcess]) -> None:
    for process in processes.values():
        process.close()


@attrs.frozen(eq=False)
class IsolatedAssignor:
    """A task assignor that is asked in a process of its own.

    Args:
        name: Name that selects it, and under which its answers are filed.
        distribution: Distribution that it comes from; ``None``: it is ``module:attribute``.
        isolation: The processes.
    """

    name: str
    distribution: str | None
    isolation: Isolation

    def invoke(self, application: ApplicationMetadata, configs: Mapping[str, Any], *, strict: bool = False) -> Outcome:
        """What comes of one call; as :func:`assignor_lab.runtime.invoke`, with the errors of isolation besides."""
        process = self.isolation.process("streams", self.name, self.distribution)
        try:
            document = process.ask(("streams", (*self.isolation.packed(application), plain(configs))))
        except IsolationError as error:
            return Outcome(None, failure_of(error), loss=error)
        try:
            return self._outcome(document, application, strict=strict)
        except AnswerFormatError:
            refused = process.refuse()
            return Outcome(None, failure_of(refused), loss=refused)

    def _outcome(self, document: dict[str, Any], application: ApplicationMetadata, *, strict: bool) -> Outcome:
        elapsed = duration_in(document)
        if "failure" in document:
            validation = AssignmentError.__members__.get(str(document.get("validation")), AssignmentError.NONE)
            return Outcome(None, failure_in(document), validation, assign_ns=elapsed)
        try:
            assignment = checked_answer(self.name, answer_of(application, document.get("answer")))
            validation = validate_task_assignment(application, assignment)
        except AnswerFormatError:
            raise
        except AssignorLabError as error:
            return Outcome(None, failure_of(error), assign_ns=elapsed)
        if validation is not AssignmentError.NONE:
            refused = InvalidAnswerError(f"assignor {self.name}: Kafka refuses this assignment: {validation.name}")
            return Outcome(None, failure_of(refused), validation, assign_ns=elapsed)
        findings = strict_findings(application, assignment) if strict else ()
        return Outcome(assignment, None, findings=findings, assign_ns=elapsed)


def duration_in(document: Mapping[str, Any]) -> int:
    """The nanoseconds that a process reports.

    Raises:
        AnswerFormatError: if they are none.
    """
    elapsed = document.get("ns", 0)
    if type(elapsed) is not int or not 0 <= elapsed < 1 << 62:
        raise AnswerFormatError("a duration that is none")
    return elapsed


def failure_in(document: Mapping[str, Any]) -> Failure:
    """The failure that a process reports.

    Raises:
        AnswerFormatError: if it is none.
    """
    parts = document["failure"]
    if type(parts) is not list or [isinstance(part, str | None) for part in parts] != [True] * 3:
        raise AnswerFormatError("a failure that is none")
    name, java_type, message = parts
    if name is None or message is None:
        raise AnswerFormatError("a failure that is none")
    return Failure(name[:_NAME_LIMIT], None if java_type is None else java_type[:_NAME_LIMIT], message[:MESSAGE_LIMIT])


#: An assignor that :func:`ask` can ask.
Asked = RunnableAssignor | IsolatedAssignor


def ask(
    assignor: Asked, application: ApplicationMetadata, configs: Mapping[str, Any], *, strict: bool = False
) -> Outcome:
    """What ``assignor`` makes of ``application``, wherever it runs; arguments as for ``invoke``."""
    if isinstance(assignor, IsolatedAssignor):
        return assignor.invoke(application, configs, strict=strict)
    return invoke(assignor, application, configs, strict=strict)
