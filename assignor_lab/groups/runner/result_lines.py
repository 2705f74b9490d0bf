"""The result line of one assignor, or of a utility, for a scenario of any kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assignment_api import AssignorLabError
from assignment_api.plugins import Registry
from assignor_lab.groups.entries import KindEntry, default_kind, entries
from assignor_lab.groups.kind import AnswerOptions, ContenderAnswer, GroupKind, LoadedContender, Utility
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.invocation import MESSAGE_LIMIT, CallFailure, failure_of
from assignor_lab.runtime.read_keys import unread_sentences
from assignor_lab.scenarios import Scenario, ScenarioKindError, error_row

__all__ = ["AnswerOptions", "Answerer", "answerer", "line_of"]

Answerer = Callable[[Scenario], dict[str, Any]]

MOST_REMARKS = 20
#: The item of a single scenario that is not scored.
_ALONE = WorkItem(0, 0)


def answerer(
    selector: str,
    registry: Registry,
    options: AnswerOptions,
    *,
    may_run_code: bool = False,
    kind: str | None = None,
) -> Answerer:
    """The answerer of the name ``selector``: an assignor, or a utility (``utils.identity`` and the like, ``threads``).

    Args:
        kind: Kind of the scenarios, whose assignors the error of an unknown name lists; ``None``: not known yet.

    Raises:
        UnknownPluginError, AmbiguousPluginError, PluginLoadError, UntrustedCodeError: as the registry does. The answer
            itself raises ScenarioKindError for a scenario of a kind that this name does not answer.
    """
    answers = _utilities(selector, options) or _assignors(selector, registry, options, kind, may_run_code=may_run_code)

    def answer(scenario: Scenario) -> dict[str, Any]:
        by_kind = answers.get(scenario.kind)
        if by_kind is None:
            raise ScenarioKindError(
                f"{scenario.place}: scenario {scenario.id!r} is of kind {scenario.kind!r}, and {selector} answers "
                f"{' and '.join(map(repr, answers))} only: choose an assignor of that kind (`assignor plugins` lists "
                "them), or convert the scenario"
            )
        return by_kind(scenario)

    return answer


def _utilities(selector: str, options: AnswerOptions) -> dict[str, Answerer]:
    # Only kinds that are loaded by name alone have utilities; otherwise every command would import every kind.
    kind = default_kind().load()
    utility = kind.utilities.get(selector)
    return {} if utility is None else {kind.name: lambda scenario: _utility_line(selector, utility, scenario, options)}


def _assignors(
    selector: str, registry: Registry, options: AnswerOptions, kind: str | None, *, may_run_code: bool
) -> dict[str, Answerer]:
    offered = registry.assignor_kinds(selector, may_run_code=may_run_code)
    assigned = [entry for entry in entries() if entry.is_assigned]
    chosen = [entry for entry in assigned if entry.plugins in offered]
    chosen = chosen or [entry for entry in assigned if entry.name == kind] or [default_kind()]
    return {entry.name: _asking(entry, selector, registry, options, may_run_code=may_run_code) for entry in chosen}


def _asking(
    entry: KindEntry, selector: str, registry: Registry, options: AnswerOptions, *, may_run_code: bool
) -> Answerer:
    kind = entry.load()
    found = kind.find(registry, selector, may_run_code=may_run_code)
    contender = kind.contender(registry, found)
    return lambda scenario: line_of(kind, contender, registry, scenario, options)


def line_of(
    kind: GroupKind[Any, Any],
    contender: LoadedContender,
    registry: Registry,
    scenario: Scenario,
    options: AnswerOptions,
) -> dict[str, Any]:
    """The line of one scenario. The first failure in a round becomes a line, too."""
    found = contender.found
    options.on_found(found, scenario.config, str(scenario.place))
    player = kind.player(contender, options.isolation)
    explicit = options.sources.explicit_values()
    answers = []
    seen: set[str] = set()
    config = None
    for number in range(kind.rounds(scenario)):
        try:
            state = kind.state(scenario, number, explicit)
        except AssignorLabError as error:
            return _failed(scenario, found.name, failure_of(error), kind.place_of_round(number))
        if config is None:
            config = options.sources.effective(scenario.config, str(scenario.place))
            for supposition in kind.suppositions(found, config):
                options.on_problem(f"{scenario.place}: {supposition}")
        reply = player.answer(state, player.asked(state, config))
        answer = ContenderAnswer(_ALONE, number, found.name, scenario, state, reply.outcome, calls=reply.calls)
        for problem in kind.tell(registry, answer):
            options.on_problem(f"observer {problem.name} of {problem.distribution}: {problem.reason}")
        result = reply.outcome.result
        if isinstance(result, CallFailure):
            _tell_raised(scenario, found.name, result, kind.place_of_round(number), options)
            _tell_stopped(scenario, found.name, reply.outcome.stopped_at, kind.place_of_round(number), options)
            return _failed(scenario, found.name, result, kind.place_of_round(number))
        reason = kind.not_comparable(scenario, state, explicit, result)
        incomparable = () if reason is None else (f"not comparable: {reason}",)
        _pass_on((*incomparable, *kind.remarks(result)), scenario, number, kind, found.name, seen, options)
        for sentence in unread_sentences(found.name, reply.outcome.unread, config):
            options.on_unread(sentence)
        answers.append((state, result))
    try:
        return kind.line(scenario, found, answers, options)
    except AssignorLabError as error:
        return _failed(scenario, found.name, failure_of(error), "")


def _tell_raised(scenario: Scenario, name: str, failure: CallFailure, round_place: str, options: AnswerOptions) -> None:
    if options.on_raised is None:
        return
    place = _place(scenario, round_place)
    options.on_raised(f"{place}: {name} raised {failure.type}: {failure.message}")
    for line in failure.traceback.splitlines() or ["nothing of a plugin is in its traceback"]:
        options.on_raised(f"  {line}")


def _tell_stopped(
    scenario: Scenario, name: str, lines: Sequence[str], round_place: str, options: AnswerOptions
) -> None:
    if lines:
        place = _place(scenario, round_place)
        options.on_problem(f"{place}: {name} was stopped in {lines[-1]}")
        for line in lines if options.on_raised is not None else ():
            options.on_problem(f"  {line}")


def _place(scenario: Scenario, round_place: str) -> str:
    return f"{scenario.place}, {round_place}" if round_place else str(scenario.place)


def _pass_on(
    remarks: Any,
    scenario: Scenario,
    number: int,
    kind: GroupKind[Any, Any],
    name: str,
    seen: set[str],
    options: AnswerOptions,
) -> None:
    """Reports the remarks of an answer, each once for a scenario."""
    place = _place(scenario, kind.place_of_round(number))
    new = [remark for remark in dict.fromkeys(remarks) if remark not in seen]
    seen.update(new)
    for remark in new[:MOST_REMARKS]:
        options.on_problem(f"{place}: {name}: {remark[:MESSAGE_LIMIT]}")
    if len(new) > MOST_REMARKS:
        options.on_problem(f"{place}: {name}: {len(new) - MOST_REMARKS} more remarks")


def _utility_line(name: str, utility: Utility, scenario: Scenario, options: AnswerOptions) -> dict[str, Any]:
    try:
        return utility(scenario, options)
    except AssignorLabError as error:
        return _failed(scenario, name, failure_of(error), "")


def _failed(scenario: Scenario, assignor: str, failure: CallFailure, round_place: str) -> dict[str, Any]:
    message = f"{round_place}: {failure.message}" if round_place else failure.message
    return error_row(scenario, assignor, failure.type, failure.java_type, message)
