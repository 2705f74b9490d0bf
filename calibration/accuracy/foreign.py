"""Recorded changes of other applications and machines, predicted without and with the group's own past.

Each prediction has the ratios of all other groups: the set of groups that chose an interval is not that of its figure.

``python -m calibration.accuracy.foreign --write`` writes a part of docs/reference/accuracy.md.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import attrs

from assignment_api.plugins import Registry, config_sources, discover
from assignor_lab.capture.histories.episodes import past_scenarios
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.planning.foreign import ANY, Ratios, foreign_ratios
from assignor_lab.planning.intervals import FIGURES, LEAST_SECONDS, calibrated, form_of_change
from assignor_lab.planning.making import Options
from assignor_lab.planning.past.changes import PastChange, past_changes
from assignor_lab.planning.past.predicting import played_change, refused_past, state_before, without_contradicted
from assignor_lab.planning.past_record import (
    LEAST_OF_ROUND,
    PastRecord,
    PredictedAway,
    PredictedChange,
    RecordedBounds,
)
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.predicted import Prediction, Range
from assignor_lab.planning.starts import options_with_starts
from assignor_lab.planning.state import present_state
from assignor_lab.scenarios.settings import given_settings
from assignor_lab.simulation.streams.formats.episodes import read_past
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.replays import past_episodes
from assignor_lab.verification.verified import verify
from calibration.accuracy.changes import CAPTURES, RECORDINGS
from calibration.accuracy.conformal import quantile
from calibration.accuracy.page import WORDS, table, write_page, write_shipped
from calibration.accuracy.predicting import Predicted, predicted_changes

__all__ = [
    "FOREIGN", "SAMPLED", "ChangeRatios", "ForeignChange", "foreign_changes", "foreign_of", "foreign_text",
    "ratios_of", "recorded_files", "spread_of",
]  # fmt: skip

#: Share of new groups on the right side of one end of a form.
_HELD = 0.7
#: Share of changes of new groups inside the interval, and the steps of a share of the plays' spread.
_INSIDE, _STEPS = 0.9, 100

_PART = "on foreign groups, made by python -m calibration.accuracy.foreign"
#: A folder of ``record`` with samples of the changelogs' ends.
SAMPLED = "*.json*"
#: Recordings of other applications: folder, and the names of its files; a log beside the folder if empty.
FOREIGN = {
    **dict.fromkeys(("tagged", "plain-ha", "plain", "warm"), "*[0-9].log.gz"),
    **dict.fromkeys(("restored", "lives"), "*.log.gz"),
    **{f"events/{name}": "records.jsonl.gz" for name in ("outage", "streamed")},
    **{f"flight/{name}": "records.jsonl.gz" for name in ("classic", "streams")},
    **{f"versions/{release}": "" for release in ("3.0.2", "3.9.2", "4.3.1")},
    # The records of `groups/static` do not show when a static member stopped.
    **{f"groups/{name}": SAMPLED for name in ("joined", "stateless", "standbys", "streamed", "busy")},
}


@attrs.frozen(eq=False)
class ForeignChange:
    """A change, its plays, and the changes of the same group before it.

    Args:
        cluster: Groups of one application and machine count as one.
        played: The figures of the plays, as the recording would show them.
    """

    group: str
    cluster: str
    change: PastChange
    protocol: str
    played: Prediction
    before: tuple[ForeignChange, ...] = ()

    @property
    def form(self) -> str:
        return form_of_change(self.protocol, self.change.plan, self.played.total)

    def alone(self, ratios: Mapping[str, Ratios]) -> PredictedChange:
        """With the interval of a group without a past."""
        return self._predicted(ratios, None)

    def with_past(self, ratios: Mapping[str, Ratios]) -> PredictedChange | None:
        """``None`` for the first change of a group."""
        if not self.before:
            return None
        return self._predicted(ratios, PastRecord(tuple(each.alone(ratios) for each in self.before)))

    def _predicted(self, ratios: Mapping[str, Ratios], past: PastRecord | None) -> PredictedChange:
        total = calibrated(self.played, self.protocol, self.change.plan, past=past, foreign=ratios).total
        away = PredictedAway(total.worst_task_seconds, total.task_seconds)
        return PredictedChange(
            self.change.at_ms, self.change.kind, self.change.instances, away, self.change.away, self.form
        )


@attrs.frozen
class ChangeRatios:
    """Ratios *measured / predicted* of one change, by figure."""

    form: str
    cluster: str
    ratios: Mapping[str, float]


def foreign_changes(registry: Registry, names: Iterable[str] = FOREIGN) -> Iterator[ForeignChange]:
    """Changes of groups whose recorded decisions the lab reproduces, by group and time."""
    for name, pattern in ((name, pattern) for name, pattern in FOREIGN.items() if name in names):
        folder = CAPTURES / name
        before: list[ForeignChange] = []
        with recorded_files(name, pattern) as sources:
            found = _changes(registry, sources, folder / "application.properties")
        for change, terms in found:
            state = state_before(change, terms)
            cluster = folder.parent.name if folder.parent.name == "versions" else name
            played = played_change(change, state, terms)
            made = ForeignChange(name, cluster, change, state.episode.protocol, played, tuple(reversed(before)))
            yield made
            before.append(made)


@contextmanager
def recorded_files(name: str, pattern: str) -> Iterator[list[str]]:
    """The files of a recording; of one with samples the folder, as ``record`` writes it."""
    folder = CAPTURES / name
    files = sorted(folder.glob(pattern)) if pattern else [folder.parent / f"{folder.name}.log.gz"]
    if pattern != SAMPLED:
        yield [*map(str, files)]
        return
    with TemporaryDirectory() as unpacked:
        for file in files:
            if file.suffix == ".gz":
                (Path(unpacked) / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
            else:
                shutil.copy(file, unpacked)
        yield [unpacked]


def samples_of(changes: Iterable[ForeignChange]) -> list[ChangeRatios]:
    return [
        ChangeRatios(
            each.form,
            each.cluster,
            {name: _ratio(getattr(each.played.total, name), getattr(each.change.away, name), name) for name in FIGURES},
        )
        for each in changes
    ]


def own_samples(predicted: Iterable[Predicted]) -> list[ChangeRatios]:
    """Steps of the recordings of ``make accuracy``, which share an application: a recording is a cluster."""
    found = []
    for each in predicted:
        for step, planned, recorded in zip(
            each.prediction.steps, each.change.plan.steps, each.change.steps, strict=True
        ):
            protocol, plan = each.change.protocol, attrs.evolve(each.change.plan, steps=(planned,))
            form = form_of_change(protocol, plan, step)
            of_step = {name: getattr(recorded, name) for name in FIGURES}
            ratios = {
                name: _ratio(getattr(step, name), RecordedBounds(truth, truth), name) for name, truth in of_step.items()
            }
            found.append(ChangeRatios(form, each.change.recording, ratios))
    return found


def _ratio(figure: Range, found: RecordedBounds, name: str) -> float:
    """The recorded value that is nearest to the prediction, over it."""
    nearest = max(found.low, min(figure.median, found.high))
    return 1 + (nearest - figure.median) / max(figure.median, LEAST_OF_ROUND[name])


def ratios_of(samples: Sequence[ChangeRatios], *without: str) -> dict[str, Ratios]:
    """Form to the ratios that hold the truth in :data:`_HELD` of new groups at each end.

    Args:
        without: Clusters that are left out.
    """
    known = [each for each in samples if each.cluster not in without]
    forms = {form: [each for each in known if each.form == form] for form in sorted({each.form for each in known})}
    return {form: _ratios(of_form) for form, of_form in {**forms, ANY: known}.items()}


def spread_of(changes: Sequence[ForeignChange], samples: Sequence[ChangeRatios], *without: str) -> tuple[float, float]:
    """Share of the plays' spread with which :data:`_INSIDE` of new changes are inside, by figure.

    Each change counts with the ratios of other groups.

    Args:
        without: Clusters that are left out.
    """
    known = [each for each in changes if each.cluster not in without]
    others = {each.cluster: ratios_of(samples, each.cluster, *without) for each in known}

    def least(change: ForeignChange, name: str) -> float:
        ratios = foreign_ratios(change.form, others[change.cluster])

        def is_inside(step: int) -> bool:
            share = step / _STEPS
            return change.alone({ANY: attrs.evolve(ratios, spread=(share, share))}).is_inside(name)

        return bisect_left(range(_STEPS), True, key=is_inside) / _STEPS

    worst, every = (quantile([[least(each, name)] for each in known], _INSIDE) for name in FIGURES)
    return worst, every


def foreign_of(changes: Sequence[ForeignChange], samples: Sequence[ChangeRatios], *without: str) -> dict[str, Ratios]:
    """Form to its ratios, with the share of the plays' spread that counts."""
    spread = spread_of(changes, samples, *without)
    return {form: attrs.evolve(known, spread=spread) for form, known in ratios_of(samples, *without).items()}


