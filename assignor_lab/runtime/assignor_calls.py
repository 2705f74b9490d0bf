"""Calls of an assignor: the boundary to its plugin, and calls in this process.

One :class:`AssignorCalls` contains the differences between kinds of groups: selection, construction, call and check of
an assignor, and the transfer of state and answer. The rest is here and in
:mod:`assignor_lab.runtime.isolation.isolated`. :func:`assignor_for` chooses between the two.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from time import perf_counter_ns, thread_time_ns
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import attrs

from assignment_api import AssignmentError
from assignment_api.plugins import Policy, Registry
from assignment_api.plugins.keys import is_setting
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignment_api.tracing import RuleStep, Traced
from assignor_lab.runtime.invocation import (
    CallOutcome,
    CallTimes,
    InputMutatedError,
    InvalidAnswerError,
    NamedAssignor,
    failure_of,
    prints_to_stderr,
)
from assignor_lab.runtime.read_keys import ReadKeys

__all__ = [
    "CalledAssignor",
    "AsksElsewhere",
    "AssignorCalls",
    "InProcessAssignor",
    "OwnProcesses",
    "TracingAssignor",
    "assignor_for",
    "concluded",
    "traced_rules",
    "runs_apart",
]

S = TypeVar("S")
A = TypeVar("A")
S_contra = TypeVar("S_contra", contravariant=True)


class AssignorCalls(ABC, Generic[S, A]):
    """Calls of assignors of one kind, with states ``S`` and answers ``A``.

    Each kind has one object of its subclass, in a module with few imports, because the processes of plugins import it,
    too.
    """

    #: Place of that object as ``module:attribute``, for the processes of plugins.
    place: str
    #: True if an assignor object lives as long as its leader, as in Connect; else each call has a new one.
    lives = False

    # --- selection --------------------------------------------------------------------------------

    @abstractmethod
    def select(self, registry: Registry, selector: str, *, may_run_code: bool) -> Any: ...

    @abstractmethod
    def from_code(self, selector: str) -> Any:
        """The entry for ``module:attribute``; the caller has checked that the policy allows the import.

        Raises:
            PluginLoadError: if the import fails, or the attribute is no assignor.
        """

    # --- one call ---------------------------------------------------------------------------------

    @abstractmethod
    def created(self, found: Any) -> Any:
        """A new assignor object without configuration; exceptions of the plugin's factory pass through."""

    def shown(self, state: S) -> S:
        """The assignor's view of the state: the state itself, unless parts are hidden."""
        return state

    def fingerprint(self, state: S) -> object:
        """The whole input of the assignor, for a comparison before and after a call in this process."""
        return repr(state)

    def called(self, assignor: Any, shown: S) -> object:
        return assignor.assign(shown)

    def traced(self, assignor: Any, shown: S) -> Any:
        return assignor.traced(shown)

    @abstractmethod
    def checked(self, name: str, answer: object, state: S, *, is_trusted: bool) -> A:
        """Returns ``answer`` if every item in it has the type of the SPI, and if it fits ``state``.

        Args:
            is_trusted: True for this project's assignors, which skip checks for careless mistakes.

        Raises:
            InvalidAnswerError: naming the first fault.
        """

    def validated(self, state: S, answer: A, assignor: Any | None) -> AssignmentError | None:
        """The result of Kafka's own validation; ``None`` if Kafka validates no answers of this kind.

        Args:
            assignor: The assignor, for Kafka's callback; ``None`` if it has been called already.
        """
        return None

    def refusal(self, state: S, answer: A, validation: AssignmentError) -> str:
        """The meaning of the validation's result, with the tasks and members concerned, as a sentence."""
        return ""

    # --- transfer to another process ----------------------------------------------------------------

    @abstractmethod
    def packed(self, state: S) -> tuple[bytes, ...]: ...

    @abstractmethod
    def receiver(self) -> Callable[..., S]:
        """Builds states from the parts of :meth:`packed`; it may keep common parts of states."""

    def prepare(self, state: S) -> None:
        """Prepares the input of :meth:`answer_of` and :meth:`validated` while another process answers."""

    @abstractmethod
    def answer_document(self, state: S, answer: A) -> Any: ...

    @abstractmethod
    def answer_of(self, state: S, document: object) -> A:
        """The answer in a document; a plugin may have forged it, so everything in it is checked.

        Raises:
            AnswerFormatError: if the document is malformed.
            AssignorLabError: if the answer is impossible.
        """


