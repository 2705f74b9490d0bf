"""The answers of a view: its state or past is changed and given to the contenders, as in a run."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any

import attrs

from assignment_api.plugins import ConfigSources
from assignment_api.plugins.keys import is_policy_key
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.compare.figures import metrics_of_headline
from assignor_lab.compare.verdicts import settings_words
from assignor_lab.documents.edits import Edit, changed
from assignor_lab.groups.entries import KindEntry, entry_of
from assignor_lab.groups.kind import ContenderAnswer, GroupKind
from assignor_lab.groups.ownership.recorded_outcome import ActionRow
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.variants import overridden
from assignor_lab.groups.work import OBSERVED, WorkItem
from assignor_lab.model.pictures import ConnectSnapshot, Picture
from assignor_lab.runtime.discovery import Plugins
from assignor_lab.scenarios import Place, Scenario, scenario_from_document
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.web.address import View, text_of
from assignor_lab.web.errors import NotThereError, PageError
from assignor_lab.web.opened import Opened
from assignor_lab.web.plays import DEADLINE_S, PlayProgress, Plays
from assignor_lab.web.replaying import episode_of
from assignor_lab.web.states import OpenedStates

__all__ = ["AnsweredContender", "AnsweredState", "ViewAnswers"]

MOST_KEPT = 32
MOST_READ = 8
MOST_SCORERS = 4
#: Seconds for which a growing past is played in its first form.
PINNED_S = 2 * DEADLINE_S
#: Default assignor of an episode.
_PLAYED = "high_availability"
#: Figures of plays besides the headline.
_OF_PLAYS = ("rebalances",)
_LONG_S = 5.0
_DECISIONS = PastTerms()


@attrs.frozen
class AnsweredContender:
    """A contender that answered, and the reason why its answer is not comparable, or ``None``."""

    assignor: str
    not_comparable: str | None = None


@attrs.frozen(eq=False)
class AnsweredState:
    """A view's state with its answers."""

    scenario: Scenario
    kind: GroupKind[Any, Any]
    number: int
    state: Any
    contenders: tuple[str, ...]
    answers: Sequence[AnsweredContender]
    figures: Sequence[Mapping[str, Any]]
    picture: Picture
    actions: Sequence[ActionRow] = ()
    settings: Mapping[str, str] = attrs.field(factory=dict)


