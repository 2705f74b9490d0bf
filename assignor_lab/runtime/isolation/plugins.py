"""The processes of a run's plugins, one for each, and calls of the assignors in them."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs

from assignment_api import AssignmentError, AssignorLabError
from assignment_api.plugins import Policy
from assignment_api.plugins.tracebacks import TRACEBACK_LIMIT
from assignment_api.tracing import RuleStep, Traced
from assignor_lab.runtime.assignor_calls import AssignorCalls, CalledAssignor, concluded
from assignor_lab.runtime.invocation import (
    MESSAGE_LIMIT,
    CallFailure,
    CallOutcome,
    CallTimes,
    NamedAssignor,
    failure_of,
)
from assignor_lab.runtime.isolation.errors import AnswerFormatError, IsolationError
from assignor_lab.runtime.isolation.launching import Launcher, launcher_of, search_path
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.origin import AssignorOrigin, PluginOrigin
from assignor_lab.runtime.isolation.process import PluginProcess, Question

__all__ = ["IsolatedAssignor", "Isolation", "failure_in", "origin_of", "plain", "process_of"]

S = TypeVar("S")
A = TypeVar("A")

HANDLERS = "assignor_lab.runtime.isolation.handlers"
_NAME_LIMIT = 200
#: Most steps of an answer, and most clients of a step.
MOST_STEPS, MOST_CLIENTS = 200_000, 100
_numbers = count(1)


class Isolation:
    """The processes of a run's plugins, one for each; they end with :meth:`close`, or with this object."""

    def __init__(self, limits: Limits, policy: Policy) -> None:
        self.limits = limits
        self.policy = policy
        self._processes: dict[object, PluginProcess] = {}
        #: The last packed state: in the first round of a history all assignors get the same one.
        self._packed: tuple[object, tuple[bytes, ...]] | None = None
        weakref.finalize(self, _close_all, self._processes)

    def assignor(
        self, asking: AssignorCalls[S, A], found: NamedAssignor, configs: Mapping[str, object]
    ) -> CalledAssignor[S, A]:
        return IsolatedAssignor(asking, found, configs, self)

    def process(self, asking: AssignorCalls[Any, Any], found: NamedAssignor) -> PluginProcess:
        key = (asking.place, found.distribution, found.name)
        if key not in self._processes:
            launcher = launcher_of(self.limits.environment)
            self._processes[key] = process_of(
                asking, found.name, found.distribution, self.limits, launcher, origin=origin_of(found)
            )
        return self._processes[key]

    def process_at(self, origin: PluginOrigin, load: str, modules: Sequence[str]) -> PluginProcess:
        """The process of an entry point's offers other than assignors.

        Args:
            load: Its importer there: ``module:function`` with the search path and the origin as arguments.
        """
        if origin not in self._processes:
            self._processes[origin] = PluginProcess(
                f"plugin {origin.name} of {origin.distribution}",
                self.limits,
                launcher_of(self.limits.environment),
                lambda: (load, (search_path(), origin)),
                modules,
            )
        return self._processes[origin]

    def packed(self, asking: AssignorCalls[S, A], state: S) -> tuple[bytes, ...]:
        if self._packed is None or self._packed[0] is not state:
            self._packed = (state, asking.packed(state))
        return self._packed[1]

    def close(self) -> None:
        _close_all(self._processes)


def _close_all(processes: Mapping[object, PluginProcess]) -> None:
    for process in processes.values():
        process.close()


def origin_of(found: NamedAssignor) -> AssignorOrigin | None:
    """The origin of an assignor that was described in its own process; ``None`` for any other."""
    origin = getattr(getattr(getattr(found, "plugin", None), "factory", None), "origin", None)
    return origin if isinstance(origin, AssignorOrigin) else None


def process_of(
    asking: AssignorCalls[Any, Any],
    name: str,
    distribution: str | None,
    limits: Limits,
    launcher: Launcher,
    *,
    origin: AssignorOrigin | None = None,
    shows: bool = True,
) -> PluginProcess:
    """A process for one assignor, which imports no other one; it starts with its first call."""

    def load() -> Question:
        # Named code may be in the working directory, searched after all installed modules.
        path = search_path() if origin is not None else [*search_path(), str(Path.cwd())]
        return (f"{HANDLERS}:load", (asking.place, name, distribution, path, origin))

    modules = (HANDLERS, asking.place.partition(":")[0])
    return PluginProcess(f"assignor {name}", limits, launcher, load, modules, shows=shows)


