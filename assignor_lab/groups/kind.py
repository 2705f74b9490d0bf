"""The protocol of a kind of group: everything that differs between Streams, streams groups and Connect.

A kind is a folder beside this file with one object of a subclass of :class:`GroupKind`, and one entry in
:mod:`assignor_lab.groups.entries`. Code above ``groups`` never branches on the kind: it calls this protocol.
Two types go through it: ``S``, a *state*, the input of one contender in one round, and ``A``, the *answer* together
with everything that follows from it for the metrics.

Order of the calls (:mod:`assignor_lab.groups.runner.comparison`): a document becomes a scenario (by the kind's format,
:mod:`assignor_lab.scenarios.formats`), the scenario a state for each of its :meth:`GroupKind.rounds`. A
:class:`AssignorSession` for each contender answers it, always through :mod:`assignor_lab.runtime.assignor_calls`. The
:class:`ContenderAnswer` becomes a row (:meth:`GroupKind.row`, :meth:`GroupKind.figures`) and, for a few, a picture
(:meth:`GroupKind.picture`). In a generated history, :meth:`GroupKind.after` gives the start of the next round.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

import attrs

from assignment_api.plugins import ConfigSources, Found, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.changes import ChangesOf, InputTrial
from assignor_lab.groups.columns import TableColumn
from assignor_lab.groups.metrics.headline import HeadlineFigure, headline_of
from assignor_lab.groups.ownership.ownership import OwnershipOf
from assignor_lab.groups.ownership.recorded_outcome import RecordedOutcome
from assignor_lab.groups.work import WorkItem
from assignor_lab.model.pictures import Picture, SnapshotProblem
from assignor_lab.runtime.assignor_calls import AssignorCalls, OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, CallOutcome
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.scenarios import Scenario

if TYPE_CHECKING:
    from assignment_api.optimum import Gap

__all__ = [
    "ContenderAnswer",
    "AnswerOptions",
    "AnsweringAssignor",
    "LoadedContender",
    "FoundAssignor",
    "GroupKind",
    "Measure",
    "MissingContender",
    "AssignorSession",
    "Prober",
    "ContenderReply",
    "TracingSession",
    "Utility",
]

S = TypeVar("S")
A = TypeVar("A")
S_contra = TypeVar("S_contra", contravariant=True)

#: A metric of a kind: the figure for one answer to one state, or ``None`` if the state lacks the facts.
Measure = Callable[[S, A], float | None]


class FoundAssignor(Protocol):
    """A selected assignor of any kind, as in a registry."""

    @property
    def name(self) -> str: ...

    @property
    def plugin(self) -> Any:
        """The value that the plugin's hook returned."""

    @property
    def distribution(self) -> str | None: ...

    @property
    def version(self) -> str | None: ...

    @property
    def installed(self) -> frozenset[str] | None:
        """Names of installed plugins, for ``module:attribute``."""


@attrs.frozen
class LoadedContender:
    """A contender.

    Args:
        stand_in: The assignor that Kafka calls in its place in some cases; ``None``: there is none.
        overrides: Keys of the configuration to values for it alone.
        timings: Likewise durations, by their names in the kind's :attr:`GroupKind.timing_keys`.
    """

    name: str
    found: FoundAssignor
    stand_in: Any = None
    overrides: Mapping[str, str] = attrs.field(factory=dict)
    timings: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen
class MissingContender:
    """A contender that this process does not have; ``failure`` is the reason."""

    name: str
    failure: CallFailure


@attrs.frozen
class AnsweringAssignor:
    """The assignor that answers a state, and its configuration.

    Args:
        distribution: Its distribution; ``None``: it is ``module:attribute``.
        origin: Its entry point, if it runs in its own process; ``None``: it does not, or is not looked up.
    """

    name: str
    distribution: str | None
    configs: Mapping[str, object]
    origin: AssignorOrigin | None = None


