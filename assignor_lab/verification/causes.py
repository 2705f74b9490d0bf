"""The likely cause of decisions that are not reproduced, found by changing one input at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigSources, Registry
from assignor_lab.capture.recorded.partition_states import CLASSIC, partition_protocol
from assignor_lab.clients.plugins import LIBRARIES, known_client_assignor
from assignor_lab.documents.edits import changed
from assignor_lab.documents.wording import plural
from assignor_lab.groups.changes import Input, InputTrial
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.variants import overridden
from assignor_lab.runtime.assignor_calls import OwnProcesses
from assignor_lab.scenarios import Scenario, scenario_from_document
from assignor_lab.verification.decisions import CheckedDecision, checked_decisions

__all__ = ["Cause", "Reading", "Tried", "likely_cause"]

_FIRST = 4
_MOST = 24
_BEST = 3
#: Bound on time, without a clock: tasks of all trials together.
_MOST_TASKS = 120_000
#: Share of the tasks that a trial must mend to count as a cause, if it reproduces no decision.
_NOTICEABLE = 0.05
_OPEN: Mapping[str, tuple[Input, str]] = {
    "racks unknown:": ("racks", "the source does not show the racks"),
    "config not in the log": ("configuration", "the log does not show the configuration"),
    "config is unknown": ("configuration", "the recording does not show the configuration"),
}
_STRATEGY = "rack.aware.assignment.strategy"
_EXCHANGES = 0.5


@attrs.frozen
class Reading:
    """Another way to read the same source.

    Args:
        input: The input that it changes.
    """

    input: Input
    words: str
    decisions: Callable[[], Iterable[Scenario]]
    fits: Callable[[Mapping[str, Any]], bool] = lambda _document: True


@attrs.frozen
class Tried:
    """The result of a trial.

    Args:
        settings: The changed keys of the configuration.
    """

    input: Input
    words: str
    decisions: int
    reproduced: int
    before: int
    settings: tuple[str, ...] = ()


@attrs.frozen
class Cause:
    """The likely cause.

    Args:
        remedy: The remedy, likewise; ``None``: the general one for that input.
        tried: The trial that found it; ``None``: the recording itself does.
    """

    input: Input
    evidence: str
    tried: Tried | None = None
    remedy: str | None = None


def likely_cause(
    checked: Sequence[CheckedDecision],
    registry: Registry,
    config: ConfigSources,
    isolation: OwnProcesses | None = None,
    readings: Sequence[Reading] = (),
) -> tuple[Cause | None, tuple[Tried, ...]]:
    """The input that most likely does not fit; ``None`` if no trial helps and the source leaves nothing open.

    Every trial repeats a few decisions that were not reproduced. The best trials repeat more.
    """
    trying = _Trying(registry, config, isolation)
    first = checked[0].scenario
    own = config.effective(first.config, str(first.place))
    trials: list[InputTrial | Reading] = [
        *(each for each in readings if each.fits(first.document)),
        *kind_named(first.kind).trials([each.scenario for each in checked], own, checked[0].assignor),
        *_library_trials(first, checked[0].assignor),
    ]
    failed = [each for each in checked if not each.is_reproduced]
    few = _spread(failed, _FIRST, _MOST_TASKS // max(1, len(trials)))
    found = [result for trial in trials if (result := trying.result(trial, few)) is not None]
    best = sorted(found, key=_Result.order)[:_BEST]
    others = [each for each in checked if each.is_reproduced]
    more = [*_spread(failed, _MOST, _MOST_TASKS // _BEST), *_spread(others, _MOST // 2, _MOST_TASKS // _BEST)]
    if len(more) > len(few):
        again = [result for each in best if (result := trying.result(each.trial, more)) is not None]
        found = [next((new for new in again if new.trial is each.trial), each) for each in found]
        best = sorted(again, key=_Result.order)
    cause = _found(best[0]) if best and best[0].tasks else None
    is_rack_aware = own.entries.get(_STRATEGY) is not None and own.entries[_STRATEGY].value != "none"
    return cause or _left_open(failed, is_rack_aware=is_rack_aware), tuple(each.tried for each in found)


def _library_trials(scenario: Scenario, assignor: str) -> Iterator[InputTrial]:
    """The same strategy as client libraries decide it, for plain consumers whose leader decides."""
    if partition_protocol(scenario.document) != CLASSIC:
        return
    for library in LIBRARIES:
        name = known_client_assignor(library, assignor)
        if name is not None:
            yield InputTrial("client library", f"as {library} decides (--client {library})", assignor=name)


@attrs.frozen
class _Result:
    trial: InputTrial | Reading
    decisions: int
    tasks: int
    reproduced: int
    same_tasks: int
    reproduced_before: int
    same_tasks_before: int

    def order(self) -> tuple[int, int]:
        return self.reproduced_before - self.reproduced, self.same_tasks_before - self.same_tasks

    @property
    def tried(self) -> Tried:
        settings = () if isinstance(self.trial, Reading) else tuple(self.trial.settings)
        return Tried(
            self.trial.input, self.trial.words, self.decisions, self.reproduced, self.reproduced_before, settings
        )


@attrs.frozen
class _Trying:
    registry: Registry
    config: ConfigSources
    isolation: OwnProcesses | None

    def result(self, trial: InputTrial | Reading, base: Sequence[CheckedDecision]) -> _Result | None:
        """``None`` if the trial is impossible, for example because Kafka refuses a key."""
        try:
            found = self._decided(trial, base)
        except AssignorLabError:
            return None
        now = [found[key] for each in base if (key := _key(each)) in found]
        return _Result(
            trial,
            len(base),
            sum(each.tasks for each in base),
            sum(each.is_reproduced for each in now),
            sum(each.same_tasks for each in now),
            sum(each.is_reproduced for each in base),
            sum(each.same_tasks for each in base),
        )

    def _decided(
        self, trial: InputTrial | Reading, base: Sequence[CheckedDecision]
    ) -> dict[tuple[str, int], CheckedDecision]:
        scenarios = list({id(each.scenario): each.scenario for each in base}.values())
        config, assignor = self.config, base[0].assignor
        if isinstance(trial, Reading):
            wanted = {each.id for each in scenarios}
            scenarios = [each for each in trial.decisions() if each.id in wanted]
        else:
            config = overridden(config, trial.settings) if trial.settings else config
            assignor = trial.assignor or assignor
            if (edits := trial.edits) is not None:
                edited = [(changed(each.document, edits(each)), each.place) for each in scenarios]
                scenarios = [scenario_from_document(document, place) for document, place in edited]
        checked = checked_decisions(scenarios, self.registry, config, assignor, self.isolation)
        return {_key(each): each for each in checked}


def _key(each: CheckedDecision) -> tuple[str, int]:
    return each.scenario.id, each.round


def _spread(decisions: Sequence[CheckedDecision], most: int, tasks: int) -> list[CheckedDecision]:
    largest = max((each.tasks for each in decisions), default=0)
    count = min(len(decisions), most, max(1, tasks // max(1, largest)))
    if count < 2:
        return list(decisions[:count])
    return [decisions[place * (len(decisions) - 1) // (count - 1)] for place in range(count)]


def _found(best: _Result) -> Cause | None:
    trial, change = best.trial, best.trial.words
    if best.reproduced > best.reproduced_before:
        some = "" if best.reproduced_before == 0 else f", {best.reproduced_before} without"
        verb = "comes" if best.reproduced == 1 else "come"
        evidence = f"{best.reproduced} of {plural(best.decisions, 'decision')} {verb} out {change}{some}"
        return Cause(trial.input, evidence, best.tried)
    gained = best.same_tasks - best.same_tasks_before
    if gained > _NOTICEABLE * best.tasks:
        shares = [f"{tasks / best.tasks:.0%}" for tasks in (best.same_tasks, best.same_tasks_before)]
        evidence = f"{shares[0]} of the tasks are where they were recorded {change}, {shares[1]} without"
        return Cause(trial.input, evidence, best.tried)
    return None


def _left_open(failed: Sequence[CheckedDecision], *, is_rack_aware: bool) -> Cause | None:
    reason = next((each.not_comparable for each in failed if each.not_comparable is not None), None)
    if reason is not None:
        fact, _, remedy = reason.partition(": ")
        return Cause("racks" if "rack" in fact else "names", fact, remedy=remedy or None)
    exchanges = sum(each.is_exchange for each in failed)
    evidence = f"{exchanges} of {plural(len(failed), 'decision')} give each client as many tasks, and others"
    of_exchanges = Cause("racks", evidence) if exchanges > _EXCHANGES * len(failed) else None
    if of_exchanges is not None and is_rack_aware:
        return of_exchanges
    for beginning, (name, open_evidence) in _OPEN.items():
        if any(assumption.startswith(beginning) for each in failed for assumption in each.scenario.assumptions):
            return Cause(name, open_evidence)
    return of_exchanges if any(_knows_racks(each.scenario) for each in failed) else None


def _knows_racks(scenario: Scenario) -> bool:
    members = scenario.document.get("members") or scenario.document.get("clients") or ()
    return any(each.get("rack") for each in members)