class ViewAnswers:
    """Answers of views, one at a time, with a cache."""

    def __init__(
        self,
        opened: Opened,
        plugins: Plugins,
        config: ConfigSources,
        *,
        may_run_code: bool = False,
        words: Sequence[str] = (),
        terms: PastTerms = _DECISIONS,
        around: Sequence[str] = (),
        seconds: float = DEADLINE_S,
    ) -> None:
        self.opened = opened
        self.plugins = plugins
        self.config = config
        self.words, self.around = tuple(words), tuple(around)
        self.lock = RLock()
        self.terms = terms
        self._may_run_code = may_run_code
        self._plays: Plays[AnsweredState] = Plays(seconds)
        self._scorers: OrderedDict[Any, Scorer] = OrderedDict()
        self._kept: OrderedDict[Any, AnsweredState] = OrderedDict()
        self._read: OrderedDict[Any, tuple[object, Scenario]] = OrderedDict()
        self._pinned_s: dict[Any, float] = {}

    def close(self) -> None:
        self._plays.close()
        for scorer in self._scorers.values():
            scorer.close()
        self.plugins.isolation.close()

    def sources(self, view: View) -> ConfigSources:
        """The configuration of a view.

        Raises:
            AssignorLabError: if a setting does not concern assignment, or has an invalid value.
        """
        if not view.settings:
            return self.config
        for key in view.settings:
            # A URL may come from elsewhere, so trust is set only on the command line.
            if is_policy_key(key):
                raise PageError(f"{key} is not changed here: give it to `assignor ui` with -c")
        return overridden(self.config, view.settings)

    def kind(self, view: View) -> KindEntry:
        """The kind of a view's state, or of the episode of its past."""
        if view.past is None:
            return self.opened.states(view.source).kind
        return entry_of(self.scenario(view).kind)

    def scenario(self, view: View) -> Scenario:
        """The state of a view, or the episode of its past, after its changes.

        Raises:
            NotThereError: if there is no such state or past.
            PageError: if a change is impossible.
            DocumentFormatError: if the changed state is invalid, with the place.
            HistoryError: if the past cannot be played.
        """
        key = _place(view)
        states = self.opened.states(view.source)
        # A recording may have more records of the same decision or past by now.
        now: object = states if view.past is not None else states.scenario(view.state).document
        base, known = self._read.get(key, (None, None))
        if known is None or (base is not now and not self._is_pinned(key)):
            known = self._changed(view, self._as_read(view, states))
            self._keep(key, now, known)
            self._pinned_s[key] = time.monotonic() if view.past is not None else float("-inf")
        self._read.move_to_end(key)
        return known

    def _is_pinned(self, key: Any) -> bool:
        """True if a growing past keeps its first form for now; otherwise no play of it would ever finish."""
        return time.monotonic() - self._pinned_s.get(key, float("-inf")) < PINNED_S

    def _as_read(self, view: View, states: OpenedStates) -> Scenario:
        if view.past is None:
            return states.scenario(view.state)
        return episode_of(states, view.past, self.terms, self.plugins.registry, self.config)

    def _keep(self, key: Any, base: object, read: Scenario) -> None:
        self._read[key] = (base, read)
        while len(self._read) > MOST_READ:
            self._pinned_s.pop(self._read.popitem(last=False)[0], None)

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
        # Kafka's decision and the recorded events belong to another state.
        document.pop("observed", None)
        document.pop("recorded", None)
        document["id"] = f"{scenario.id}, changed"[:200]
        return scenario_from_document(document, Place(scenario.place.file, scenario.place.line))

    def _forget(self, view: View, scenario: Scenario) -> None:
        """Reads a state again after a plugin in this process has changed it."""
        fresh = scenario_from_document(json.loads(json.dumps(scenario.document)), scenario.place)
        self._keep(_place(view), self.opened.states(view.source).scenario(view.state).document, fresh)

    def _one_more(self, view: View, document: Mapping[str, Any], place: Place) -> Sequence[Edit]:
        scenario = scenario_from_document(document, place)
        kind = entry_of(scenario.kind).load()
        number = self._round(kind, scenario, view.round)
        state = kind.state(scenario, number, self.sources(view).explicit_values())
        change = None if kind.changes is None else kind.changes.one_more(scenario, number, state)
        if change is None:
            raise PageError("there is no client that another one could be like")
        return change.edits

    def asked(self, view: View) -> AnsweredState:
        """The answers to a view's round; waits for its plays without a limit.

        Raises:
            AssignorLabError: a subclass, if a contender or the view is invalid.
        """
        with self.lock:
            known = self._known(view)
            if known is None and not self.kind(view).load().plays:
                known = self._note(view, self._ask(view, self.scenario(view)))
        while known is None:
            found = self.underway(view, _LONG_S)
            known = None if isinstance(found, PlayProgress) else found
        return known

    def underway(self, view: View, seconds: float) -> AnsweredState | PlayProgress | None:
        """The plays of a view, or their progress; ``None``: the view has no plays.

        Raises:
            AssignorLabError: as :meth:`asked`.
        """
        with self.lock:
            if not self.kind(view).load().plays:
                return None
            known, scenario = self._known(view), self.scenario(view)
            if known is not None:
                return known
            work, contenders = self._play(view, scenario)
        found = self._plays.wait((_key(view), id(scenario)), work, contenders, seconds)
        if isinstance(found, PlayProgress):
            return found
        with self.lock:
            return self._note(view, found)

    def _known(self, view: View) -> AnsweredState | None:
        known = self._kept.get(_key(view))
        if known is None or known.scenario is not self.scenario(view):
            return None
        self._kept.move_to_end(_key(view))
        return known

    def _note(self, view: View, answered: AnsweredState) -> AnsweredState:
        self._kept[_key(view)] = answered
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return answered

    def _ask(self, view: View, scenario: Scenario) -> AnsweredState:
        kind = self.kind(view).load()
        number = self._round(kind, scenario, view.round)
        scorer, names = self._scorer(view, scenario)
        answers, figures = [], []
        for answer, row in scorer.measured(_item(scenario)):
            if answer.round == number:
                answers.append(answer)
                figures.append(row)
        if any(answer.outcome.input_mutated for answer in answers):
            self._forget(view, scenario)
        picture = attrs.evolve(kind.picture(answers, None), chosen="asked")
        shown = [AnsweredContender(answer.assignor, answer.not_comparable) for answer in answers]
        return AnsweredState(scenario, kind, number, answers[0].state, names, shown, figures, picture)

    def _play(self, view: View, scenario: Scenario) -> tuple[Callable[[Callable[[], None]], AnsweredState], int]:
        kind = self.kind(view).load()
        self._round(kind, scenario, view.round)
        spec, names = self._spec(view, scenario)

        def work(done: Callable[[], None]) -> AnsweredState:
            scorer = Scorer(spec, self.plugins.registry)
            answers, figures = [], []
            try:
                for answer, row in scorer.measured(_item(scenario)):
                    answers.append(answer)
                    figures.append(row)
                    done()
            finally:
                scorer.close()
            settings = {each.name: settings_words(each.settings) for each in spec.assignors if each.settings}
            return attrs.evolve(_played(kind, scenario, names, answers, figures), settings=settings)

        return work, len(names)

    def _round(self, kind: GroupKind[Any, Any], scenario: Scenario, number: int | None) -> int:
        last = kind.rounds(scenario) - 1
        if number is not None and number > last:
            raise NotThereError(f"{scenario.id} has no round {number}: its last one is {last}")
        return last if number is None else number

    def _default(self, kind: GroupKind[Any, Any], scenario: Scenario) -> str:
        usual = kind.usual(scenario)
        if usual is not None:
            return usual
        if kind.ownership is not None:
            return kind.ownership.default_assignor
        names = [found.name for found in kind.installed(self.plugins.registry)]
        return _PLAYED if _PLAYED in names or not names else names[0]

    def _spec(self, view: View, scenario: Scenario) -> tuple[JobSpec, tuple[str, ...]]:
        entry = self.kind(view)
        kind = entry.load()
        wanted = view.contenders or (self._default(kind, scenario),)
        competing = found_contenders(self.plugins.registry, wanted, may_run_code=self._may_run_code, kind=entry)
        if competing.unloaded:
            raise PageError("; ".join(f"{each.name} cannot be used: {each.reason}" for each in competing.unloaded))
        known = kind.metrics(self.plugins.registry)
        measured = [*metrics_of_headline(kind.headline), *(_OF_PLAYS if kind.plays else ())]
        spec = JobSpec(
            tuple(contender.variant for contender in competing.assignors),
            tuple(name for name in dict.fromkeys(measured) if name in known),
            config=self.sources(view),
            may_run_code=self._may_run_code,
            kind=entry,
            described=self.plugins.described,
        )
        return spec, tuple(contender.name for contender in competing.assignors)

    def _scorer(self, view: View, scenario: Scenario) -> tuple[Scorer, tuple[str, ...]]:
        spec, names = self._spec(view, scenario)
        key = (spec.kind.name, names, view.contenders, tuple(view.settings.items()))
        if key not in self._scorers:
            self._scorers[key] = Scorer(spec, self.plugins.registry)
            while len(self._scorers) > MOST_SCORERS:
                self._scorers.popitem(last=False)[1].close()
        self._scorers.move_to_end(key)
        return self._scorers[key], names


