"""The protocol of a kind of group: everything that differs between Streams, streams groups and Connect.

A kind is a folder beside this file with one object of a subclass of :class:`Kind`, and one entry in
:mod:`assignor_lab.groups.entries`. Nothing above ``groups`` asks which kind it has before it: it calls this protocol.
Two types go through it: ``S``, a *state*, which is what one competitor is asked in one round, and ``A``, the *answer*
to it together with whatever the metrics need that follows from it.

How the calls follow one another (:mod:`assignor_lab.groups.contest`): a document becomes a scenario (by the kind's
format, :mod:`assignor_lab.scenarios.formats`), the scenario a state for each of its :meth:`Kind.rounds`; a
:class:`Player` for each competitor answers it, through the one door of :mod:`assignor_lab.runtime.asking`; the
:class:`Answer` becomes a row (:meth:`Kind.row`, :meth:`Kind.figures`) and, for a few, a picture (:meth:`Kind.picture`);
in a history that is made as it goes, :meth:`Kind.after` says what the next round begins with.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

import attrs

from assignment_api.plugins import ConfigSources, Found, MetricPlugin, PluginRow, Registry
from assignment_api.plugins.selection import EffectiveConfig
from assignment_api.tracing import Traced
from assignor_lab.groups.beside import Beside
from assignor_lab.groups.changes import ChangesOf
from assignor_lab.groups.columns import Column
from assignor_lab.groups.headline import HeadlineFigure, headline_of
from assignor_lab.groups.holding import HoldingOf
from assignor_lab.groups.trials import Trial
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.asking import Asking, OwnProcesses
from assignor_lab.runtime.invocation import CallOutcome, Failure
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.origin import AssignorOrigin
from assignor_lab.scenarios import Scenario

__all__ = [
    "Answer",
    "AnswerOptions",
    "Asked",
    "Competitor",
    "FoundAssignor",
    "Kind",
    "Measure",
    "Missing",
    "Player",
    "Prober",
    "Reply",
    "TracingPlayer",
    "Utility",
]

S = TypeVar("S")
A = TypeVar("A")
S_contra = TypeVar("S_contra", contravariant=True)

#: A metric of a kind: the figure for one answer to one state, or ``None`` where the state does not tell.
Measure = Callable[[S, A], float | None]


class FoundAssignor(Protocol):
    """An assignor of any kind that was selected, as a registry has it."""

    @property
    def name(self) -> str:
        """Name under which its results are filed."""

    @property
    def plugin(self) -> Any:
        """What the plugin's hook returned."""

    @property
    def distribution(self) -> str | None:
        """Distribution that it came from, or ``None`` for ``module:attribute`` outside of any."""

    @property
    def version(self) -> str | None:
        """Version of that distribution, or ``None``."""


@attrs.frozen
class Competitor:
    """One who competes.

    Args:
        name: Name under which the answers are filed.
        found: Who is asked.
        stand_in: Who answers where Kafka has somebody else answer in its place, as its kind of group needs it;
            ``None``: nobody.
        overrides: Keys of the configuration to values that hold for it alone.
        timings: Likewise durations, by their names in the kind's :attr:`Kind.timing_keys`.
    """

    name: str
    found: FoundAssignor
    stand_in: Any = None
    overrides: Mapping[str, str] = attrs.field(factory=dict)
    timings: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen
class Missing:
    """One who would compete, and whom this process does not have: ``failure`` says why."""

    name: str
    failure: Failure


@attrs.frozen
class Asked:
    """Who is really asked about a state, and under which configuration.

    Args:
        name: Name of the assignor.
        distribution: Distribution that it comes from; ``None``: it is ``module:attribute``.
        configs: Its configuration.
        origin: Its entry point, where it is described in a process of its own; ``None``: it is not, or not looked for.
    """

    name: str
    distribution: str | None
    configs: Mapping[str, Any]
    origin: AssignorOrigin | None = None


@attrs.frozen(eq=False)
class Reply(Generic[A]):
    """What came of asking a player once.

    Args:
        outcome: The answer or the failure.
        calls: Questions and outcomes of the single calls, where there is more than one, or another question than the
            state: for those who watch.
    """

    outcome: CallOutcome[A]
    calls: Sequence[tuple[Any, CallOutcome[Any]]] = ()


