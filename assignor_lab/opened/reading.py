"""The present group of a source, verified: the beginning of ``plan`` and ``advise``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import attrs

from assignment_api.input_files import open_input
from assignment_api.plugins import ConfigSources
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.option_values import OptionValueError
from assignor_lab.groups.variants import PROTOCOL
from assignor_lab.opened.states import StateChoiceError, chosen_states, is_plain, terms_of_states
from assignor_lab.planning.past.members import is_member_state
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.recorded_owners import check_owners
from assignor_lab.planning.state import PresentState, present_state, under_configuration, under_other_protocol
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.scenarios import Scenario
from assignor_lab.scenarios.racks import Racks
from assignor_lab.scenarios.settings import given_settings, without_effect
from assignor_lab.verification.replays import past_episodes
from assignor_lab.verification.sample import DecisionSample
from assignor_lab.verification.verified import VerificationTerms

__all__ = ["PresentGroup", "ReadGroup", "group_of_source"]


@attrs.frozen(eq=False)
class ReadGroup:
    """The recorded decisions of a group, the last one, and the terms."""

    scenario: Scenario
    terms: Terms
    sample: DecisionSample
    verified_under: VerificationTerms
    scenarios: Sequence[Scenario]

    @property
    def name(self) -> str:
        """The group's id; without one, the id of its last state."""
        return str((self.scenario.source or {}).get("group", self.scenario.id))

    @cached_property
    def past(self) -> Sequence[Scenario]:
        """The episodes of the decisions; empty if they form no past."""
        return past_episodes([each for each in self.scenarios if each.observed is not None], self.terms.settings)

    def present(self) -> PresentGroup:
        """The group of the last stable state, ready for plays; if no decision is complete, of the last state.

        Raises:
            DocumentFormatError, NoStateError, EmptyGroupError: if no play can begin with the state.
        """
        terms, last = self.terms, self.scenario
        stable = next((each for each in reversed(self.scenarios) if each.observed is not None), last)
        check_owners(stable)
        found = present_state(stable, terms.settings, terms.timings, terms.workload)
        state = under_configuration(found, terms.sources)
        given = terms.sources.effective().entries.get(PROTOCOL)
        if given is not None and given.value is not None:
            state = under_other_protocol(state, str(given.value).lower())
        sentences = [] if state.is_classic else without_effect(terms.settings)
        if stable is not last:
            sentences.insert(
                0,
                f"decision {last.id} was interrupted by a further rebalance: the group is as in {stable.id}, its last "
                "stable state",
            )
        if sentences:
            assumptions = tuple(dict.fromkeys([*sentences, *state.episode.assumptions]))
            state = attrs.evolve(state, episode=attrs.evolve(state.episode, assumptions=assumptions))
        return PresentGroup(stable, state, terms, self.sample, self.verified_under, self.scenarios)


@attrs.frozen(eq=False)
class PresentGroup:
    """The group as it is."""

    scenario: Scenario
    state: PresentState
    terms: Terms
    sample: DecisionSample
    verified_under: VerificationTerms
    scenarios: Sequence[Scenario]


def group_of_source(
    source: str,
    state_id: str | None,
    plugins: Plugins,
    given: ConfigSources,
    past: PastTerms,
    note: Callable[[str], None],
    *,
    racks: Racks | None = None,
    assignor: str | None = None,
) -> ReadGroup:
    """The states of a source with one group.

    Args:
        past: Facts that the source lacks, and the way to read it (:data:`~.past_terms.DECISIONS`).
        note: Receives a sentence on each oddity of the source.
        assignor: Decides in every play; ``None``: the group's own.

    Raises:
        StateChoiceError: if the source has no state, or states of several groups.
        DocumentFormatError: if the source, or a given file, cannot be read.
        OptionValueError: if a given file has no effect on a group of this kind.
    """
    files = {"--topology": past.topology, "--workload": past.workload}
    for file in filter(None, files.values()):
        _check_readable(file)
    sample = DecisionSample()
    # Plays use the given weights and durations; the verified states are as they were recorded.
    read = attrs.evolve(past, workload=None, timings={}, timings_file=None)
    scenarios = list(sample.passed(chosen_states(source, state_id, plugins.registry, given, racks, read, note)))
    groups = {(each.source or {}).get("group", each.id) for each in scenarios}
    if len(groups) != 1:
        raise StateChoiceError(f"{source!r} holds states of {len(groups)} groups: choose one state (--id)")
    if is_member_state(scenarios[-1]):
        if unused := next((option for option, file in files.items() if file is not None), None):
            raise OptionValueError(f"{unused} is for Streams groups: it has no effect on the group of {source!r:.80}")
    elif past.topology is not None and is_plain(source):
        note(f"--topology is not used: the states of {source} have their tasks")
    workload = None if past.workload is None else Path(past.workload)
    terms = Terms(plugins.registry, given, given_settings(given.above), past.timings, assignor, workload)
    verified_under = terms_of_states(source, plugins, given, read, racks)
    return ReadGroup(scenarios[-1], terms, sample, verified_under, scenarios)


def _check_readable(file: str) -> None:
    try:
        open_input(file).close()
    except OSError as error:
        reason = f"cannot be read: {error.strerror}; check the path"
        raise DocumentFormatError(file, None, "", reason) from None
