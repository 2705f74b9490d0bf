"""The generated section on Connect groups of docs/reference/accuracy.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from assignor_lab.planning.intervals import FIGURES, Widening
from calibration.accuracy.connect_predicting import HELD, ConnectRow, covered
from calibration.accuracy.page import WORDS, table
from calibration.accuracy.rows import Figure

__all__ = ["connect_text"]


def connect_text(rows: Sequence[ConnectRow], errors: Mapping[str, Widening]) -> str:
    return "\n\n".join(
        (
            "## Connect: goals",
            table(list(_goals(rows))),
            "## Connect: recorded steps",
            "Times are seconds; a step has the number of its worker in the order of the roll.\n"
            "*Leader known* is the interval of the variant `leader first` or `leader last`.",
            *(part for name in FIGURES for part in (f"### Connect: {WORDS[name]}", table(list(_steps(rows, name))))),
            "## Connect: bad rows",
            "The interval misses the truth in these rows.",
            table(list(_bad(rows))),
            "## Connect: errors by form of change",
            table(list(_forms(errors))),
        )
    )


def _goals(rows: Sequence[ConnectRow]) -> Iterator[Sequence[str]]:
    steps = [row for row in rows if row.is_step]
    rolls = [row.known for row in steps if row.known is not None]
    yield "", "goal", *(WORDS[name] for name in FIGURES)
    held = []
    for name in FIGURES:
        inside, count = covered(rows, name)
        held.append(f"{inside} of {count} ({inside / count:.0%})")
    yield "90 % intervals that hold the truth", f"{HELD:.0%}", *held
    yield (
        "the same if the leader is known (rolls)", "",
        *(f"{sum(row[name].is_covered for row in rolls)} of {len(rolls)}" for name in FIGURES),
    )  # fmt: skip
    yield (
        "median width of the intervals", "",
        *(f"{median(row.figures[name].width for row in steps):.0%}" for name in FIGURES),
    )  # fmt: skip
    yield (
        "the same if the leader is known",
        "",
        *(f"{median(row[name].width for row in rolls):.0%}" for name in FIGURES),
    )
    right = sum(row.rebalances[0] == round(row.rebalances[1]) for row in steps)
    yield "steps with the predicted number of rebalances", "", f"{right} of {len(steps)}", ""


def _steps(rows: Sequence[ConnectRow], name: str) -> Iterator[Sequence[str]]:
    yield (
        "recording",
        "change",
        "step",
        "recorded",
        "predicted",
        "90 % interval",
        "holds it",
        "leader known",
        "holds it",
    )
    for row in rows:
        figure, known = row.figures[name], None if row.known is None else row.known[name]
        yield (
            row.recording, row.change, row.step, f"{figure.truth:.1f}", f"{figure.predicted.median:.1f}",
            _interval(figure), _held(figure), "-" if known is None else _interval(known),
            "-" if known is None else _held(known),
        )  # fmt: skip


def _bad(rows: Sequence[ConnectRow]) -> Iterator[Sequence[str]]:
    yield "recording", "change", "step", "figure", "recorded", "90 % interval", "form"
    for row in rows:
        for name, figure in row.figures.items():
            if not figure.is_covered:
                yield (
                    row.recording, row.change, row.step, WORDS[name], f"{figure.truth:.1f}", _interval(figure), row.form
                )  # fmt: skip


def _forms(errors: Mapping[str, Widening]) -> Iterator[Sequence[str]]:
    yield "form", *(WORDS[name] for name in FIGURES), "recordings", "steps"
    for form, known in errors.items():
        shares = (f"{below:.1%} / {above:.1%}" for below, above in (known.errors[name] for name in FIGURES))
        yield form, *shares, f"{known.recordings}", f"{known.steps}"


def _interval(figure: Figure) -> str:
    return f"{figure.predicted.low:.1f} to {figure.predicted.high:.1f}"


def _held(figure: Figure) -> str:
    return "yes" if figure.is_covered else "**no**"