class Player(Protocol[S_contra, A]):
    """One competitor through the rounds of one item."""

    def asked(self, state: S_contra, config: EffectiveConfig) -> Asked:
        """Who would answer ``state``; called before each :meth:`answer`.

        Raises:
            AssignorLabError: a subclass, if the configuration does not allow it: a failed row.
        """

    def answer(self, state: S_contra, asked: Asked) -> Reply[A]:
        """What comes of asking; nothing that a plugin does gets out but ``KeyboardInterrupt``."""

    def looked_ahead(self, answer: A) -> A:
        """The answer that was just given, with what would follow from it if nothing else happened, for the metrics.

        Called where something is measured, before the next :meth:`answer`; the assignor is left as it was.
        """


@runtime_checkable
class TracingPlayer(Protocol[S_contra, A]):
    """A player that can tell the steps to an answer, where who is asked tells them."""

    def traced(self, state: S_contra, asked: Asked) -> Traced[A] | None:
        """The answer with its steps, in place of :meth:`Player.answer`; ``None``: they are not told."""


@attrs.frozen(eq=False)
class Answer(Generic[S, A]):
    """What one competitor made of one state.

    Args:
        item: The item that it belongs to.
        round: Round of the history; 0 for a single state.
        assignor: Name of the competitor, or ``OBSERVED``.
        scenario: The scenario, or ``None`` where it could not be made.
        state: What was asked, or ``None`` where Kafka would refuse it.
        outcome: What came of it.
        build_ns: Time that making the state took, shared among those who answered the same one.
        other_ns: Time of everything around the assignor's own calls, nanoseconds.
        asked: Who was asked, or ``None`` where nobody was.
        calls: The single calls, as :class:`Reply` has them.
        not_comparable: Why the answer says nothing of what the competitor would really do, or ``None``: it does.
        other_settings: Whether it was asked under other settings than those that Kafka decided under; ``None`` where
            Kafka's own decision is not known.
    """

    item: WorkItem
    round: int
    assignor: str
    scenario: Scenario | None
    state: S | None
    outcome: CallOutcome[A]
    build_ns: int = 0
    other_ns: int = 0
    asked: Asked | None = None
    calls: Sequence[tuple[Any, CallOutcome[Any]]] = ()
    not_comparable: str | None = None
    other_settings: bool | None = None


def _ignore(_problem: str) -> None:
    """Nobody wants to know."""


@attrs.frozen
class AnswerOptions:
    """What result lines are to hold, and under which configuration they are made.

    Args:
        sources: Configuration around each scenario's own.
        threads: Add which consumer runs what, where the kind knows.
        followups: Add the deadlines of follow-up rebalances, likewise.
        on_problem: Takes what lines have no place for, in sentences: remarks of an answer, failures of observers.
        isolation: Who runs in a process of its own, and those processes.
        on_raised: Takes where a failure was raised, line by line, after the failure itself; ``None``: nobody asks.
    """

    sources: ConfigSources
    threads: bool = False
    followups: bool = False
    on_problem: Callable[[str], None] = _ignore
    isolation: OwnProcesses | None = None
    on_raised: Callable[[str], None] | None = None


#: Something that answers under a name and is no assignor: a scenario to its result line; raises AssignorLabError.
Utility = Callable[[Scenario, AnswerOptions], dict[str, Any]]
#: Finds out what an answer depends on: columns of ``run_metrics``, or none where nothing was found out.
Prober = Callable[[Answer[S, A]], Mapping[str, Any]]