@attrs.frozen(eq=False)
class ContenderReply(Generic[A]):
    """The outcome of one call of a player.

    Args:
        calls: Inputs and outcomes of the single calls, for observers, if there are several or the input is not the
            state itself.
    """

    outcome: CallOutcome[A]
    calls: Sequence[tuple[Any, CallOutcome[Any]]] = ()


class AssignorSession(Protocol[S_contra, A]):
    """One contender through the rounds of one item."""

    def asked(self, state: S_contra, config: EffectiveConfig) -> AnsweringAssignor:
        """The assignor that would answer ``state``; called before each :meth:`answer`.

        Raises:
            AssignorLabError: a subclass, if the configuration does not allow it: a failed row.
        """

    def answer(self, state: S_contra, chosen: AnsweringAssignor) -> ContenderReply[A]:
        """The outcome of the call; of all a plugin's exceptions only ``KeyboardInterrupt`` passes."""

    def looked_ahead(self, answer: A) -> A:
        """The last answer, with everything that follows from it if nothing else happens, for the metrics.

        Called before the next :meth:`answer` if something is measured; the assignor stays unchanged.
        """


@runtime_checkable
class TracingSession(Protocol[S_contra, A]):
    """A player that can return the steps to an answer, if the assignor reports them."""

    def traced(self, state: S_contra, chosen: AnsweringAssignor) -> Traced[A] | None:
        """The answer with its steps, in place of :meth:`AssignorSession.answer`; ``None`` if they are not reported."""


@attrs.frozen(eq=False)
class ContenderAnswer(Generic[S, A]):
    """The answer of one contender to one state.

    Args:
        scenario: The scenario, or ``None`` if it could not be built.
        state: The state, or ``None`` if Kafka would refuse it.
        other_ns: Time around the assignor's own calls, nanoseconds.
        calls: The single calls, as in :class:`ContenderReply`.
        not_comparable: Reason why the answer is not the contender's real decision, or ``None``.
        settings_difference: True if its settings differed from Kafka's; ``None`` if Kafka's own decision is unknown.
    """

    item: WorkItem
    round: int
    assignor: str
    scenario: Scenario | None
    state: S | None
    outcome: CallOutcome[A]
    build_ns: int = 0
    other_ns: int = 0
    asked: AnsweringAssignor | None = None
    calls: Sequence[tuple[Any, CallOutcome[Any]]] = ()
    not_comparable: str | None = None
    settings_difference: bool | None = None

    @property
    def problem(self) -> SnapshotProblem | None:
        """Why there is no answer, for pictures."""
        failure = self.outcome.failure
        return None if failure is None else SnapshotProblem(failure.type, failure.java_type, failure.message)


def _ignore(_problem: str) -> None: ...


def _ignore_found(_found: FoundAssignor, _config: Mapping[str, object], _place: str) -> None: ...


@attrs.frozen
class AnswerOptions:
    """Contents of result lines, and their configuration.

    Args:
        threads: Add the tasks of each consumer, if the kind has them.
        followups: Add the deadlines of follow-up rebalances, likewise.
        on_problem: Receives sentences that have no place in lines: remarks of an answer, failures of observers.
        isolation: Plugins with their own process, and those processes.
        on_raised: Receives the place of a failure, line by line, after the failure itself; ``None``: not wanted.
        on_found: Receives the assignor of each answer, and the configuration and place of its scenario.
        on_unread: Receives sentences on configured settings that the assignor did not read, for each answer again.
    """

    sources: ConfigSources
    threads: bool = False
    followups: bool = False
    on_problem: Callable[[str], None] = _ignore
    isolation: OwnProcesses | None = None
    on_raised: Callable[[str], None] | None = None
    on_found: Callable[[FoundAssignor, Mapping[str, object], str], None] = _ignore_found
    on_unread: Callable[[str], None] = _ignore


#: An answerer that is no assignor: a scenario to its result line; raises AssignorLabError.
Utility = Callable[[Scenario, AnswerOptions], dict[str, Any]]
Prober = Callable[[ContenderAnswer[S, A]], Mapping[str, Any]]


