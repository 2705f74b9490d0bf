"""Contenders of a comparison: an assignor, a variant, Kafka's own decision, or answers in a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignment_api.plugins.selection import EffectiveConfig
from assignor_lab.documents.json_lines import json_lines
from assignor_lab.groups.deciding_release import ReleasesSaid, at_releases
from assignor_lab.groups.kind import ContenderAnswer, GroupKind
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.variants import Contender, VariantError, as_variant, configured, variants_of
from assignor_lab.groups.work import OBSERVED, WorkItem
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.runtime.invocation import CallFailure, CallOutcome, failure_of
from assignor_lab.runtime.read_keys import unread_sentences
from assignor_lab.scenarios import Scenario, scenario_from_document

__all__ = ["ComparedContender", "ContenderError", "ContenderTerms", "contender_of", "contenders_of"]


class ContenderError(AssignorLabError):
    """There are not two contenders, or one of them has no answer to a state."""


@attrs.frozen
class ContenderTerms:
    """Terms shared by all contenders."""

    registry: Registry
    isolation: OwnProcesses | None
    sources: ConfigSources
    releases: ReleasesSaid = attrs.field(factory=ReleasesSaid)


class ComparedContender(Protocol):
    """One of the two."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    def answers(
        self, kind: GroupKind[Any, Any], scenario: Scenario, item: WorkItem, terms: ContenderTerms
    ) -> list[ContenderAnswer[Any, Any]]:
        """Its answers to all rounds of a scenario, in order.

        Raises:
            AssignorLabError: a subclass, if it does not support scenarios of this kind, or has no answer.
        """

    def config(self, scenario: Scenario, terms: ContenderTerms) -> EffectiveConfig: ...


def contenders_of(
    assignors: Sequence[str], variants: Sequence[str], answers: Sequence[str], releases: str | None = None
) -> tuple[ComparedContender, ComparedContender]:
    """The two contenders of a command line: assignors, then variants, then files.

    Args:
        assignors: Selectors of assignors; ``kafka`` is Kafka's own decision, if the source has it.
        releases: Of Kafka, separated by commas; with several, each assignor and variant is there in each.

    Raises:
        UnknownReleaseError: if a release is unknown.
        ContenderError: if there are more or fewer than two; one alone is compared with Kafka's own decision.
        VariantError: as :func:`assignor_lab.groups.variants.variants_of`.
        DocumentFormatError: if a file cannot be read.
    """
    found: list[ComparedContender] = [
        contender_of(each) for each in at_releases(variants_of(assignors, variants), releases)[0]
    ]
    names = [f"{name} ({number})" if answers.count(name) > 1 else name for number, name in enumerate(answers, 1)]
    found += [_InFile.read(file, name) for file, name in zip(answers, names, strict=True)]
    if len(found) == 1 and not isinstance(found[0], _Decided):
        found.insert(0, _Decided())
    if len(found) != 2:
        raise ContenderError(
            f"two answers are compared, and {len(found) or 'none'} {'is' if len(found) < 2 else 'are'} named: "
            "name two with --assignor, --variant or --answers; one alone is compared with Kafka's decision"
        )
    return found[0], found[1]


def contender_of(contender: Contender | str) -> ComparedContender:
    """One contender: an assignor, a variant, both of which may be text, or ``kafka``: Kafka's own decision.

    Raises:
        VariantError: if it is a malformed variant.
    """
    variant = as_variant(contender)
    return _Decided() if variant.assignor == OBSERVED and not variant.overrides else _Called(variant)


@attrs.frozen
class _Called:
    variant: Contender

    @property
    def name(self) -> str:
        return self.variant.name

    @property
    def description(self) -> str:
        changed = [f"{key}={value}" for key, value in self.variant.overrides.items()]
        return ", ".join([self.variant.assignor, *changed])

    def answers(
        self, kind: GroupKind[Any, Any], scenario: Scenario, item: WorkItem, terms: ContenderTerms
    ) -> list[ContenderAnswer[Any, Any]]:
        if self.variant.protocol is not None:
            raise VariantError(
                f"variant {self.name!r:.80}: a state has one protocol, which a variant cannot change: `assignor "
                "convert` makes states of the brokers' protocol, `assignor replay` plays histories under it"
            )
        found = kind.find(terms.registry, self.variant.assignor, may_run_code=True)
        terms.releases.take(self.name, found, self._sources(terms), scenario.config, str(scenario.place))
        contender = attrs.evolve(kind.contender(terms.registry, found), name=self.name)
        contest = ComparisonRunner(
            kind, [contender], config=self._sources(terms), observed=False, isolation=terms.isolation
        )  # fmt: skip
        answers = list(contest.answers(item))
        config = self.config(scenario, terms)
        for answer in answers:
            for sentence in unread_sentences(self.name, answer.outcome.unread, config):
                terms.releases.add(sentence)
        return answers

    def config(self, scenario: Scenario, terms: ContenderTerms) -> EffectiveConfig:
        return self._sources(terms).effective(scenario.config, str(scenario.place))

    def _sources(self, terms: ContenderTerms) -> ConfigSources:
        return configured(terms.sources, self.name, self.variant.overrides, terms.registry)