class CalledAssignor(Protocol[S, A]):
    """An assignor with its configuration, in any process."""

    def ask(self, state: S) -> CallOutcome[A]:
        """The outcome of one call, including every failure of the plugin; only ``KeyboardInterrupt`` passes."""

    def copied(self) -> CalledAssignor[S, A]:
        """Another assignor with the same memory, for trial calls.

        Raises:
            Exception: from copying the plugin's object.
        """


@runtime_checkable
class TracingAssignor(Protocol[S_contra, A]):
    """An assignor that may report the steps to its answer, in any process."""

    def traced(self, state: S_contra) -> Traced[A] | None: ...


class OwnProcesses(Protocol):
    """Processes of isolated assignors (:mod:`assignor_lab.runtime.isolation.plugins`)."""

    @property
    def policy(self) -> Policy: ...

    def assignor(
        self, asking: AssignorCalls[S, A], found: NamedAssignor, configs: Mapping[str, object]
    ) -> CalledAssignor[S, A]: ...


class AsksElsewhere:
    """A factory of assignors that forward their calls and cannot change their input."""

    def relay(self, configs: Mapping[str, object], packed: tuple[bytes, ...]) -> Any:
        """Forwards a packed state without building it here.

        Returns:
            The answer in the form of :meth:`AssignorCalls.answer_document`; ``None`` if an assignor has to be created
            and called.

        Raises:
            Exception: of the assignor.
        """
        return None


class InProcessAssignor(Generic[S, A]):
    """An assignor in this process."""

    def __init__(self, asking: AssignorCalls[S, A], found: NamedAssignor, configs: Mapping[str, object]) -> None:
        self._asking = asking
        self._found = found
        has_settings = any(map(is_setting, configs)) and not getattr(getattr(found, "plugin", None), "settings", ())
        self._read = ReadKeys(configs) if has_settings else None
        self._configs = configs if self._read is None else self._read
        self._is_trusted = found.distribution == BUILTIN_DISTRIBUTION
        factory = getattr(getattr(found, "plugin", None), "factory", None)
        self._keeps_input = self._is_trusted or isinstance(factory, AsksElsewhere)
        self._assignor: Any = None

    def ask(self, state: S) -> CallOutcome[A]:
        outcome = self._asked(state)
        if self._read is None or outcome.failure is not None:
            return outcome
        return attrs.evolve(outcome, unread=self._read.unread)

    def _asked(self, state: S) -> CallOutcome[A]:
        asking = self._asking
        before = None if self._keeps_input else asking.fingerprint(state)
        shown = asking.shown(state)
        outcome = self._called(state, shown)
        # The assignor's view may share parts with the state and have its own parts: both are checked.
        if not self._keeps_input and any(self._fingerprint(seen) != before for seen in _different(shown, state)):
            error = InputMutatedError(
                f"assignor {self._found.name} changed its input: inputs are immutable by contract"
            )
            return CallOutcome(failure_of(error), **outcome.times, input_mutated=True)
        return outcome

    def copied(self) -> InProcessAssignor[S, A]:
        other = InProcessAssignor(self._asking, self._found, self._configs)
        with prints_to_stderr():
            other._assignor = copy.deepcopy(self._assignor)
        return other

    def traced(self, state: S) -> Traced[A] | None:
        asking = self._asking
        try:
            with prints_to_stderr():
                assignor = self._made()
                if not hasattr(assignor, "traced"):
                    return None
                traced = asking.traced(assignor, asking.shown(state))
                if not isinstance(traced, Traced) or not all(isinstance(step, RuleStep) for step in traced.steps):
                    return None
                answer = asking.checked(self._found.name, traced.answer, state, is_trusted=self._is_trusted)
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - a plugin may raise anything, and its answer is known already
            return None
        return Traced(answer, tuple(traced.steps), traced_rules(traced))

    def _called(self, state: S, shown: S) -> CallOutcome[A]:
        asking, name = self._asking, self._found.name
        times: CallTimes = {"assign_ns": 0, "processor_ns": 0}
        try:
            with prints_to_stderr():
                assignor = self._made()
                start, used = perf_counter_ns(), thread_time_ns()
                try:
                    given = asking.called(assignor, shown)
                finally:
                    used = thread_time_ns() - used
                    times = {"assign_ns": perf_counter_ns() - start, "processor_ns": used}
                answer = asking.checked(name, given, state, is_trusted=self._is_trusted)
                validation = asking.validated(state, answer, assignor)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            return CallOutcome(failure_of(error), **times, out_of_memory=isinstance(error, MemoryError))
        return concluded(asking, name, state, answer, validation, times)

    def _made(self) -> Any:
        if self._assignor is not None:
            return self._assignor
        made = self._asking.created(self._found)
        made.configure(self._configs)
        if self._asking.lives:
            self._assignor = made
        return made

    def _fingerprint(self, state: S) -> object:
        try:
            return self._asking.fingerprint(state)
        except Exception:  # noqa: BLE001 - a plugin may have put anything in place of what was there
            return None