class GroupKind(ABC, Generic[S, A]):
    """A kind of group; members with a body here are optional in a subclass.

    Plugins are called only where a docstring mentions it. States and answers belong to their creators and are never
    changed.
    """

    #: Kind of its scenarios, as in documents, families and metrics of plugins.
    name: str
    #: Further columns of its results, after those that all kinds have.
    columns: tuple[TableColumn, ...] = ()
    #: Key of its pictures in the summary's ``results``.
    section: Literal["placements", "groups"] = "groups"
    #: True if the first states of a run are shown when few others are chosen.
    shows_first: bool = False
    #: True if a scenario is a whole play, in which each contender continues from its own answers.
    plays: bool = False
    headline: tuple[HeadlineFigure, ...] = headline_of()
    config_keys: tuple[str, ...] = ()
    #: Key of Kafka's configuration that names a group's assignor; ``None``: applications do not name it.
    class_key: str | None = None
    timing_keys: Mapping[str, str] = MappingProxyType({})

    # --- finding ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def asking(self) -> AssignorCalls[Any, Any]: ...

    @abstractmethod
    def installed(self, registry: Registry) -> Sequence[FoundAssignor]: ...

    def find(self, registry: Registry, selector: str, *, may_run_code: bool = False) -> FoundAssignor:
        found: FoundAssignor = self.asking.select(registry, selector, may_run_code=may_run_code)
        return found

    def contender(self, registry: Registry, found: FoundAssignor) -> LoadedContender:
        """``found`` as a contender, with the assignor that Kafka calls in its place in some cases."""
        return LoadedContender(found.name, found)

    def protocol(self, found: FoundAssignor) -> str | None:
        """The protocol of a played group with an assignor; ``None`` if this kind is not played."""
        return None

    def others(self, registry: Registry) -> Sequence[FoundAssignor]:
        """Further assignors that :meth:`find` accepts, with which a group uses another protocol."""
        return ()

    def usual(self, scenario: Scenario) -> str | None:
        """The default assignor for the group of a scenario; ``None``: Kafka's own for all of them."""
        return None

    @property
    def utilities(self) -> Mapping[str, Utility]:
        """Further answerers for scenarios of this kind, line by line, by name."""
        return {}

    # --- states -----------------------------------------------------------------------------------

    def rounds(self, scenario: Scenario) -> int:
        """Rounds of a scenario: 1 for a single state."""
        return 1

    @abstractmethod
    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, object]) -> S:
        """The state of a round; ``explicit`` replaces the scenario's own configuration, in the types of the keys.

        Raises:
            AssignorLabError: a subclass, if Kafka would refuse the state: a failed row.
        """

    @abstractmethod
    def size(self, scenario: Scenario) -> tuple[int, int]:
        """Tasks and clients (processes or workers, as in the results) of the largest round of a scenario."""

    def scene(self, state: S) -> object:
        """The clients and the work: equal in two rounds of a history if nothing happened between them."""
        return None

    def settings(self, state: S) -> object:
        """The settings on which an answer depends: equal in two states with the same ones."""
        return None

    def not_comparable(self, scenario: Scenario, state: S, explicit: Mapping[str, object], answer: A) -> str | None:
        """Reason why an answer is not the assignor's real decision, or ``None``."""
        return None

    # --- calling ----------------------------------------------------------------------------------

    @abstractmethod
    def player(self, contender: LoadedContender, isolation: OwnProcesses | None) -> AssignorSession[S, A]:
        """A contender for one item, usually a :class:`assignor_lab.groups.runner.one_call.OneCall`."""

    def observed(self, scenario: Scenario, number: int) -> CallOutcome[A] | None:
        """Kafka's own decision in a round of a scenario, or ``None``."""
        return None

    def after(self, answer: A) -> Any:
        """The part of an answer from which a family builds the next round of its history."""
        return answer

    def tell(self, registry: Registry, answer: ContenderAnswer[S, A]) -> Iterable[PluginRow]:
        """Passes an answer to the observers among the plugins; returns a row for each that failed."""
        return ()

    # --- measuring --------------------------------------------------------------------------------

    @abstractmethod
    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        """Column to metric, the lab's own ones first, in the order of the columns.

        :func:`assignor_lab.groups.runner.measures.metrics_of` creates it.
        """

    @property
    def on_request(self) -> Sequence[MetricPlugin]:
        """Metrics that are computed on request alone, since they take long; none by default."""
        return ()

    def gaps(self, state: S, answer: A) -> Mapping[str, Gap] | None:
        """The distance of an answer from the best one, goal by goal; ``None``: no goals, or a task has no place.

        Raises:
            SolverMissingError: if the solver is needed and not installed.
        """
        return None

    @abstractmethod
    def figures(self, registry: Registry, names: Sequence[str], config: EffectiveConfig) -> Mapping[str, Measure[S, A]]:
        """Column to the function that computes it; a metric that is not installed has a measure that raises its error.

        :func:`assignor_lab.groups.runner.measures.measures_of` creates it. ``config`` holds prices and the like.
        """

    @abstractmethod
    def row(self, answer: ContenderAnswer[S, A]) -> Mapping[str, Any]:
        """The columns of :mod:`assignor_lab.groups.columns` that this kind fills for an answer, and its own ones.

        ``clients`` and ``tasks``, and of an answer ``answer_digest`` (of the holders), ``followup``, ``remarks``;
        columns that are left out are null.
        """

    def document(self, answer: ContenderAnswer[S, A]) -> Mapping[str, Any]:
        """The answer itself as JSON, in the form of result lines (:mod:`assignor_lab.scenarios.results`).

        Called for answers to a state that did not fail.
        """
        raise NotImplementedError(f"answers of kind {self.name} are not kept")

    def prober(self, limits: Limits) -> Prober[S, A] | None:
        """Inspects single answers; ``None`` if this kind has no prober."""
        return None

    # --- showing ----------------------------------------------------------------------------------

    @abstractmethod
    def picture(self, answers: Sequence[ContenderAnswer[S, A]], assignor: str | None) -> Picture:
        """The full picture of one state; the reason of its choice is filled in later.

        In the later rounds of a history each contender has its own state. The picture then shows that of ``assignor``
        (``None``: of the first one), with the answers to that state.
        """

    def recorded_outcome(self, answers: Sequence[ContenderAnswer[S, A]]) -> RecordedOutcome | None:
        """The actions in a play, and the recorded consequences; ``None`` if this kind has none."""
        return None

    @property
    def ownership(self) -> OwnershipOf[S, A] | None:
        """Reads its states and answers as holders of tasks; ``None`` if that is impossible, as in a play."""
        return None

    def task_limits(self, scenario: Scenario) -> Sequence[str]:
        """Sentences on the number of tasks, for clients without any; empty: the kind has none."""
        return ()

    @property
    def changes(self) -> ChangesOf[S] | None:
        """Possible changes in its states; ``None`` if there are none, as in a play."""
        return None

    def trials(self, decisions: Sequence[Scenario], config: EffectiveConfig, assignor: str) -> Iterable[InputTrial]:
        """Changed inputs that may explain decisions of one group that are not reproduced, the likeliest first."""
        return ()

    # --- answering line by line -------------------------------------------------------------------

    def place_of_round(self, number: int) -> str:
        """The mention of the round in an error; empty if there is only one."""
        return ""

    def suppositions(self, found: FoundAssignor, config: EffectiveConfig) -> Iterable[str]:
        """Sentences on the assumptions if an assignor cannot lead a group in its present form."""
        return ()

    def line(
        self, scenario: Scenario, assignor: FoundAssignor, answers: Sequence[tuple[S, A]], options: AnswerOptions
    ) -> dict[str, Any]:
        """The result line of ``assignor assign``: a JSON object.

        Raises:
            AssignorLabError: a subclass, if the answer does not allow it: a failed line.
        """
        raise NotImplementedError(f"kind {self.name} is not answered line by line")

    def remarks(self, answer: A) -> Sequence[str]:
        return ()
