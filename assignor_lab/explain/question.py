"""The question of a command line: a state of a file, its round, and the assignor."""

from __future__ import annotations

from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.explain.changed_calls import Question
from assignor_lab.explain.explanation import ExplainError
from assignor_lab.groups.deciding_release import release_sentence
from assignor_lab.groups.entries import kind_named
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario

__all__ = ["question_of", "releases_of"]


def question_of(
    scenario: Scenario,
    number: int | None,
    selector: str | None,
    registry: Registry,
    sources: ConfigSources,
    isolation: OwnProcesses | None,
) -> Question:
    """The question.

    Args:
        selector: The assignor; ``None``: Kafka's own assignor for such groups.

    Raises:
        ExplainError: if there is no such round, or scenarios of this kind are not explained.
        UnknownPluginError, PluginLoadError: as the registry.
    """
    kind = kind_named(scenario.kind)
    ownership = kind.ownership
    if ownership is None or kind.changes is None:
        raise ExplainError(
            f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}, which is played, not answered: "
            "`assignor simulate` shows its course"
        )
    rounds = kind.rounds(scenario)
    if not rounds:
        raise ExplainError(f"{scenario.place}: scenario {scenario.id!r} has no round")
    if number is not None and number >= rounds:
        raise ExplainError(
            f"{scenario.place}: scenario {scenario.id!r} has no round {number}: its last one is {rounds - 1}"
        )
    found = kind.find(registry, selector or kind.usual(scenario) or ownership.default_assignor, may_run_code=True)
    contender = kind.contender(registry, found)
    return Question(
        kind, ownership, contender, scenario, rounds - 1 if number is None else number, sources, isolation
    )  # fmt: skip


def releases_of(question: Question) -> list[str]:
    """The sentence on the release of Kafka that the answer holds for; none for assignors of plugins."""
    found, scenario = question.contender.found, question.scenario
    sentence = release_sentence(found.name, found, question.sources.effective(scenario.config, str(scenario.place)))
    return [] if sentence is None else [sentence]
