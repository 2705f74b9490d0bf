"""Everything that one process needs to score the items of a run: contenders, metrics, families, observers."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from assignment_api.plugins import PluginError, PluginRow, Registry
from assignor_lab.groups.kind import ContenderAnswer, GroupKind, LoadedContender, MissingContender
from assignor_lab.groups.runner.comparison import ComparisonRunner
from assignor_lab.groups.runner.convergence import Convergence
from assignor_lab.groups.runner.measures import MeasuresWithExclusions
from assignor_lab.groups.runner.probes import Probes
from assignor_lab.groups.runner.rows import RowMaker
from assignor_lab.groups.runner.terms import JobSpec, families_of
from assignor_lab.groups.variants import Contender, timings_of
from assignor_lab.groups.work import WorkItem
from assignor_lab.model.pictures import Picture
from assignor_lab.runtime.discovery import discovered
from assignor_lab.runtime.invocation import failure_of
from assignor_lab.runtime.isolation.limits import Limits
from assignor_lab.runtime.isolation.plugins import Isolation

__all__ = ["Complaints", "Scorer"]


class Scorer:
    """Scores items under the terms of a run, with the plugins of this process."""

    def __init__(self, spec: JobSpec, registry: Registry | None = None) -> None:
        config = spec.config.effective()
        self.spec = spec
        self.kind: GroupKind[Any, Any] = spec.kind.load()
        if registry is None:
            plugins = discovered(config, described=spec.described)
            self._registry, self._isolation = plugins.registry, plugins.isolation
        else:
            self._registry, self._isolation = registry, Isolation(Limits.of(config), config.policy())
        self.contest: ComparisonRunner[Any, Any] = ComparisonRunner(
            kind=self.kind,
            contenders=tuple(map(self._contender, spec.assignors)),
            families=families_of(self._registry, spec.families),
            config=spec.config,
            observed=spec.observed,
            isolation=self._isolation,
        )
        self._sparing = MeasuresWithExclusions(self.kind.figures(self._registry, spec.metrics, config), self._registry)
        self._rows = RowMaker(self.kind, self._sparing.measures)
        self._probes = Probes(self.kind.prober(self._isolation.limits), self.contest.families)
        self._columns = frozenset(spec.metrics)
        self._complaints = Complaints()

    def rows(self, item: WorkItem) -> list[dict[str, Any]]:
        """The rows of all answers to ``item``, by round, then in the order of the contenders."""
        rows: list[dict[str, Any]] = []
        convergence = Convergence(self.kind, self._columns)
        self._sparing.begin(item)
        for answer in self.contest.answers(item):
            row = self._rows.row(answer)
            row |= self._probes.columns(answer)
            row |= self._raw(answer)
            rows.append(row)
            convergence.note(answer, row)
            self._complaints.say(self.kind.tell(self._registry, answer))
        convergence.fill_in()
        return rows

    def measured(self, item: WorkItem) -> Iterator[tuple[ContenderAnswer[Any, Any], dict[str, Any]]]:
        """All answers to ``item``, in the same order, each with its row, without probes."""
        self._sparing.begin(item)
        for answer in self.contest.answers(item):
            yield answer, self._rows.row(answer)

    def pictures(self, item: WorkItem, wanted: Mapping[tuple[int, int], str | None]) -> Iterator[tuple[int, Picture]]:
        """Number and picture of the wanted rounds of ``item``, which is answered once more."""
        by_round: dict[int, list[ContenderAnswer[Any, Any]]] = {}
        for answer in self.contest.answers(item):
            if (item.number, answer.round) in wanted:
                by_round.setdefault(answer.round, []).append(answer)
        for number, answers in by_round.items():
            yield number, self.kind.picture(answers, wanted[item.number, number])

    def _raw(self, answer: ContenderAnswer[Any, Any]) -> dict[str, str | None]:
        if not self.spec.raw:
            return {}
        known = answer.state is not None and answer.outcome.failure is None
        return {"raw_answer": json.dumps(self.kind.document(answer), separators=(",", ":")) if known else None}

    def close(self) -> None:
        self._isolation.close()

    def _contender(self, variant: Contender) -> LoadedContender | MissingContender:
        try:
            found = self.kind.find(self._registry, variant.assignor, may_run_code=self.spec.may_run_code)
        except PluginError as error:
            # The driver has it and this process has not: each of its rows holds the error.
            return MissingContender(variant.name, failure_of(error))
        contender = self.kind.contender(self._registry, found)
        if variant.is_plain:
            return contender
        overrides, timings = timings_of(variant, self.kind.timing_keys)
        return attrs.evolve(contender, name=variant.name, overrides=overrides, timings=timings)


MAX_COMPLAINTS = 20


class Complaints:
    """Names failing observers on standard error, each fault once."""

    def __init__(self) -> None:
        self._said: set[str] = set()

    def say(self, problems: Iterable[PluginRow]) -> None:
        """Writes the new ones among ``problems``, which the registry returned."""
        for problem in problems:
            complaint = f"assignor: observer {problem.name} of {problem.distribution}: {problem.reason}"
            if complaint not in self._said and len(self._said) < MAX_COMPLAINTS:
                self._said.add(complaint)
                sys.stderr.write(complaint + "\n")
