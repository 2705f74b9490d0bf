"""Measured coverage as tables of Markdown, and their place in the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.coverage.populations import LIMITS, POPULATIONS, Population
from benchmarks.coverage.runs import SIZES, Cell
from benchmarks.pages import put_between

__all__ = ["FEW", "HOLDS", "PAGE", "entry", "tables", "write_page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "intervals.md"
BEGIN = "<!-- written by python -m benchmarks.coverage --write: begin -->"
END = "<!-- written by python -m benchmarks.coverage --write: end -->"

HOLDS = (93.0, 97.0)
#: Fewer runs with an interval, in percent, are not representative.
FEW = 5.0

Count = Callable[[Cell], int]


def tables(measured: Iterable[Cell], level: float) -> str:
    """Coverage of intervals, of one-sided limits, and of the limits of possible values."""
    found = {(cell.population, cell.size): cell for cell in measured}
    first = next(iter(found.values()))
    lines = [f"{first.runs:,} runs in each field, level {level:.0%}. {_count(found, POPULATIONS, _covered)}", ""]
    lines += _table(found, POPULATIONS, _covered)
    lines += ["", "### Heavier tails, and what is too rare to be seen", "", _count(found, LIMITS, _covered), ""]
    lines += _table(found, LIMITS, _covered)
    for side, count in (("Lower", _above), ("Upper", _below)):
        lines += ["", f"### {side} limits, as gates use them", "", _count(found, POPULATIONS, count), ""]
        lines += _table(found, POPULATIONS, count)
    return "\n".join(lines)


def entry(cell: Cell, covered: int) -> str:
    """Percent of given intervals that cover; after a stroke the percent given, if below 100."""
    if not cell.given:
        return "none"
    share = _percent(cell.given, cell.runs)
    text = f"{_percent(covered, cell.given):.1f}" + ("" if cell.given == cell.runs else f" / {share:.1f}")
    if share < FEW:
        return f"({text})"
    low, high = HOLDS
    coverage = _percent(covered, cell.given)
    return f"**{text}**" if coverage < low else f"*{text}*" if coverage > high else text


def write_page(text: str, page: Path = PAGE) -> None:
    put_between(page, BEGIN, text, END)


def _table(found: Mapping[tuple[str, int], Cell], of: Sequence[Population], count: Count) -> list[str]:
    lines = ["| differences | " + " | ".join(f"{size:,}" for size in SIZES) + " |", "|---|" + "---:|" * len(SIZES)]
    for population in of:
        fields = [entry(cell, count(cell)) for cell in (found[population.name, size] for size in SIZES)]
        lines.append(f"| {population.name} | {' | '.join(fields)} |")
    return lines


def _count(found: Mapping[tuple[str, int], Cell], of: Sequence[Population], count: Count) -> str:
    names = {population.name for population in of}
    cells = [cell for (name, _), cell in found.items() if name in names]
    given = [cell for cell in cells if _percent(cell.given, cell.runs) >= FEW]
    coverages = [_percent(count(cell), cell.given) for cell in given]
    under = sum(coverage < HOLDS[0] for coverage in coverages)
    over = sum(coverage > HOLDS[1] for coverage in coverages)
    wrong = max((_percent(cell.given - count(cell), cell.runs) for cell in cells), default=0.0)
    return (
        f"Of {len(cells)} fields {len(cells) - len(given)} have none or nearly none, {len(given) - under - over} hold "
        f"93 to 97 %, {over} (slanted) cover more, {under} (bold) less. At most {wrong:.1f} % of all runs of a field "
        "show one that is wrong."
    )


def _covered(cell: Cell) -> int:
    return cell.covered


def _above(cell: Cell) -> int:
    return cell.above_lower


def _below(cell: Cell) -> int:
    return cell.below_upper


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole
