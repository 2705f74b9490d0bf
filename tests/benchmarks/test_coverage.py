"""Coverage of intervals: measured on a sample of the populations, and compared with the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.coverage import page
from benchmarks.coverage.__main__ import RUNS, SEED
from benchmarks.coverage.page import BEGIN, END, FEW, HOLDS, PAGE, entry, tables, write_page
from benchmarks.coverage.populations import LIMITS, POPULATIONS
from benchmarks.coverage.runs import SIZES, Cell, measured

#: Tolerance on each side for fewer runs than on the page.
CHANCE = 1.5


@pytest.mark.parametrize("size", [10, 20])
@pytest.mark.parametrize("population", [each.name for each in (*POPULATIONS, *LIMITS)])
def test_so_few_histories_have_no_interval(population: str, size: int) -> None:
    assert measured(population, size, 200, seed=3).given == 0


@pytest.mark.parametrize(
    ("population", "size"),
    [
        ("normal", 40),
        ("exponential", 40),
        ("lognormal, sigma 1", 100),
        ("Student's t, 3 degrees", 40),
        ("50% zeros, else exponential", 100),
        ("80% zeros, else exponential", 400),
        ("90% zeros, else normal (2, 1)", 400),
        ("97% zeros, else normal (0, 1)", 2_000),
        ("10% ones, else 0", 1_000),
        ("80% 0, 15% 1, 5% 4", 400),
        ("counts, mean 2.7, variance 27", 200),
        ("counts less counts", 100),
    ],
)
def test_what_has_an_interval_is_covered(population: str, size: int) -> None:
    cell = measured(population, size, 1_000, seed=5)
    assert cell.given > 850
    assert HOLDS[0] - CHANCE <= 100 * cell.covered / cell.given <= HOLDS[1] + CHANCE
    for covered in (cell.above_lower, cell.below_upper):
        assert HOLDS[0] - CHANCE <= 100 * covered / cell.given


@pytest.mark.parametrize("size", [40, 100, 400, 2_000])
@pytest.mark.parametrize("population", ["lognormal, sigma 2", "always 2", "1% ones, else 0"])
def test_what_cannot_be_covered_has_nearly_never_an_interval(population: str, size: int) -> None:
    assert measured(population, size, 400, seed=7).given < 400 * FEW / 100


@pytest.mark.slow
def test_the_page_is_what_the_command_writes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"{RUNS:,} runs in each field, level 95%." in text
    for population, size in (("lognormal, sigma 1", 40), ("90% zeros, else exponential", 60), ("normal", 20)):
        cell = measured(population, size, RUNS, SEED)
        assert fields(text, population)[0][SIZES.index(size)] == entry(cell, cell.covered)


def test_no_field_of_the_page_covers_less_than_it_says_but_those_at_the_edge_of_having_intervals() -> None:
    text = PAGE.read_text(encoding="utf-8")
    under = [
        (population.name, size)
        for population in POPULATIONS
        for size, field in zip(SIZES, fields(text, population.name)[0], strict=True)
        if field.startswith("**")
    ]
    assert under == []


def fields(text: str, population: str) -> list[list[str]]:
    """The fields of a population, in the table of intervals and those of limits."""
    written = text.partition(BEGIN)[2].partition(END)[0]
    lines = re.findall(rf"^\| {re.escape(population)} \| (.*) \|$", written, re.MULTILINE)
    return [line.split(" | ") for line in lines]


@pytest.mark.parametrize(
    ("given", "covered", "text"),
    [
        (0, 0, "none"),
        (1_000, 950, "95.0"),
        (500, 480, "96.0 / 50.0"),
        (500, 490, "*98.0 / 50.0*"),
        (1_000, 929, "**92.9**"),
        (49, 20, "(40.8 / 4.9)"),
    ],
)
def test_a_field_tells_coverage_and_how_many_have_an_interval(given: int, covered: int, text: str) -> None:
    assert entry(Cell("normal", 40, 1_000, given, covered, 0, 0), covered) == text


def test_the_tables_take_the_place_of_those_in_the_page(tmp_path: Path) -> None:
    copy = tmp_path / "page.md"
    copy.write_text(f"before\n{page.BEGIN}\nwhat stood there\n{page.END}\nafter\n")
    cells = [Cell(each.name, size, 100, 100, 95, 95, 95) for each in (*POPULATIONS, *LIMITS) for size in SIZES]
    write_page(tables(cells, 0.95), copy)
    text = copy.read_text()
    assert text.startswith(f"before\n{page.BEGIN}\n100 runs in each field")
    assert text.endswith(f"{page.END}\nafter\n")
    assert "what stood there" not in text
    assert fields(text, "normal") == [["95.0"] * len(SIZES)] * 3