@attrs.frozen
class _Decided:
    name: str = OBSERVED

    @property
    def description(self) -> str:
        return "what Kafka decided"

    def answers(
        self, kind: GroupKind[Any, Any], scenario: Scenario, item: WorkItem, terms: ContenderTerms
    ) -> list[ContenderAnswer[Any, Any]]:
        if scenario.observed is None:
            raise ContenderError(
                f"{scenario.place}: scenario {scenario.id!r} has no decision of Kafka: name a second contender "
                "with --assignor, --variant or --answers"
            )
        return list(_rows_of(kind, scenario, item, self.name, {}))

    def config(self, scenario: Scenario, terms: ContenderTerms) -> EffectiveConfig:
        return terms.sources.effective(scenario.config, str(scenario.place))


@attrs.frozen
class _InFile:
    file: str
    name: str
    lines: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, file: str, name: str) -> _InFile:
        lines: dict[str, Mapping[str, Any]] = {}
        for place, line in json_lines(file):
            if type(line) is not dict or type(line.get("id")) is not str or "assignor" not in line:
                raise ContenderError(
                    f"{place}: this is no result line: give a file that `assignor assign --out FILE` wrote"
                )
            lines[line["id"]] = line
        return cls(file, name, lines)

    @property
    def description(self) -> str:
        assignors = sorted({str(line["assignor"]) for line in self.lines.values()})
        return f"answers of {', '.join(assignors[:3])} in a file" if assignors else "an empty file"

    def answers(
        self, kind: GroupKind[Any, Any], scenario: Scenario, item: WorkItem, terms: ContenderTerms
    ) -> list[ContenderAnswer[Any, Any]]:
        line = self.lines.get(scenario.id)
        if line is None:
            raise ContenderError(f"{self.file} has no answer to scenario {scenario.id!r} of {scenario.place}")
        error = line.get("error")
        if type(error) is dict:
            failure = CallFailure(str(error.get("type")), None, str(error.get("message")))
            return [
                ContenderAnswer(item, number, self.name, scenario, None, CallOutcome(failure))
                for number in range(kind.rounds(scenario))
            ]
        # The keys of an answer in a result line are those of a scenario's `observed`, so its format checks them.
        keys = ("assignment", "followup", "threads", "members", "rounds")
        document = {**scenario.document, "observed": {key: line[key] for key in keys if key in line}}
        answered = scenario_from_document(document, attrs.evolve(scenario.place, file=self.file, line=None))
        return list(_rows_of(kind, answered, item, self.name, terms.sources.explicit_values()))

    def config(self, scenario: Scenario, terms: ContenderTerms) -> EffectiveConfig:
        return terms.sources.effective(scenario.config, str(scenario.place))


def _rows_of(
    kind: GroupKind[Any, Any], scenario: Scenario, item: WorkItem, name: str, explicit: Mapping[str, object]
) -> Iterator[ContenderAnswer[Any, Any]]:
    """Answers from a scenario's ``observed``."""
    ownership = kind.ownership
    if ownership is None or scenario.observed is None:
        raise ContenderError(f"{scenario.place}: answers to scenarios of kind {scenario.kind!r} are not read")
    for number in range(kind.rounds(scenario)):
        answer = partial(ContenderAnswer, item, number, name, scenario)
        try:
            state = kind.state(scenario, number, explicit)
        except AssignorLabError as error:
            yield answer(None, CallOutcome(failure_of(error)))
            continue
        given = _given(ownership, scenario, number, state)
        yield answer(state, CallOutcome(given))


def _given(ownership: Any, scenario: Scenario, number: int, state: Any) -> Any:
    assert scenario.observed is not None
    try:
        given = ownership.answer(scenario, number, state, scenario.observed)
    except AssignorLabError as error:
        return failure_of(error)
    except IndexError:
        given = None
    return CallFailure("NoAnswer", None, "nothing is known of this round") if given is None else given
