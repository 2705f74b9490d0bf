"""What is asked for a view: the state after its changes, put to the contenders by the same contest as a run's."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources
from assignment_api.plugins.keys import is_policy_key
from assignor_lab.compare.figures import metrics_of_headline
from assignor_lab.groups.changes import Edit, changed
from assignor_lab.groups.entries import KindEntry
from assignor_lab.groups.kind import Answer, Kind
from assignor_lab.groups.scorer import Scorer
from assignor_lab.groups.terms import JobSpec
from assignor_lab.groups.variants import overridden
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scoring.competitors import competitors
from assignor_lab.web.address import View, text_of
from assignor_lab.web.errors import NotThereError, PageError
from assignor_lab.web.opened import Opened

__all__ = ["Asked", "Asking"]

#: Answers that are kept: who goes back and forth, or moves the time of an episode, does not wait again.
MOST_KEPT = 32
#: States that are kept as values, which take long to be read.
MOST_READ = 8
#: Scorers that are kept, each with the processes of its plugins.
MOST_SCORERS = 4
#: Who plays an episode where nobody is named.
_PLAYED = "high_availability"


@attrs.frozen(eq=False)
class Asked:
    """A view's state and what came of asking.

    Args:
        scenario: The state after the changes.
        kind: Its kind.
        number: The round.
        contenders: Names of those who were asked, in order.
        answers: Their answers to the round, Kafka's own decision last where it is known.
        figures: A row for each answer: column of a metric to its value.
        picture: All of it as the summary has it.
    """

    scenario: Scenario
    kind: Kind[Any, Any]
    number: int
    contenders: tuple[str, ...]
    answers: Sequence[Answer[Any, Any]]
    figures: Sequence[dict[str, Any]]
    picture: Mapping[str, Any]

    @property
    def state(self) -> Any:
        """What was asked; ``None``: it could not even be made."""
        return self.answers[0].state


class Asking:
    """Asks for views, one at a time; the latest answers are kept.

    Args:
        opened: What was opened.
        plugins: What is installed.
        config: Configuration around the states' own.
        may_run_code: Whether a contender may be ``module:attribute``.
        words: Words of the command line that stand for ``config``.
    """

    def __init__(
        self,
        opened: Opened,
        plugins: Plugins,
        config: ConfigSources,
        *,
        may_run_code: bool = False,
        words: Sequence[str] = (),
    ) -> None:
        self.opened = opened
        self.plugins = plugins
        self.config = config
        self.words = tuple(words)
        self.lock = Lock()
        self._may_run_code = may_run_code
        self._scorers: OrderedDict[Any, Scorer] = OrderedDict()
        self._kept: OrderedDict[Any, Asked] = OrderedDict()
        self._read: OrderedDict[Any, tuple[Mapping[str, Any], Scenario]] = OrderedDict()

    def close(self) -> None:
        """Ends the processes of plugins."""
        for scorer in self._scorers.values():
            scorer.close()
        self.plugins.isolation.close()

    def sources(self, view: View) -> ConfigSources:
        """The configuration of a view.

        Raises:
            AssignorLabError: if a setting of it concerns no assignment, or its value is none.
        """
        if not view.settings:
            return self.config
        for key in view.settings:
            # An address may come from somebody else: whom the lab trusts is said where it was started.
            if is_policy_key(key):
                raise PageError(f"{key} is not changed here: give it to `assignor ui` with -c")
        return overridden(self.config, view.settings)

    def scenario(self, view: View) -> Scenario:
        """The state of a view, after its changes.

        Raises:
            NotThereError: if there is no such state.
            PageError: if a change cannot be made.
            DocumentFormatError: if the state would be none, at the value at fault.
        """
        scenario = self.opened.states(view.source).scenario(view.state)
        key = _place(view)
        base, known = self._read.get(key, (None, None))
        # A recording may tell more of the same decision by now.
        if known is None or base is not scenario.document:
            known = self._changed(view, scenario)
            self._keep(key, scenario, known)
        self._read.move_to_end(key)
        return known

    def _keep(self, key: Any, base: Scenario, read: Scenario) -> None:
        self._read[key] = (base.document, read)
        while len(self._read) > MOST_READ:
            self._read.popitem(last=False)

    def _changed(self, view: View, scenario: Scenario) -> Scenario:
        if not view.steps:
            return scenario
        document = dict(scenario.document)
        for number, step in enumerate(view.steps, start=1):
            edits = self._one_more(view, document, scenario.place) if isinstance(step, str) else step
            try:
                document = changed(document, edits)
            except (LookupError, TypeError, ValueError) as error:
                raise PageError(f"change {number} does not fit the state: it has no such place") from error
        # What Kafka decided was about another state.
        document.pop("observed", None)
        document["id"] = f"{scenario.id}, changed"[:200]
        return scenario_from_document(document, Place(scenario.place.file, scenario.place.line))

    def _forget(self, view: View, scenario: Scenario) -> None:
        """Reads a state anew: a plugin in this process has changed what it was shown."""
        fresh = scenario_from_document(json.loads(json.dumps(scenario.document)), scenario.place)
        self._keep(_place(view), self.opened.states(view.source).scenario(view.state), fresh)

    def _one_more(self, view: View, document: Mapping[str, Any], place: Place) -> Sequence[Edit]:
        """The edits that add a client to a state as it is by now."""
        kind = self.opened.states(view.source).kind.load()
        scenario = scenario_from_document(document, place)
        number = self._round(kind, scenario, view.round)
        state = kind.state(scenario, number, self.sources(view).explicit_values())
        change = None if kind.changes is None else kind.changes.one_more(scenario, number, state)
        if change is None:
            raise PageError("there is no client that another one could be like")
        return change.edits

    def asked(self, view: View) -> Asked:
        """The answers to a view's round.

        Raises:
            AssignorLabError: a subclass, if a contender is none, or the view means nothing.
        """
        key = attrs.evolve(view, task=None, why_not=None, at_ms=None).url()
        scenario = self.scenario(view)
        known = self._kept.get(key)
        if known is None or known.scenario is not scenario:
            self._kept[key] = self._ask(view, scenario)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

    def _ask(self, view: View, scenario: Scenario) -> Asked:
        entry = self.opened.states(view.source).kind
        kind = entry.load()
        number = self._round(kind, scenario, view.round)
        scorer, names = self._scorer(view, entry)
        item = WorkItem(0, 0, file=scenario.place.file, line=scenario.place.line, scenario=scenario)
        answers, figures = [], []
        for answer, row in scorer.measured(item):
            if answer.round == number:
                answers.append(answer)
                figures.append(row)
        if any(answer.outcome.input_mutated for answer in answers):
            self._forget(view, scenario)
        return Asked(scenario, kind, number, names, answers, figures, kind.picture(answers, None) | {"chosen": "asked"})

    def _round(self, kind: Kind[Any, Any], scenario: Scenario, number: int | None) -> int:
        last = kind.rounds(scenario) - 1
        if number is not None and number > last:
            raise NotThereError(f"{scenario.id} has no round {number}: its last one is {last}")
        return last if number is None else number

    def _default(self, kind: Kind[Any, Any]) -> str:
        """Kafka's own assignor for groups of a kind."""
        if kind.holding is not None:
            return kind.holding.default_assignor
        names = [found.name for found in kind.installed(self.plugins.registry)]
        return _PLAYED if _PLAYED in names or not names else names[0]

    def _scorer(self, view: View, entry: KindEntry) -> tuple[Scorer, tuple[str, ...]]:
        kind = entry.load()
        wanted = view.contenders or (self._default(kind),)
        key = (entry.name, wanted, tuple(view.settings.items()))
        competing = competitors(
            self.plugins.registry, wanted, may_run_code=self._may_run_code, kind=entry
        )  # fmt: skip
        if competing.unloaded:
            raise PageError("; ".join(f"{each.name} cannot be asked: {each.reason}" for each in competing.unloaded))
        if key not in self._scorers:
            known = kind.metrics(self.plugins.registry)
            spec = JobSpec(
                tuple(entrant.variant for entrant in competing.assignors),
                tuple(name for name in metrics_of_headline(kind.headline) if name in known),
                config=self.sources(view),
                may_run_code=self._may_run_code,
                kind=entry,
                described=self.plugins.described,
            )
            self._scorers[key] = Scorer(spec, self.plugins.registry)
            while len(self._scorers) > MOST_SCORERS:
                self._scorers.popitem(last=False)[1].close()
        self._scorers.move_to_end(key)
        return self._scorers[key], tuple(entrant.name for entrant in competing.assignors)


def _place(view: View) -> tuple[object, ...]:
    """What decides the state of a view, whoever is asked about it."""
    return view.source, view.state, text_of(view.steps), view.round
