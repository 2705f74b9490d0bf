"""The generated parts of docs/reference/accuracy.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from assignor_lab.documents.durable import write_durably
from assignor_lab.planning.intervals import FIGURES, Widening
from calibration.accuracy.public_report import REPORTED, ReportedPlan
from calibration.accuracy.rows import ChangePair, Figure, StepRow, summary

__all__ = ["CONNECT", "PAGE", "STREAMS", "WORDS", "page_text", "table", "write_page", "write_shipped"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "accuracy.md"
_SHIPPED = PAGE.parents[2] / "assignor_lab" / "planning" / "calibration.json"
#: The generated parts, as their marks name them.
STREAMS, CONNECT = "made by make accuracy", "on Connect groups, made by make accuracy"
WORDS: Mapping[str, str] = {"worst_task_seconds": "worst task", "task_seconds": "all tasks together"}
#: Required share of steps inside their intervals: 41 of 50.
_COVERED = 41 / 50


def page_text(
    rows: Sequence[StepRow],
    pairs: Sequence[ChangePair],
    calibration: Mapping[str, Widening],
    report: Sequence[ReportedPlan] = (),
) -> str:
    return "\n\n".join(
        (
            "## Goals",
            _goals(rows, pairs),
            "## Recorded steps",
            "Times are seconds. The error is predicted minus recorded. A step in italics is poorly known.",
            *(part for name in FIGURES for part in (f"### {WORDS[name].capitalize()}", _steps(rows, name))),
            "## Bad rows",
            _bad(rows),
            "## Errors by form of change",
            _forms(calibration),
            "## Choice between two configurations",
            _wrong(pairs),
            *(("## A public report", _report(report)) if report else ()),
        )
    )


def write_shipped(changed: Mapping[str, object]) -> None:
    """Replaces parts of ``calibration.json``."""
    shipped = json.loads(_SHIPPED.read_text(encoding="utf-8"))
    write_durably(_SHIPPED, f"{json.dumps({**shipped, **changed}, indent=1)}\n".encode())


def write_page(text: str, part: str = STREAMS) -> None:
    """Replaces a generated part of the page."""
    begin, end = f"<!-- {part} -->", f"<!-- end of the part {part} -->"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    write_durably(PAGE, f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}".encode())


def _goals(rows: Sequence[StepRow], pairs: Sequence[ChangePair]) -> str:
    worst, every = (summary(rows, name) for name in FIGURES)
    count = len(rows)
    right = sum(each.is_right for each in pairs)
    lines = [
        ("", "goal", "worst task", "all tasks together"),
        ("median error", "at most 15 %", *(f"{each['median_error']:.0%}" for each in (worst, every))),
        (
            "off by more than 50 % and 3 s", "only if poorly known",
            *(f"{each['far']:.0f}, of them {each['far_unmarked']:.0f} not marked" for each in (worst, every)),
        ),
        (
            "90 % intervals that hold the truth", f"{_COVERED:.0%}",
            *(f"{each['covered']:.0f} of {count} ({each['covered'] / count:.0%})" for each in (worst, every)),
        ),
        (
            "median width of the intervals", "at most 30 % of the prediction",
            *(f"{each['median_width']:.0%}" for each in (worst, every)),
        ),
        (
            "the same without poorly known steps", "",
            *(f"{each['median_width_known']:.0%}" for each in (worst, every)),
        ),
        (
            "closer than the naive estimate, or within 1 s", "90 %",
            *(f"{each['beats_naive']:.0%}" for each in (worst, every)),
        ),
        (
            "right choice between two recordings", "95 %",
            *(
                f"{sum(pair.is_right for pair in pairs if pair.figure == name)} of "
                f"{sum(pair.figure == name for pair in pairs)}"
                for name in FIGURES
            ),
        ),
    ]  # fmt: skip
    return f"{table(lines)}\n\nOf all pairs, {right} of {len(pairs)} are in the right order."


def _steps(rows: Sequence[StepRow], name: str) -> str:
    lines = [("recording", "step", "recorded", "predicted", "90 % interval", "error", "holds it", "naive", "its error")]
    for row in rows:
        figure = row.figures[name]
        step = f"*{row.phase}*" if row.poorly_known else row.phase
        lines.append(
            (
                row.recording, step, f"{figure.truth:.1f}", f"{figure.predicted.median:.1f}",
                f"{figure.predicted.low:.1f} to {figure.predicted.high:.1f}", f"{figure.error:+.0%}",
                "yes" if figure.is_covered else "**no**", *_naive(figure),
            )
        )  # fmt: skip
    return table(lines)


def _naive(figure: Figure) -> tuple[str, str]:
    if figure.naive is None:
        return "unknown", "-"
    return f"{figure.naive:.1f}", f"{(figure.naive - figure.truth) / figure.truth:+.0%}" if figure.truth else "-"


def _bad(rows: Sequence[StepRow]) -> str:
    bad = [
        (row.recording, row.phase, WORDS[name], f"{figure.truth:.1f}", f"{figure.predicted.median:.1f}", row.form)
        for row in rows
        for name, figure in row.figures.items()
        if figure.is_far or not figure.is_covered
    ]
    if not bad:
        return "There is none."
    text = "These predictions are off by more than 50 % and 3 s, or their interval misses the truth."
    return f"{text}\n\n{table([('recording', 'step', 'figure', 'recorded', 'predicted', 'form'), *bad])}"


def _forms(calibration: Mapping[str, Widening]) -> str:
    text = (
        "An interval grows by these shares of the prediction: at its lower end, and at its upper end.\n"
        "These are the errors of all recordings.\n"
        "`assignor plan` uses them (`assignor_lab/planning/calibration.json`)."
    )
    lines = [("form", *(WORDS[name] for name in FIGURES), "longest absence, s", "recordings", "steps")]
    for form, known in calibration.items():
        errors = (" / ".join(f"{share:.1%}" for share in known.errors[name]) for name in FIGURES)
        lines.append((form, *errors, f"{known.longest_seconds:.1f}", str(known.recordings), str(known.steps)))
    return f"{text}\n\n{table(lines)}"


def _wrong(pairs: Sequence[ChangePair]) -> str:
    wrong = [
        (
            pair.kind, WORDS[pair.figure], f"{pair.one[0]}: {pair.one[1]:.1f} / {pair.one[2]:.1f}",
            f"{pair.other[0]}: {pair.other[1]:.1f} / {pair.other[2]:.1f}",
        )
        for pair in pairs
        if not pair.is_right
    ]  # fmt: skip
    if not wrong:
        return "All pairs that differ beyond noise are in the right order."
    text = "These pairs differ beyond noise and are predicted in the wrong order. Cells are recorded / predicted."
    return f"{text}\n\n{table([('change', 'figure', 'one', 'other'), *wrong])}"


def _report(report: Sequence[ReportedPlan]) -> str:
    assumptions = list(dict.fromkeys(each.assumption for each in report))
    found = {(each.way, each.assumption): each.worst_task_seconds for each in report}
    lines = [("way to deploy", "reported, s", *assumptions)]
    for way, seconds in REPORTED.items():
        lines.append((way, f"{seconds:.0f}", *(f"{found[way, assumption]:.1f}" for assumption in assumptions)))
    text = (
        "Six instances of Kafka 3.0 with 40 GB of state (mcmap.net/q/950577) were deployed in three ways.\n"
        "The report gives the greatest latency of a record; the table has the predicted worst task.\n"
        "Session timeout, closing, start, record sizes and restore rate are not reported: defaults stand for them.\n"
        "Under the defaults the order is not the reported one.\n"
        "Tasks of a closed instance wait for the session timeout, so 7 s need members that leave, or a shorter one.\n"
        "The start of the processes decides the first way, and the restore rate the second one.\n"
        "With the last column's assumptions, the order is the reported one, and each figure is within a factor of 2."
    )
    return f"{text}\n\n{table(lines)}"


def table(lines: Sequence[Sequence[str]]) -> str:
    head, *rest = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join((head, f"|{'---|' * len(lines[0])}", *rest))