def _played(
    kind: GroupKind[Any, Any],
    scenario: Scenario,
    names: tuple[str, ...],
    answers: Sequence[ContenderAnswer[Any, Any]],
    figures: Sequence[Mapping[str, Any]],
) -> AnsweredState:
    """Plays in their cached form, without the large simulated worlds."""
    shown = [AnsweredContender(answer.assignor, answer.not_comparable) for answer in answers]
    picture = attrs.evolve(kind.picture(answers, None), chosen="asked")
    beside = kind.recorded_outcome(answers)
    if beside is None:
        return AnsweredState(scenario, kind, 0, None, names, shown, figures, picture)
    if beside.picture is not None and isinstance(picture, ConnectSnapshot):
        shown.append(AnsweredContender(OBSERVED))
        figures = [*figures, dict(beside.figures)]
        picture = attrs.evolve(picture, answers=(*picture.answers, beside.picture))
    return AnsweredState(scenario, kind, 0, None, names, shown, figures, picture, beside.actions)


def _item(scenario: Scenario) -> WorkItem:
    return WorkItem(0, 0, file=scenario.place.file, line=scenario.place.line, scenario=scenario)


def _key(view: View) -> str:
    return attrs.evolve(view, task=None, why_not=None, at_ms=None).url()


def _place(view: View) -> tuple[object, ...]:
    return view.source, view.state, view.past, text_of(view.steps), view.round