def traced_rules(traced: Traced[Any]) -> dict[str, str]:
    """Texts of the rules of some steps, if the assignor provides them as texts."""
    # A plugin may have put any object there.
    rules: Any = traced.rules
    steps: Any = traced.steps
    if not isinstance(rules, Mapping):
        return {}
    used = dict.fromkeys(step.rule for step in steps if type(step.rule) is str)
    return {rule: text for rule in used if type(text := rules.get(rule)) is str}


def _different(shown: S, state: S) -> tuple[S, ...]:
    return (state,) if shown is state else (shown, state)


def concluded(
    asking: AssignorCalls[S, A], name: str, state: S, answer: A, validation: AssignmentError | None, times: CallTimes
) -> CallOutcome[A]:
    """The outcome of a call with a well-formed answer: a failure if Kafka's validation refuses the answer."""
    if validation in (None, AssignmentError.NONE):
        return CallOutcome(answer, **times, validation=validation)
    assert validation is not None
    sentence = asking.refusal(state, answer, validation)
    why = f"{validation.name}: {sentence}" if sentence else validation.name
    refused = InvalidAnswerError(f"assignor {name}: Kafka refuses this assignment: {why}")
    return CallOutcome(failure_of(refused), **times, validation=validation)


def assignor_for(
    asking: AssignorCalls[S, A],
    found: NamedAssignor,
    configs: Mapping[str, object],
    isolation: OwnProcesses | None = None,
) -> CalledAssignor[S, A]:
    """The assignor of ``found`` with its configuration, in the process that the policy requires.

    Args:
        isolation: The policy and the processes of isolated assignors; ``None`` runs all imported assignors in this
            process.
    """
    if isolation is not None and isolation.policy.isolates(found.distribution, found.name):
        return isolation.assignor(asking, found, configs)
    apart = _processes_of(found)
    if apart is not None:
        return apart.assignor(asking, found, configs)
    return InProcessAssignor(asking, found, configs)


def runs_apart(found: NamedAssignor, policy: Policy) -> bool:
    """True if :func:`assignor_for` returns an assignor in its own process."""
    return policy.isolates(found.distribution, found.name) or _processes_of(found) is not None


def _processes_of(found: NamedAssignor) -> OwnProcesses | None:
    """The processes of an assignor that was described in its own process, so that it is not imported here."""
    apart: OwnProcesses | None = getattr(getattr(getattr(found, "plugin", None), "factory", None), "isolation", None)
    return apart
