"""An assignor that is asked: the boundary to its plugin, and the calls in this process.

What differs by kind of group is in one :class:`Asking`: how an assignor is selected, made, called and checked, and how
question and answer travel to a process of its own and back. Everything else is here and in
:mod:`assignor_lab.runtime.isolation.isolated`, once. :func:`assignor_for` is the one door to both.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from time import perf_counter_ns
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from assignment_api import AssignmentError
from assignment_api.plugins import Policy, Registry
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION
from assignment_api.tracing import RuleStep, Traced
from assignor_lab.runtime.invocation import (
    CallOutcome,
    InputMutatedError,
    InvalidAnswerError,
    NamedAssignor,
    failure_of,
    prints_to_stderr,
)

__all__ = [
    "AskedAssignor",
    "AsksElsewhere",
    "Asking",
    "InProcessAssignor",
    "OwnProcesses",
    "TracingAssignor",
    "assignor_for",
    "concluded",
    "rules_told",
    "runs_apart",
]

S = TypeVar("S")
A = TypeVar("A")
S_contra = TypeVar("S_contra", contravariant=True)


class Asking(ABC, Generic[S, A]):
    """How assignors of one kind are asked. ``S`` is what they are shown, ``A`` is what they answer.

    A kind has one object of its subclass, in a module that imports little: plugins' processes import it, too.
    """

    #: Where that object is, as ``module:attribute``: a plugin's process finds it by this.
    place: str
    #: Whether an assignor object lives as long as its leader, as in Connect; else each call has a new one.
    lives = False

    # --- selecting --------------------------------------------------------------------------------

    @abstractmethod
    def select(self, registry: Registry, selector: str, *, may_run_code: bool) -> Any:
        """The registry's entry that ``selector`` means; raises as :class:`assignment_api.plugins.Registry` does."""

    @abstractmethod
    def from_code(self, selector: str) -> Any:
        """The entry for ``module:attribute``, for who knows that the policy allows to import it.

        Raises:
            PluginLoadError: if it cannot be imported, or is something else.
        """

    # --- one call ---------------------------------------------------------------------------------

    @abstractmethod
    def created(self, found: Any) -> Any:
        """A new assignor object, not yet configured; what the plugin's factory raises passes through."""

    def shown(self, state: S) -> S:
        """The state as the assignor is given it: as it is, unless there is something to hide."""
        return state

    def fingerprint(self, state: S) -> object:
        """Everything that the assignor is shown, to compare before and after a call within this process."""
        return repr(state)

    def called(self, assignor: Any, shown: S) -> object:
        """Lets the assignor answer; this is the time that is measured."""
        return assignor.assign(shown)

    def traced(self, assignor: Any, shown: S) -> Any:
        """Lets an assignor that has ``traced`` answer with its steps."""
        return assignor.traced(shown)

    @abstractmethod
    def checked(self, name: str, answer: object, state: S, *, is_trusted: bool) -> A:
        """``answer`` once every item in it has the type that the SPI says, and it fits ``state``.

        Args:
            name: Who answered.
            answer: What came.
            state: What was asked.
            is_trusted: Of this project; what only a careless author could get wrong need not be looked at.

        Raises:
            InvalidAnswerError: naming the first fault.
        """

    def validated(self, state: S, answer: A, assignor: Any | None) -> AssignmentError | None:
        """What Kafka's own validation says; ``None`` where Kafka validates no answers of this kind.

        Args:
            state: What was asked.
            answer: The answer, checked.
            assignor: Who answered, for a callback that Kafka makes then; ``None``: it has been called already.
        """
        return None

    def refusal(self, state: S, answer: A, validation: AssignmentError) -> str:
        """What Kafka's validation means for this answer: the tasks and members concerned, in a sentence."""
        return ""

    # --- on the way to a process of its own ---------------------------------------------------------

    @abstractmethod
    def packed(self, state: S) -> tuple[bytes, ...]:
        """The state as it travels."""

    @abstractmethod
    def receiver(self) -> Callable[..., S]:
        """What makes states of the parts that :meth:`packed` gives; it may keep what states have in common."""

    def prepare(self, state: S) -> None:
        """Gets ready what :meth:`answer_of` and :meth:`validated` will need, while another process answers."""

    @abstractmethod
    def answer_document(self, state: S, answer: A) -> Any:
        """The answer as JSON."""

    @abstractmethod
    def answer_of(self, state: S, document: object) -> A:
        """The answer in a document that a plugin may have forged: nothing in it is taken on trust.

        Raises:
            AnswerFormatError: if it is none.
            AssignorLabError: if it is an answer that cannot be.
        """


class AskedAssignor(Protocol[S, A]):
    """An assignor with its configuration, wherever it runs."""

    def ask(self, state: S) -> CallOutcome[A]:
        """What comes of one call; whatever the plugin does is in the outcome, only ``KeyboardInterrupt`` passes."""

    def copied(self) -> AskedAssignor[S, A]:
        """Another one with the same past, to see what would follow.

        Raises:
            Exception: whatever copying the plugin's object raises.
        """


@runtime_checkable
class TracingAssignor(Protocol[S_contra, A]):
    """An assignor that may tell the steps to its answer, wherever it runs."""

    def traced(self, state: S_contra) -> Traced[A] | None:
        """The answer of one call with the steps to it; ``None`` where the assignor does not tell them, or fails."""


class OwnProcesses(Protocol):
    """Processes for those who are asked in one of their own (:mod:`assignor_lab.runtime.isolation.plugins`)."""

    @property
    def policy(self) -> Policy:
        """Says who that is."""

    def assignor(self, asking: Asking[S, A], found: NamedAssignor, configs: Mapping[str, Any]) -> AskedAssignor[S, A]:
        """``found`` in a process of its own."""