class IsolatedAssignor(Generic[S, A]):
    """An assignor in its own process.

    An assignor with the life time of its leader may keep memory from call to call. If its process has to be started
    again, the answered calls are repeated, so that it continues with the same memory.
    """

    def __init__(
        self, asking: AssignorCalls[S, A], found: NamedAssignor, configs: Mapping[str, object], isolation: Isolation
    ) -> None:
        self._asking = asking
        self._found = found
        self._configs = plain(configs)
        self._isolation = isolation
        self._process = isolation.process(asking, found)
        self._number = next(_numbers) if asking.lives else 0
        #: The answered calls, and the start of the process that has them in its memory.
        self._past: list[tuple[bytes, ...]] = []
        self._start = -1

    def ask(self, state: S) -> CallOutcome[A]:
        packed = self._isolation.packed(self._asking, state)
        try:
            document = self._process.ask(
                lambda start: self._question(start, packed), meanwhile=lambda: self._asking.prepare(state)
            )
        except IsolationError as error:
            return CallOutcome(failure_of(error), loss=error)
        self._start = self._process.start
        try:
            outcome = self._outcome(document, state)
        except AnswerFormatError:
            refused = self._process.refuse()
            return CallOutcome(failure_of(refused), loss=refused)
        if self._asking.lives and outcome.failure is None:
            self._past.append(packed)
        return outcome

    def traced(self, state: S) -> Traced[A] | None:
        packed = self._isolation.packed(self._asking, state)
        try:
            document = self._process.ask((f"{HANDLERS}:traced", (self._configs, tuple(self._past), packed)))
        except IsolationError:
            # Its answer, or the lack of one, has been reported already.
            return None
        try:
            steps = _steps_in(document)
            if steps is None:
                return None
            given = self._asking.answer_of(state, document.get("answer"))
            answer = self._asking.checked(self._found.name, given, state, is_trusted=False)
            return Traced(answer, steps, _rules_in(document, steps))
        except AnswerFormatError:
            self._process.refuse()
            return None
        except AssignorLabError:
            return None

    def copied(self) -> IsolatedAssignor[S, A]:
        """Another assignor with the same memory, for trial calls.

        Raises:
            IsolationError: if the plugin's object cannot be copied, or its process does not answer.
        """
        other = IsolatedAssignor(self._asking, self._found, self._configs, self._isolation)
        document = self._process.ask((f"{HANDLERS}:copied", (self._number, other._number)))
        if "failure" in document or self._process.start != self._start:
            raise IsolationError(f"assignor {self._found.name} cannot be copied")
        other._past, other._start = list(self._past), self._start
        return other

    def _question(self, start: int, packed: tuple[bytes, ...]) -> Question:
        if not self._asking.lives:
            return (f"{HANDLERS}:asked", (self._configs, packed))
        past = None if start == self._start else tuple(self._past)
        return (f"{HANDLERS}:asked_again", (self._number, self._configs, past, packed))

    def _outcome(self, document: Mapping[str, Any], state: S) -> CallOutcome[A]:
        times = _times_in(document)
        if "failure" in document:
            validation = AssignmentError.__members__.get(str(document.get("validation")))
            return CallOutcome(failure_in(document), **times, validation=validation)
        name = self._found.name
        try:
            given = self._asking.answer_of(state, document.get("answer"))
            answer = self._asking.checked(name, given, state, is_trusted=False)
            validation = self._asking.validated(state, answer, None)
        except AnswerFormatError:
            raise
        except AssignorLabError as error:
            return CallOutcome(failure_of(error), **times)
        return attrs.evolve(
            concluded(self._asking, name, state, answer, validation, times),
            unread=self._unread_in(document.get("unread")),
        )

    def _unread_in(self, keys: object) -> tuple[str, ...]:
        """Keys in a process's report, of those that it was given."""
        return tuple(key for key in self._configs if key in keys) if isinstance(keys, list) else ()


def _times_in(document: Mapping[str, Any]) -> CallTimes:
    """The nanoseconds in a process's report.

    Raises:
        AnswerFormatError: if they are malformed.
    """
    elapsed = document.get("ns", 0)
    used = document.get("processor_ns", elapsed)
    for duration in (elapsed, used):
        if type(duration) is not int or not 0 <= duration < 1 << 62:
            raise AnswerFormatError("a duration that is none")
    return {"assign_ns": elapsed, "processor_ns": used}


def _steps_in(document: Mapping[str, Any]) -> tuple[RuleStep, ...] | None:
    """The steps in a process's report; ``None``: none.

    Raises:
        AnswerFormatError: if they are malformed.
    """
    steps = document.get("steps")
    if steps is None:
        return None
    if type(steps) is not list or len(steps) > MOST_STEPS:
        raise AnswerFormatError("steps that are none")
    return tuple(map(_step, steps))


def _rules_in(document: Mapping[str, Any], steps: Sequence[RuleStep]) -> dict[str, str]:
    rules = document.get("rules")
    if type(rules) is not dict:
        raise AnswerFormatError("rules that are none")
    used = dict.fromkeys(step.rule for step in steps)
    return {rule: text[:MESSAGE_LIMIT] for rule in used if type(text := rules.get(rule)) is str}


def _step(fields: Any) -> RuleStep:
    if type(fields) is not list or len(fields) != 4 or type(fields[3]) is not list:
        raise AnswerFormatError("a step that is none")
    *texts, clients = fields
    if not all(type(text) is str for text in (*texts, *clients)):
        raise AnswerFormatError("a step that is none")
    rule, task, text = texts
    return RuleStep(rule[:_NAME_LIMIT], task, text[:MESSAGE_LIMIT], tuple(clients[:MOST_CLIENTS]))


def failure_in(document: Mapping[str, Any]) -> CallFailure:
    """The failure in a process's report.

    Raises:
        AnswerFormatError: if it is malformed.
    """
    parts = document["failure"]
    if type(parts) is not list or [isinstance(part, str | None) for part in parts] != [True] * 4:
        raise AnswerFormatError("a failure that is none")
    name, java_type, message, where = parts
    if name is None or message is None or where is None:
        raise AnswerFormatError("a failure that is none")
    kafkas = None if java_type is None else java_type[:_NAME_LIMIT]
    return CallFailure(name[:_NAME_LIMIT], kafkas, message[:MESSAGE_LIMIT], where[:TRACEBACK_LIMIT])


def plain(value: Any) -> Any:
    """Configuration as plain data, because read-only mappings cannot be transferred."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return value
