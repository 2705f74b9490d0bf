"""Holding an assignor to the levels: search, then a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assignment_api.conformance.history import History
from assignment_api.conformance.kinds.connect import CONNECT
from assignment_api.conformance.kinds.group import STREAMS_GROUP
from assignment_api.conformance.kinds.kind import Kind
from assignment_api.conformance.kinds.streams import STREAMS
from assignment_api.conformance.levels import RULES, Level
from assignment_api.conformance.report import Failure, LevelResult, Report, written_failure
from assignment_api.conformance.search import Search, Smallest
from assignment_api.conformance.trial import Trial

__all__ = ["KINDS", "conformance", "replayed"]

#: The kinds of groups, by name.
KINDS: Mapping[str, Kind[Any]] = {kind.name: kind for kind in (STREAMS, STREAMS_GROUP, CONNECT)}
_AFTER_ANSWERS = (Level.PURE, Level.DETERMINISTIC, Level.STABLE, Level.CONVERGENT)
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
) -> Report:
    """Plays histories with an assignor and says which levels it holds.

    Args:
        trial: Who is tried, and how.
        selector: Name by which commands know it; by default the subject's own.
        histories: Histories that are played.
        seed: What they are drawn from.
        levels: Levels that are judged.
        known: Rule to the reason why breaking it is no failure of the assignor's own.
        folder: Where failures are written; ``None``: nowhere.
        options: Further options of the command that plays a failure again.
        config: Options of every command that say under which configuration it was, such as ``-c`` and ``key=value``.
        on_history: Called before each history.
    """
    searched = Search(trial, histories, seed, on_history=on_history).run()
    name = selector or trial.subject.name
    found = [written_failure(each, name, folder, known, options, config) for each in searched.found]
    note = "" if searched.has_other_process else "not asked in another process: it cannot be imported by name"
    results = _results(found, levels, searched.calm_histories, note)
    return Report(name, trial.kind.name, searched.histories, seed, results)


def replayed(
    trial: Trial,
    history: History,
    *,
    selector: str | None = None,
    known: Mapping[str, str] = _NONE_KNOWN,
    levels: Iterable[Level] = tuple(Level),
) -> Report:
    """Plays one history and says which levels it shows to be missed; time is not judged."""
    broken = {each.rule: each for each in reversed([*trial.broken(history)])}
    name = selector or trial.subject.name
    documents = trial.kind.documents(trial.asked, "replayed")
    found = [written_failure(Smallest(each, history, documents), name, None, known) for each in broken.values()]
    judged = [level for level in levels if level is not Level.BOUNDED]
    note = "" if trial.elsewhere is not None else "not asked in another process: it cannot be imported by name"
    return Report(name, trial.kind.name, 1, 0, _results(found, judged, trial.calm_histories, note))


def _results(
    found: Sequence[Failure], levels: Iterable[Level], calm_histories: int, note: str
) -> tuple[LevelResult, ...]:
    results = []
    for level in sorted(levels, key=list(Level).index):
        failures = tuple(failure for failure in found if RULES[failure.rule].level is level)
        noted = note if level is Level.DETERMINISTIC else ""
        if any(failure.known is None for failure in failures):
            results.append(LevelResult(level, "failed", failures, noted))
        elif failures:
            results.append(LevelResult(level, "known", failures, noted))
        elif level in _AFTER_ANSWERS and not calm_histories:
            results.append(LevelResult(level, "not judged", note="no history got as far as its last answer"))
        else:
            results.append(LevelResult(level, "passed", note=noted))
    return tuple(results)
