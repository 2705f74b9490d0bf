"""The advice for an opened group of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignor_lab.advising.advice import Advice, Effort, Runs, advise, player
from assignor_lab.advising.choice import Aims
from assignor_lab.advising.configurations import SESSION, AdvisedState
from assignor_lab.advising.connect_group import connect_group, connect_space
from assignor_lab.advising.connect_past import connect_past
from assignor_lab.advising.consumer_group import advised_consumers, consumer_space
from assignor_lab.advising.group import AdvisedGroup
from assignor_lab.advising.mix import DEFAULT_MIX, Mix, mix_sentence
from assignor_lab.advising.past import past_of
from assignor_lab.advising.played_days import kept
from assignor_lab.advising.space import Space, narrowed, space_of, with_own_settings
from assignor_lab.advising.streams_group import AdvisedStreamsGroup
from assignor_lab.documents.option_values import processes_value
from assignor_lab.kafka.coordinator.session_timeout import (
    LEAST_SESSION_MS,
    allowed_session,
    check_timeouts,
    heartbeat_of,
)
from assignor_lab.opened.reading import ReadGroup
from assignor_lab.planning.connect_state import is_connect_state
from assignor_lab.planning.consumer_state import is_consumer_state
from assignor_lab.planning.making import Options
from assignor_lab.planning.past.members import is_member_state
from assignor_lab.planning.starts import options_with_starts

__all__ = ["AdviceCase", "AdviceError", "AdviceQuestion"]


class AdviceError(AssignorLabError):
    """There is no advice for a group whose recorded decisions cannot be reproduced."""


@attrs.frozen
class AdviceQuestion:
    """A question for advice.

    Args:
        options: The present way of restarts.
        mix: ``None``: that of the group's past, or the usual one.
        fixed: A setting that stays, and its value; an empty one is the present value.
        within: A setting, and the values that it may have.
        release: Of Kafka, of the instances; ``None``: unknown.
    """

    aims: Aims
    effort: Effort = attrs.field(factory=Effort)
    options: Options = attrs.field(factory=Options)
    mix: Mix | None = None
    fixed: Mapping[str, str] = attrs.field(factory=dict)
    within: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    release: tuple[int, int] | None = None


@attrs.frozen(eq=False)
class AdviceCase:
    """A group, a question about it, and the terms of the race.

    Args:
        space: The settings that may change.
    """

    read: ReadGroup
    question: AdviceQuestion
    group: AdvisedGroup
    mix: Mix
    space: Space
    assumptions: tuple[str, ...]

    @classmethod
    def of(cls, read: ReadGroup, question: AdviceQuestion) -> AdviceCase:
        """The case of an opened group.

        Raises:
            SpaceError: if a fixed or allowed setting does not exist for the group, or has no such value.
            TimeoutsError: if a session timeout leaves no time for heartbeats.
            AssignorLabError: another subclass, if no play can begin with the group.
        """
        group, mix, space, assumptions = _subject(read, question)
        own = {**{key: [value] for key, value in question.fixed.items()}, **question.within}
        settings = read.terms.sources.effective(read.scenario.config)
        whole = with_own_settings(space, own, read.terms.registry, settings)
        sessions = [int(value) for value in own.get(SESSION, ()) if value.isdecimal()]
        for session in sessions:
            check_timeouts(session, heartbeat_of(session, session))
        allowed = allowed_session(min(sessions, default=LEAST_SESSION_MS))
        told = tuple(dict.fromkeys([mix_sentence(mix), *assumptions, *allowed]))
        return cls(read, question, group, mix, narrowed(whole, question.fixed, question.within), told)

    def advice(
        self,
        processes: int = 0,
        on_play: Callable[[], None] = lambda: None,
        runs: Runs | None = None,
        resumed: Path | None = None,
    ) -> Advice:
        """Races, and judges the winner.

        Args:
            processes: 0: one for each core; the result does not depend on it.
            on_play: Called after each day.
            runs: Plays elsewhere; ``None``: in these processes.
            resumed: File of played days, which are not played again.

        Raises:
            AimError: if an objective or a constraint is unknown in this group, or no configuration meets the
                constraints.
            PlayedDaysError: if the file is of another race, or damaged.
        """
        effort = self.question.effort
        play = player(self.group, self.mix, self.space, effort, processes_value(processes), on_play, runs)
        if resumed is not None:
            play = kept(play, resumed, self._race_terms())
        return advise(self.group, self.mix, self.space, self.question.aims, effort, play)

    def _race_terms(self) -> dict[str, Any]:
        """Everything that decides the cost of a day under a configuration."""
        read, terms, effort = self.read, self.read.terms, self.question.effort
        return {
            "version": version("assignor-lab"),
            "state": (read.scenario if is_member_state(read.scenario) else read.present().scenario).document,
            "workload": None if terms.workload is None else terms.workload.read_text(encoding="utf-8"),
            "config": terms.sources.effective().values_for(""),
            "settings": dict(terms.settings),
            "timings": terms.timings,
            "assignor": terms.assignor,
            "options": attrs.asdict(self.question.options),
            "mix": attrs.asdict(self.mix),
            "present": dict(self.space.present),
            "hours": effort.hours,
            "seed": effort.seed,
        }


def _subject(read: ReadGroup, question: AdviceQuestion) -> tuple[AdvisedGroup, Mix, Space, Sequence[str]]:
    """The group, the mix of its events, all settings that can change, and assumptions."""
    options, given = question.options, question.mix
    if is_connect_state(read.scenario):
        workers = connect_group(read.scenario, read.terms, options)
        worked = connect_past(read.scenarios)
        mix = given or (None if worked is None else worked.mix) or DEFAULT_MIX
        if worked is not None:
            workers = attrs.evolve(workers, second=worked.second)
        seen = () if worked is None else worked.sentences
        return workers, mix, connect_space(workers, mix), [*seen, *workers.assumptions]
    if is_consumer_state(read.scenario):
        consumers = advised_consumers(read.scenario, read.terms, options)
        mix = given or DEFAULT_MIX
        return consumers, mix, consumer_space(consumers, mix), consumers.state.assumptions
    state, are_known = read.present().state, bool(read.terms.timings)
    options = options_with_starts(options, lambda: read.past, state.episode.timings, are_known=are_known)
    subject = AdvisedState(state, read.terms, options)
    past = past_of(read.scenarios, read.terms.settings, read.terms.timings)
    mix = given or (None if past is None else past.mix) or DEFAULT_MIX
    past_sentences = () if past is None else past.sentences
    starts = [] if options.starts is None else [f"a process joins {options.starts.words}"]
    assumptions = [*past_sentences, *starts, *subject.state.episode.assumptions]
    return AdvisedStreamsGroup(subject, past), mix, space_of(subject, mix, question.release), assumptions