def _ratios(samples: Sequence[ChangeRatios]) -> Ratios:
    clusters: dict[str, list[Mapping[str, float]]] = {}
    for each in samples:
        clusters.setdefault(each.cluster, []).append(each.ratios)

    def ends(name: str) -> tuple[float, float]:
        values = [[ratios[name] for ratios in cluster] for cluster in clusters.values()]
        least = -quantile([[-each for each in cluster] for cluster in values], _HELD)
        return round(min(1.0, least), 4), round(max(1.0, quantile(values, _HELD)), 4)

    return Ratios(ends("worst_task_seconds"), ends("task_seconds"), len(clusters))


def _changes(registry: Registry, files: Sequence[str], config: Path) -> list[tuple[PastChange, Terms]]:
    """By time; empty if the decisions contradict the assignor."""
    sources = config_sources(config if config.is_file() else None, environ={})
    around = PastSurroundings(sources.above, on_problem=lambda _: None)
    decisions = [each for each in past_scenarios(files, around) if each.observed is not None]
    terms = Terms(registry, sources, given_settings(sources.above))
    verification = verify(decisions, terms_of(registry, sources, around=around))
    if refused_past(verification) is not None:
        return []
    episodes = past_episodes(decisions, terms.settings)
    timings = present_state(decisions[-1], terms.settings).episode.timings
    starts = options_with_starts(Options(), lambda: episodes, timings, are_known=False)
    found = []
    for episode in episodes:
        of_past = attrs.evolve(terms, timings=dict(episode.document.get("timings", {})))
        changes, _ = past_changes(read_past(episode), decisions, starts.start_ms, starts.starts)
        found += [(each, of_past) for each in without_contradicted(changes, verification)[0]]
    return sorted(found, key=lambda each: each[0].at_ms)