class AsksElsewhere:
    """A factory of assignors that pass on what they are asked, and cannot change what they are shown."""

    def relay(self, configs: Mapping[str, Any], packed: tuple[bytes, ...]) -> Any:
        """Passes on a state as it travels, without making one of ours of it.

        Args:
            configs: The assignor's configuration.
            packed: What :meth:`Asking.packed` gave.

        Returns:
            What :meth:`Asking.answer_document` gives of an answer; ``None``: an assignor has to be made and asked.

        Raises:
            Exception: whatever the assignor raises.
        """
        return None


class InProcessAssignor(Generic[S, A]):
    """An assignor in this process.

    Args:
        asking: How assignors of its kind are asked.
        found: Entry of a registry.
        configs: Its effective configuration.
    """

    def __init__(self, asking: Asking[S, A], found: NamedAssignor, configs: Mapping[str, Any]) -> None:
        self._asking = asking
        self._found = found
        self._configs = configs
        self._is_trusted = found.distribution == BUILTIN_DISTRIBUTION
        factory = getattr(getattr(found, "plugin", None), "factory", None)
        self._keeps_input = self._is_trusted or isinstance(factory, AsksElsewhere)
        self._assignor: Any = None

    def ask(self, state: S) -> CallOutcome[A]:
        """What comes of one call."""
        asking = self._asking
        before = None if self._keeps_input else asking.fingerprint(state)
        shown = asking.shown(state)
        outcome = self._called(state, shown)
        # What was shown may share parts with the state and have others of its own: both count.
        if not self._keeps_input and any(self._fingerprint(seen) != before for seen in _different(shown, state)):
            error = InputMutatedError(
                f"assignor {self._found.name} changed its input: inputs are immutable by contract"
            )
            return CallOutcome(failure_of(error), assign_ns=outcome.assign_ns, input_mutated=True)
        return outcome

    def copied(self) -> InProcessAssignor[S, A]:
        """Another one with the same past."""
        other = InProcessAssignor(self._asking, self._found, self._configs)
        with prints_to_stderr():
            other._assignor = copy.deepcopy(self._assignor)
        return other

    def traced(self, state: S) -> Traced[A] | None:
        """The answer of one call with the steps to it; ``None`` where the assignor does not tell them, or fails."""
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
        except BaseException:  # noqa: BLE001 - a plugin may raise anything, and its answer has been told already
            return None
        return Traced(answer, tuple(traced.steps), rules_told(traced))

    def _called(self, state: S, shown: S) -> CallOutcome[A]:
        asking, name = self._asking, self._found.name
        elapsed = 0
        try:
            with prints_to_stderr():
                assignor = self._made()
                start = perf_counter_ns()
                try:
                    given = asking.called(assignor, shown)
                finally:
                    elapsed = perf_counter_ns() - start
                answer = asking.checked(name, given, state, is_trusted=self._is_trusted)
                validation = asking.validated(state, answer, assignor)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
            return CallOutcome(failure_of(error), assign_ns=elapsed, out_of_memory=isinstance(error, MemoryError))
        return concluded(asking, name, state, answer, validation, elapsed)

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


def rules_told(traced: Traced[Any]) -> dict[str, str]:
    """What the rules of some steps say, as far as the assignor tells it and in texts."""
    # A plugin may have put anything in their places.
    rules: Any = traced.rules
    steps: Any = traced.steps
    if not isinstance(rules, Mapping):
        return {}
    used = dict.fromkeys(step.rule for step in steps if type(step.rule) is str)
    return {rule: text for rule in used if type(text := rules.get(rule)) is str}


def _different(shown: S, state: S) -> tuple[S, ...]:
    return (state,) if shown is state else (shown, state)


def concluded(
    asking: Asking[S, A], name: str, state: S, answer: A, validation: AssignmentError | None, assign_ns: int
) -> CallOutcome[A]:
    """The outcome of a call that gave a well-formed answer: a failure where Kafka's validation refuses it."""
    if validation in (None, AssignmentError.NONE):
        return CallOutcome(answer, assign_ns=assign_ns, validation=validation)
    assert validation is not None
    sentence = asking.refusal(state, answer, validation)
    why = f"{validation.name}: {sentence}" if sentence else validation.name
    refused = InvalidAnswerError(f"assignor {name}: Kafka refuses this assignment: {why}")
    return CallOutcome(failure_of(refused), assign_ns=assign_ns, validation=validation)


def assignor_for(
    asking: Asking[S, A], found: NamedAssignor, configs: Mapping[str, Any], isolation: OwnProcesses | None = None
) -> AskedAssignor[S, A]:
    """The assignor ``found`` with its configuration, where the policy wants it to run.

    Args:
        asking: How assignors of its kind are asked.
        found: Entry of a registry.
        configs: Its effective configuration.
        isolation: The policy, and the processes of those who have one of their own; ``None``: all run in this process
            but those who were not imported here.
    """
    if isolation is not None and isolation.policy.isolates(found.distribution, found.name):
        return isolation.assignor(asking, found, configs)
    apart = _processes_of(found)
    if apart is not None:
        return apart.assignor(asking, found, configs)
    return InProcessAssignor(asking, found, configs)


def runs_apart(found: NamedAssignor, policy: Policy) -> bool:
    """Whether :func:`assignor_for` gives an assignor in a process of its own."""
    return policy.isolates(found.distribution, found.name) or _processes_of(found) is not None


def _processes_of(found: NamedAssignor) -> OwnProcesses | None:
    """The processes of an assignor that was described in one of its own; it is not in this one, whatever is trusted."""
    apart: OwnProcesses | None = getattr(getattr(getattr(found, "plugin", None), "factory", None), "isolation", None)
    return apart