class Kind(ABC, Generic[S, A]):
    """A kind of group; what has a body here need not be written by each.

    Nothing here is asked of plugins but what the docstring says; states and answers belong to who made them and are
    not changed.
    """

    #: Kind of its scenarios, as documents, families and metrics of plugins name it.
    name: str
    #: Further columns of its results, after those that all kinds have.
    columns: tuple[Column, ...] = ()
    #: Key of the summary's ``results`` that its pictures stand under.
    section: Literal["placements", "groups"] = "groups"
    #: Whether the first states of a run are shown where few others ask for it.
    shows_first: bool = False
    #: Whether a scenario of it is a whole play, in which each competitor goes on from its own answers.
    plays: bool = False
    #: The figures that are asked for first.
    headline: tuple[HeadlineFigure, ...] = headline_of()
    #: Keys of Kafka's configuration that decide an assignment.
    config_keys: tuple[str, ...] = ()
    #: Key of Kafka's configuration that names a group's assignor; ``None``: applications do not name it.
    class_key: str | None = None
    #: Keys of Kafka's configuration that decide how long things take, to the name of the duration.
    timing_keys: Mapping[str, str] = MappingProxyType({})

    # --- finding ----------------------------------------------------------------------------------

    @property
    @abstractmethod
    def asking(self) -> Asking[Any, Any]:
        """How one of its assignors is asked."""

    @abstractmethod
    def installed(self, registry: Registry) -> Sequence[FoundAssignor]:
        """Every assignor that can be used."""

    def find(self, registry: Registry, selector: str, *, may_run_code: bool = False) -> FoundAssignor:
        """The assignor that ``selector`` means; errors as of the registry."""
        found: FoundAssignor = self.asking.select(registry, selector, may_run_code=may_run_code)
        return found

    def competitor(self, registry: Registry, found: FoundAssignor) -> Competitor:
        """``found`` as it competes, with who stands in for it where Kafka has somebody else answer."""
        return Competitor(found.name, found)

    def protocol(self, found: FoundAssignor) -> str | None:
        """The protocol that a group is played in with an assignor; ``None``: nothing is played in this kind."""
        return None

    def others(self, registry: Registry) -> Sequence[FoundAssignor]:
        """Those besides :meth:`installed` that :meth:`find` knows, with whom a group speaks another protocol."""
        return ()

    def usual(self, scenario: Scenario) -> str | None:
        """Who decides for the group of a scenario where nobody is named; ``None``: Kafka's own for all of them."""
        return None

    @property
    def utilities(self) -> Mapping[str, Utility]:
        """What else answers scenarios of this kind, line by line, by name."""
        return {}

    # --- states -----------------------------------------------------------------------------------

    def rounds(self, scenario: Scenario) -> int:
        """Rounds that a scenario holds: 1, where it is a single state."""
        return 1

    @abstractmethod
    def state(self, scenario: Scenario, number: int, explicit: Mapping[str, Any]) -> S:
        """The state of a round.

        Args:
            scenario: The scenario.
            number: The round, from 0.
            explicit: Configuration in place of the scenario's own, in the types of the keys.

        Raises:
            AssignorLabError: a subclass, where Kafka would refuse the state: a failed row.
        """

    @abstractmethod
    def size(self, scenario: Scenario) -> tuple[int, int]:
        """Tasks and clients (processes or workers, as in the results) of the largest round of a scenario."""

    def scene(self, state: S) -> object:
        """Who is there and what is to be done: equal in two rounds of a history between which nothing happened."""
        return None

    def settings(self, state: S) -> object:
        """The settings that an answer depends on: equal in two states that are asked about under the same ones."""
        return None

    def not_comparable(self, scenario: Scenario, state: S, explicit: Mapping[str, Any], answer: A) -> str | None:
        """Why an answer says nothing of what who gave it would really decide; ``None``: it does.

        Args:
            scenario: The scenario.
            state: What was asked.
            explicit: Configuration in place of the scenario's own, in the types of the keys.
            answer: What was answered.
        """
        return None

    # --- asking -----------------------------------------------------------------------------------

    @abstractmethod
    def player(self, competitor: Competitor, isolation: OwnProcesses | None) -> Player[S, A]:
        """A competitor for one item, as a rule a :class:`assignor_lab.groups.players.OneCall`.

        Args:
            competitor: Who competes.
            isolation: As in :func:`assignor_lab.runtime.asking.assignor_for`.
        """

    def observed(self, scenario: Scenario, number: int) -> CallOutcome[A] | None:
        """What Kafka itself decided in a round of a scenario; ``None`` where that is not known."""
        return None

    def after(self, answer: A) -> Any:
        """What a family is told of an answer, to make the next round of its history."""
        return answer

    def tell(self, registry: Registry, answer: Answer[S, A]) -> Iterable[PluginRow]:
        """Shows an answer to the observers among the plugins; a row for each that failed."""
        return ()

    # --- measuring --------------------------------------------------------------------------------

    @abstractmethod
    def metrics(self, registry: Registry) -> Mapping[str, Found[MetricPlugin]]:
        """Column to metric, the lab's own ones first, in the order of the columns.

        :func:`assignor_lab.groups.measures.metrics_of` makes it.
        """

    @abstractmethod
    def figures(self, registry: Registry, names: Sequence[str], config: EffectiveConfig) -> Mapping[str, Measure[S, A]]:
        """Column to what computes it.

        Args:
            registry: What is installed here; a metric that is not has a measure that raises its error.
            names: The columns, as :meth:`metrics` names them.
            config: Configuration of the run, for prices and the like.

        :func:`assignor_lab.groups.measures.measures_of` makes it.
        """

    @abstractmethod
    def row(self, answer: Answer[S, A]) -> Mapping[str, Any]:
        """The columns of :mod:`assignor_lab.groups.columns` that this kind knows of an answer, and those of its own.

        ``clients`` and ``tasks``, and of an answer ``answer`` (a digest of who runs what), ``followup``, ``remarks``;
        columns that are left out are null.
        """

    def document(self, answer: Answer[S, A]) -> Mapping[str, Any]:
        """The answer itself as JSON, in the words of result lines (:mod:`assignor_lab.scenarios.results`).

        Called for answers to a state that did not fail.
        """
        raise NotImplementedError(f"answers of kind {self.name} are not kept")

    def prober(self, limits: Limits) -> Prober[S, A] | None:
        """Looks into single answers; ``None`` where this kind has no such thing."""
        return None

    # --- showing ----------------------------------------------------------------------------------

    @abstractmethod
    def picture(self, answers: Sequence[Answer[S, A]], assignor: str | None) -> dict[str, Any]:
        """The full picture of one state, as JSON, with ``scenario``, ``round``, and ``chosen``: null, to be filled in.

        In the later rounds of a history each competitor has a state of its own; the picture is then of one of them,
        with the answers to that very state.

        Args:
            answers: All answers of one item and round, at least one.
            assignor: Whose state it is to be; ``None``: the first one's.
        """

    def beside(self, answers: Sequence[Answer[S, A]]) -> Beside | None:
        """What was done in a play, and what is recorded of what followed; ``None``: that is not told of this kind.

        Args:
            answers: All plays of one scenario, at least one.
        """
        return None

    def picture_size(self, picture: Mapping[str, Any]) -> int:
        """Entries of a picture, for the room that pictures have in a summary together; 0: they are small anyway."""
        return 0

    @property
    def holding(self) -> HoldingOf[S, A] | None:
        """How its states and answers are read as who holds what; ``None``: there is no such thing, as in a play."""
        return None

    @property
    def changes(self) -> ChangesOf[S] | None:
        """What could have been otherwise in its states; ``None``: nobody asks, as in a play."""
        return None

    def trials(self, decisions: Sequence[Scenario], config: EffectiveConfig, assignor: str) -> Iterable[Trial]:
        """Changed inputs that may explain why recorded decisions do not come out again, the likeliest first.

        Args:
            decisions: Recorded decisions of one group, at least one.
            config: The configuration of the first one.
            assignor: Name of the assignor that decided them again.
        """
        return ()

    # --- answering line by line -------------------------------------------------------------------

    def place_of_round(self, number: int) -> str:
        """What an error says of the round that it is in; empty where there is only one."""
        return ""

    def suppositions(self, found: FoundAssignor, config: EffectiveConfig) -> Iterable[str]:
        """Sentences on what is supposed where an assignor is asked about a group that it cannot lead as it is."""
        return ()

    def line(
        self, scenario: Scenario, assignor: FoundAssignor, answers: Sequence[tuple[S, A]], options: AnswerOptions
    ) -> dict[str, Any]:
        """The result line of ``assignor assign``: a JSON object.

        Args:
            scenario: What was asked.
            assignor: Who answered.
            answers: State and answer of each round.
            options: What the line is to hold.

        Raises:
            AssignorLabError: a subclass, if the answer does not allow it: a failed line.
        """
        raise NotImplementedError(f"kind {self.name} is not answered line by line")

    def remarks(self, answer: A) -> Sequence[str]:
        """What an assignor says of its answer, in sentences."""
        return ()
