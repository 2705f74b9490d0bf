"""Recorded changes of other applications and machines, predicted without and with the group's own past.

``python -m calibration.accuracy.foreign --write`` writes a part of docs/reference/accuracy.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import attrs

from assignment_api.plugins import Registry, config_sources, discover
from assignor_lab.capture.histories.episodes import past_scenarios
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.planning.intervals import FIGURES, LEAST_SECONDS
from assignor_lab.planning.making import Options
from assignor_lab.planning.past.changes import PastChange, past_changes
from assignor_lab.planning.past.predicting import predicted_change, state_before
from assignor_lab.planning.past_record import PastRecord, PredictedChange
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Range
from assignor_lab.planning.starts import options_with_starts
from assignor_lab.planning.state import present_state
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes
from assignor_lab.verification.verified import verify
from calibration.accuracy.changes import CAPTURES
from calibration.accuracy.page import WORDS, table, write_page

__all__ = ["FOREIGN", "ForeignChange", "foreign_changes", "foreign_text"]

_PART = "on foreign groups, made by python -m calibration.accuracy.foreign"
#: Recordings of other applications: folder, and the names of its files; a log beside the folder if empty.
FOREIGN = {
    **dict.fromkeys(("tagged", "plain-ha", "plain", "warm"), "*[0-9].log.gz"),
    **dict.fromkeys(("restored", "lives"), "*.log.gz"),
    **{f"events/{name}": "records.jsonl.gz" for name in ("outage", "streamed")},
    **{f"flight/{name}": "records.jsonl.gz" for name in ("classic", "streams")},
    **{f"versions/{release}": "" for release in ("3.0.2", "3.9.2", "4.3.1")},
}


@attrs.frozen
class ForeignChange:
    """A change with its prediction without a past, and with the changes before it."""

    group: str
    alone: PredictedChange
    with_past: PredictedChange | None


def foreign_changes(registry: Registry) -> Iterator[ForeignChange]:
    """Changes of groups whose recorded decisions the lab reproduces, by group and time."""
    for name, pattern in FOREIGN.items():
        folder = CAPTURES / name
        files = sorted(folder.glob(pattern)) if pattern else [folder.parent / f"{folder.name}.log.gz"]
        found = _changes(registry, [str(file) for file in files], folder / "application.properties")
        before: list[PredictedChange] = []
        for change, terms in found:
            state = state_before(change, terms)
            alone = predicted_change(change, state, terms)
            past = PastRecord(tuple(reversed(before)))
            yield ForeignChange(name, alone, predicted_change(change, state, terms, past=past) if before else None)
            before.append(alone)


def _changes(registry: Registry, files: Sequence[str], config: Path) -> list[tuple[PastChange, Terms]]:
    """By time; empty if the decisions contradict the assignor."""
    sources = config_sources(config if config.is_file() else None, environ={})
    around = PastSurroundings(sources.above, on_problem=lambda _: None)
    decisions = [each for each in past_scenarios(files, around) if each.observed is not None]
    terms = Terms(registry, sources, given_settings(sources.above))
    if verify(decisions, terms_of(registry, sources, around=around)).refused:
        return []
    episodes = past_episodes(decisions, terms.settings)
    timings = present_state(decisions[-1], terms.settings).episode.timings
    starts = options_with_starts(Options(), lambda: episodes, timings, are_known=False)
    found = []
    for episode in episodes:
        of_past = attrs.evolve(terms, timings=dict(episode.document.get("timings", {})))
        changes, _ = past_changes(episode.document, decisions, starts.start_ms, starts.starts)
        found += [(each, of_past) for each in changes]
    return sorted(found, key=lambda each: each[0].at_ms)


def foreign_text(changes: Sequence[ForeignChange]) -> str:
    alone = [each.alone for each in changes]
    later = [each.with_past for each in changes if each.with_past is not None]
    lines: list[tuple[str, ...]] = [("", "goal", *(WORDS[name] for name in FIGURES))]
    for words, of, width in (("without a past", alone, "70 %"), ("with the changes before it", later, "45 %")):
        inside = [sum(each.is_inside(name) for each in of) for name in FIGURES]
        lines.append(
            (f"inside, {words}", "80 %", *(f"{count} of {len(of)} ({count / len(of):.0%})" for count in inside))
        )
        widths = [median(_width(getattr(each.predicted, name)) for each in of) for name in FIGURES]
        lines.append((f"median width, {words}", f"at most {width}", *(f"{each:.0%}" for each in widths)))
    rows: list[tuple[str, ...]] = [("group", "change", "figure", "recorded", "predicted", "interval", "with its past")]
    rows += [_row(each, name) for each in changes for name in FIGURES]
    return "\n\n".join(("### Foreign groups: goals", table(lines), "### Foreign groups: changes", table(rows)))


def _row(each: ForeignChange, name: str) -> tuple[str, ...]:
    bounds, found = getattr(each.alone.measured, name), getattr(each.alone.predicted, name)
    recorded = f"{bounds.low:.1f}" if bounds.low == bounds.high else f"{bounds.low:.1f} to {bounds.high:.1f}"
    change = f"{each.alone.change} {', '.join(each.alone.instances)}"
    own = "-" if each.with_past is None else _interval(each.with_past, name)
    return each.group, change, WORDS[name], recorded, f"{found.median:.1f}", _interval(each.alone, name), own


def _interval(change: PredictedChange, name: str) -> str:
    found: Range = getattr(change.predicted, name)
    missed = "" if change.is_inside(name) else " **no**"
    return f"{found.low:.1f} to {found.high:.1f}{missed}"


def _width(figure: Range) -> float:
    return (figure.high - figure.low) / max(figure.median, LEAST_SECONDS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m calibration.accuracy.foreign", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the part of the page")
    options = parser.parse_args()
    text = foreign_text(list(foreign_changes(discover())))
    sys.stdout.write(f"{text}\n")
    if options.write:
        write_page(text, _PART)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
