"""A real group in Python: its past, its plans, and answers of other assignors, as the commands give them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import attrs

from assignment_api.plugins import ConfigSources, check_settings, config_sources
from assignor_lab.advising.mix import mix_of, read_mix
from assignor_lab.advising.space import fixed_settings, release_of
from assignor_lab.capture.errors import HistoryError
from assignor_lab.capture.histories.group_histories import group_histories
from assignor_lab.capture.histories.past import read_past
from assignor_lab.capture.histories.past_terms import DECISIONS, PastTerms
from assignor_lab.compare import ContenderTerms, compare, contender_of
from assignor_lab.documents.option_values import (
    file_name,
    file_names,
    mapping_value,
    optional,
    seconds_value,
    sequence_value,
    text_value,
    texts_value,
    whole_value,
    zone_name,
)
from assignor_lab.documents.wording import plural
from assignor_lab.explain import Budget, explain, question_of
from assignor_lab.model.history import GroupHistory
from assignor_lab.notebook.comparisons import Comparison
from assignor_lab.notebook.group_views import CheckView, ExplanationView, HistoryView, PlanView
from assignor_lab.notebook.states import States
from assignor_lab.notebook.surroundings import with_values
from assignor_lab.opened.plan_words import PlanWords, plan_options
from assignor_lab.opened.plans import PlanEffort, plan_answer
from assignor_lab.opened.reading import ReadGroup, group_of_source
from assignor_lab.opened.states import StateChoiceError
from assignor_lab.opened.unused_options import check_used
from assignor_lab.runtime.discovery import Plugins, discovered
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.racks import read_racks
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.simulation.streams.formats.timings import read_timings
from assignor_lab.verification.verified import Verification
from assignor_lab.verification.words import banner, sentences
from assignor_lab.watching.findings import unusual_rebalances
from assignor_lab.watching.limits import WatchLimits
from assignor_lab.watching.rebalances import watched_groups
from assignor_lab.watching.words import CheckedGroup

if TYPE_CHECKING:
    from assignor_lab.notebook.advice_view import AdviceView

__all__ = ["Group", "open_group"]

FileName = str | PathLike[str]


@attrs.frozen(eq=False)
class Group:
    """A group that was opened by :func:`open_group`."""

    source: str
    _read: ReadGroup = attrs.field(repr=False)
    _plugins: Plugins = attrs.field(repr=False)
    _past: PastTerms = attrs.field(repr=False)

    @property
    def name(self) -> str:
        """The group's id; without one, the id of its last state."""
        return self._read.name

    @property
    def states(self) -> States:
        """The recorded decisions, or the captured states, in order."""
        return States(tuple(self._read.scenarios))

    @cached_property
    def verification(self) -> Verification:
        """The recorded decisions, decided again."""
        return self._read.sample.verified(self._read.verified_under)

    @cached_property
    def history(self) -> HistoryView:
        """Decisions and the events between them: ``assignor history``.

        Raises:
            HistoryError: if the source holds no recorded decision.
        """
        return HistoryView(self._history())

    def check(self, limits: WatchLimits | None = None) -> CheckView:
        """Rebalances out of the ordinary: ``assignor check``."""
        allowed = limits or WatchLimits()
        (watched,) = watched_groups([self.history.history])
        return CheckView(CheckedGroup(watched, len(watched.rebalances), unusual_rebalances(watched, allowed)))

    def plan(
        self,
        plan: str = "roll",
        subject: str | None = None,
        *,
        variants: Sequence[str] | None = (),
        plays: int = 20,
        seed: int = 0,
        processes: int = 1,
        **options: Unpack[PlanWords],
    ) -> PlanView:
        """The cost of a coming change: ``assignor plan``.

        Args:
            plan: ``roll``, ``scale``, ``kill``, ``upgrade``, ``upgrade-protocol``, ``broker-roll`` or ``script``.
            subject: The instance of ``kill``, or the file of ``script``.
            variants: Other settings, as ``NAME=ASSIGNOR,KEY=VALUE``; empty: the usual ones; ``None``: none.
            options: As the command's: ``batch=2``, ``start_seconds="6..16"``, ``to=5`` ...

        Raises:
            PlanError: if the plan contradicts the group, or itself.
            OptionValueError: if a value has another type, or is outside its limits.
            AssignorLabError: another subclass, if no play can begin with the group.
        """
        effort = PlanEffort(plays, seed, processes, note=_say)
        made = plan_options(text_value("plan", plan), options)
        check_used(self._read, made)
        of = optional(file_name if plan == "script" else text_value, "the subject of the plan", subject)
        texts = optional(texts_value, "variants", variants)
        answer = plan_answer(self.source, self._read, plan, of, made, texts, self.verification, effort)
        return PlanView(answer, tuple(sentences(self.verification)))

    def advise(
        self,
        objective: str | Sequence[str] = "task_seconds",
        at_most: Mapping[str, float] | None = None,
        *,
        fix: Mapping[str, str] | Sequence[str] = (),
        within: Mapping[str, Sequence[str]] | None = None,
        mix: Mapping[str, float] | FileName | None = None,
        release: str | None = None,
        configurations: int = 60,
        days: int = 8,
        hours: float = 24.0,
        seed: int = 0,
        processes: int = 1,
        batch: int | str = 1,
        down_seconds: float = 0,
        start_seconds: float | str | None = None,
        leave: bool = False,
    ) -> AdviceView:
        """The settings to run the group with: ``assignor advise``.

        Args:
            objective: One or more figures; the first one decides.
            at_most: Constraints: figure to its largest value.
            fix: Settings that stay; a mapping gives them other values.
            within: A setting, and the values that it may have.
            mix: Events, such as ``{"rolls_per_week": 7}``, or a file of them; ``None``: from the group's past, or the
                usual ones.
            release: Of Kafka, of the instances, such as ``4.3``.
            configurations: Configurations at the start; ``days``: of the last round, of ``hours`` each.
            batch, down_seconds, start_seconds, leave: The present way of restarts, as for :meth:`plan`.

        Raises:
            AdviceError: if the recorded decisions cannot be reproduced.
            AimError: if an objective or a constraint is unknown in this group, or no configuration meets the
                constraints.
            SpaceError: if a fixed or allowed setting does not exist for the group, or has no such value.
            OptionValueError: if a value has another type, or is outside its limits.
            AssignorLabError: another subclass, if no play can begin with the group.
        """
        # The race needs the extra `statistics`.
        from assignor_lab.advising.advice import Effort
        from assignor_lab.advising.choice import aims_of
        from assignor_lab.notebook.advice_view import AdviceView
        from assignor_lab.opened.advice import AdviceCase, AdviceError, AdviceQuestion

        restarts = PlanWords(batch=batch, down_seconds=down_seconds, start_seconds=start_seconds, leave=leave)
        limits = [f"{name}={most}" for name, most in mapping_value("--at-most", at_most or {}).items()]
        allowed = mapping_value("--within", within or {})
        question = AdviceQuestion(
            aims_of([objective] if isinstance(objective, str) else texts_value("--objective", objective), limits),
            Effort(configurations, days, hours, seed),
            plan_options("roll", restarts),
            None
            if mix is None
            else mix_of(mapping_value("--mix", mix))
            if isinstance(mix, Mapping)
            else read_mix(Path(file_name("--mix", mix))),
            _fixed(fix),
            {key: [str(each) for each in sequence_value("--within", values)] for key, values in allowed.items()},
            None if release is None else release_of(text_value("--release", release)),
        )
        case = AdviceCase.of(self._read, question)
        if refused := banner(self.verification):
            raise AdviceError(f"no advice: {' '.join(refused)}")
        return AdviceView(case.advice(processes), case, self.source, self.name, tuple(sentences(self.verification)))

    def compare(self, one: str, other: str = "kafka", config: Mapping[str, object] | None = None) -> Comparison:
        """Two answers to each state: ``assignor compare``.

        Args:
            one: Name of an assignor, a variant (``two=sticky,num.standby.replicas=2``), or ``kafka``: the recorded
                decision.
            config: Keys and values for both, beside those of :func:`open_group`.

        Raises:
            AssignorLabError: a subclass, if there is no such assignor, or it is for another kind of groups.
        """
        given = with_values(self._sources, optional(mapping_value, "config", config))
        _check(self._plugins, given)
        contenders = contender_of(text_value("one", one)), contender_of(text_value("other", other))
        terms = ContenderTerms(self._plugins.registry, self._plugins.isolation, given)
        return Comparison(compare(self.states, contenders, terms))

    def explain(
        self,
        task: str | None = None,
        why_not: str | None = None,
        *,
        state: int | str = -1,
        assignor: str | None = None,
        calls: int = 200,
        seconds: float = 30.0,
    ) -> ExplanationView:
        """The reasons of a task's place: ``assignor explain``.

        Args:
            task: The task or job; ``None``: each one that moves.
            why_not: A client on which the task is not.
            state: Number or id of the state; the last one by default.
            calls: Most calls with one thing changed.
            seconds: Most time for these calls.

        Raises:
            ExplainError: if the state has no such task or client.
            StateChoiceError: if there is no such state.
        """
        chosen, plugins = self._state(state), self._plugins
        decider, subject = optional(text_value, "assignor", assignor), optional(text_value, "task", task)
        question = question_of(chosen, None, decider, plugins.registry, self._sources, plugins.isolation)
        budget = Budget(whole_value("calls", calls), seconds_value("seconds", seconds))
        other = optional(text_value, "why_not", why_not)
        return ExplanationView(explain(question, subject, other, lambda: budget))

    def _state(self, state: int | str) -> Scenario:
        try:
            return self.states[state]
        except (LookupError, TypeError) as error:
            count = plural(len(self.states), "state")
            raise StateChoiceError(f"state {state!r:.80}: {error}; the group has {count}, by number or id") from None

    def _history(self) -> GroupHistory:
        around = self._past.around(self._sources.above, _say)
        read = read_past([self.source], around)
        decided = [each for each in read.scenarios if each.observed is not None]
        found = group_histories(decided or self._read.scenarios, read.events)
        if not found:
            raise HistoryError.of_no_decision(self.source)
        return next((each for each in found if each.group == self.name), found[-1])

    @property
    def _sources(self) -> ConfigSources:
        return self._read.terms.sources

    def __repr__(self) -> str:
        return f"<group {self.name}: {self.states!r}>"

    def _repr_html_(self) -> str:
        return self.states._repr_html_()


