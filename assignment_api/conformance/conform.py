"""Judgement of an assignor against the levels."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assignment_api.conformance.history import History
from assignment_api.conformance.kinds.connect import CONNECT
from assignment_api.conformance.kinds.consumer import CONSUMER, CONSUMER_GROUP, SHARE_GROUP
from assignment_api.conformance.kinds.group import STREAMS_GROUP
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.kinds.streams import STREAMS
from assignment_api.conformance.levels import RULES, Level
from assignment_api.conformance.quality import QualityWarning, warnings_of
from assignment_api.conformance.report import Failure, LevelResult, Report, written_failure
from assignment_api.conformance.search import Search, Smallest, drawn_histories
from assignment_api.conformance.subject import Subject
from assignment_api.conformance.trial import Trial

__all__ = ["KINDS", "conformance", "replayed"]

#: Kinds of groups, by name.
KINDS: Mapping[str, Kind[Any]] = {
    kind.name: kind for kind in (STREAMS, STREAMS_GROUP, CONNECT, CONSUMER, CONSUMER_GROUP, SHARE_GROUP)
}
_MOST_JUDGED = 50
_NONE_KNOWN: Mapping[str, str] = {}


def conformance(
    trial: Trial,
    *,
    selector: str | None = None,
    histories: int = 100,
    seed: int = 0,
    levels: Iterable[Level] = tuple(Level),
    known: Mapping[str, str] = _NONE_KNOWN,
    folder: Path | None = None,
    options: Sequence[str] = (),
    config: Sequence[str] = (),
    on_history: Callable[[], None] = lambda: None,
    on_found: Callable[[str], None] = lambda _rule: None,
    reference: Subject[Any] | None = None,
) -> Report:
    """Run histories with an assignor and report its levels.

    Args:
        selector: Its name in commands; default: the subject's own.
        known: Rule to the reason why a violation is not its own failure.
        options: Of the command that replays a failure.
        config: Options of every command, such as ``-c``.
        reference: Kafka's own assignor, or ``None``: no warnings.
        on_found: Called with a violated rule before shrinking.
    """
    levels = frozenset(levels)
    searched = Search(
        trial, histories, seed, on_history=on_history, on_found=on_found, levels=levels, known=known
    ).run()
    name = selector or trial.subject.name
    found = [written_failure(each, name, folder, known, options, config) for each in searched.found]
    note = "" if searched.has_other_process else "not tested in another process: it cannot be imported by name"
    results = _results(found, levels, searched.reached, note)
    is_answering = not any(each.broken.rule == "in time" for each in searched.found)
    warnings: tuple[QualityWarning, ...] = ()
    if reference is not None and is_answering:
        drawn = drawn_histories(trial.kind, trial.capabilities, min(histories, _MOST_JUDGED), seed)
        warnings = warnings_of(trial, reference, reference.name, drawn)
    return Report(name, trial.kind.name, searched.histories, seed, results, warnings)


def replayed(
    trial: Trial,
    history: History,
    *,
    selector: str | None = None,
    known: Mapping[str, str] = _NONE_KNOWN,
    levels: Iterable[Level] = tuple(Level),
) -> Report:
    """Levels that one history violates, apart from time."""
    broken = {each.rule: each for each in reversed([*trial.broken(history)])}
    name = selector or trial.subject.name
    documents = trial.kind.documents(trial.asked, "replayed")
    found = [written_failure(Smallest(each, history, documents), name, None, known) for each in broken.values()]
    judged = [level for level in levels if level is not Level.BOUNDED]
    note = "" if trial.elsewhere is not None else "not tested in another process: it cannot be imported by name"
    return Report(name, trial.kind.name, 1, 0, _results(found, judged, trial.reached, note))


def _results(
    found: Sequence[Failure], levels: Iterable[Level], reached: Container[Level], note: str
) -> tuple[LevelResult, ...]:
    results = []
    for level in sorted(levels, key=list(Level).index):
        failures = tuple(failure for failure in found if RULES[failure.rule].level is level)
        noted = note if level is Level.DETERMINISTIC else ""
        if any(failure.known is None for failure in failures):
            results.append(LevelResult(level, "failed", failures, noted))
        elif failures:
            results.append(LevelResult(level, "known", failures, noted))
        elif level not in reached:
            results.append(LevelResult(level, "not judged", note="no answer got so far that it could be judged"))
        else:
            results.append(LevelResult(level, "passed", note=noted))
    return tuple(results)