def foreign_text(changes: Sequence[ForeignChange], samples: Sequence[ChangeRatios]) -> str:
    every = foreign_of(changes, samples)
    others = {cluster: foreign_of(changes, samples, cluster) for cluster in {each.cluster for each in changes}}
    alone = [each.alone(others[each.cluster]) for each in changes]
    with_past = [each.with_past(others[each.cluster]) for each in changes]
    later = [each for each in with_past if each is not None]
    chosen_on = [each.alone(every) for each in changes]
    lines: list[tuple[str, ...]] = [("", "goal", *(WORDS[name] for name in FIGURES))]
    for words, of, width in (
        ("without a past", alone, "70 %"),
        ("with the changes before it", later, "45 %"),
        ("without a past, its own ratios included", chosen_on, "70 %"),
    ):
        inside = [sum(each.is_inside(name) for each in of) for name in FIGURES]
        lines.append(
            (f"inside, {words}", "80 %", *(f"{count} of {len(of)} ({count / len(of):.0%})" for count in inside))
        )
        widths = [median(_width(getattr(each.predicted, name)) for each in of) for name in FIGURES]
        lines.append((f"median width, {words}", f"at most {width}", *(f"{each:.0%}" for each in widths)))
    rows: list[tuple[str, ...]] = [("group", "change", "figure", "recorded", "predicted", "interval", "with its past")]
    rows += [
        _row(each.group, found, past, name)
        for each, found, past in zip(changes, alone, with_past, strict=True)
        for name in FIGURES
    ]
    parts = ("### Foreign groups: goals", table(lines), "### Foreign groups: changes", table(rows))
    shares = " and ".join(f"{share:.0%}".replace("%", " %") for share in next(iter(every.values())).spread)
    spread = f"Of the spread of the plays, {shares} count (worst task, all tasks together)."
    return "\n\n".join((*parts, "### Foreign groups: ratios by form", spread, _forms(every)))


def _forms(ratios: Mapping[str, Ratios]) -> str:
    lines: list[tuple[str, ...]] = [("form", *(WORDS[name] for name in FIGURES), "groups")]
    for form, known in ratios.items():
        ends = [" to ".join(f"{end:.2f}" for end in getattr(known, name)) for name in FIGURES]
        lines.append((form, *ends, str(known.groups)))
    return table(lines)


def _row(group: str, alone: PredictedChange, past: PredictedChange | None, name: str) -> tuple[str, ...]:
    bounds, found = getattr(alone.measured, name), getattr(alone.predicted, name)
    recorded = f"{bounds.low:.1f}" if bounds.low == bounds.high else f"{bounds.low:.1f} to {bounds.high:.1f}"
    change = f"{alone.change} {', '.join(alone.instances)}"
    own = "-" if past is None else _interval(past, name)
    return group, change, WORDS[name], recorded, f"{found.median:.1f}", _interval(alone, name), own


def _interval(change: PredictedChange, name: str) -> str:
    found: Range = getattr(change.predicted, name)
    missed = "" if change.is_inside(name) else " **no**"
    return f"{found.low:.1f} to {found.high:.1f}{missed}"


def _width(figure: Range) -> float:
    return (figure.high - figure.low) / max(figure.median, LEAST_SECONDS)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m calibration.accuracy.foreign", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the part of the page, and calibration.json")
    options = parser.parse_args()
    registry = discover()
    changes = list(foreign_changes(registry))
    samples = [*samples_of(changes), *own_samples(predicted_changes(registry, list(RECORDINGS), 20, 0))]
    text = foreign_text(changes, samples)
    sys.stdout.write(f"{text}\n")
    if options.write:
        write_page(text, _PART)
        write_shipped({"foreign": {form: attrs.asdict(known) for form, known in foreign_of(changes, samples).items()}})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