def open_group(
    source: FileName,
    config: FileName | Mapping[str, object] | None = None,
    *,
    state: str | None = None,
    racks: FileName | Iterable[FileName] = (),
    topology: FileName | None = None,
    workload: FileName | None = None,
    timings: FileName | None = None,
    timezone: str | None = None,
    assignor: str | None = None,
) -> Group:
    """Opens a group: ``import assignor_lab as lab; group = lab.open("group.jsonl")``.

    Args:
        source: A file of ``assignor capture`` or ``import``, a folder of ``record``, or the log of a leader.
        config: The application's ``.properties`` file, or keys and values of it.
        state: Id or line of the only state to read; ``None``: all.
        racks, topology, workload, timings: Files as for the commands' options of these names.
        timezone: Of logs whose times name none.
        assignor: Decides in every play; ``None``: the group's own.

    Raises:
        StateChoiceError: if the source has no state, or states of several groups.
        OptionValueError: if a value has another type.
        ConfigKeyError: if an installed plugin does not declare one of its keys.
        AssignorLabError: another subclass, if a file cannot be read, with its place.
    """
    name, wanted = file_name("source", source), optional(text_value, "state", state)
    values = mapping_value("config", config) if isinstance(config, Mapping) else None
    file = None if config is None or values is not None else Path(file_name("config", config))
    given = with_values(config_sources(file), values)
    plugins = discovered(given.effective())
    _check(plugins, given)
    past = PastTerms(
        DECISIONS,
        {} if timings is None else read_timings(Path(file_name("timings", timings))),
        topology=optional(file_name, "topology", topology),
        timezone=optional(zone_name, "timezone", timezone),
        workload=optional(file_name, "workload", workload),
        settings={key: str(value) for key, value in given_settings(given.above).items()},
    )
    files = [Path(each) for each in file_names("racks", racks)]
    decider = optional(text_value, "assignor", assignor)
    known = read_racks(files) if files else None
    read = group_of_source(name, wanted, plugins, given, past, _say, racks=known, assignor=decider)
    return Group(name, read, plugins, past)


def _fixed(fix: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    if isinstance(fix, Mapping):
        return {key: text_value("--fix", value) for key, value in mapping_value("--fix", fix).items()}
    return fixed_settings(texts_value("--fix", fix))


def _check(plugins: Plugins, given: ConfigSources) -> None:
    for remark in check_settings(plugins.registry, given.effective()):
        _say(remark)


def _say(sentence: str) -> None:
    sys.stderr.write(f"assignor: {sentence}\n")
