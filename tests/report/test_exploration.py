"""Histograms, differences and worst cases on the page, from a run over three families."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.documents.wording import signed
from assignor_lab.model.comparisons import SizeClass, SummaryBins, SummaryDifference
from assignor_lab.model.run_summary import Results
from assignor_lab.report import render_report
from assignor_lab.report.drawings.charts import forests, histogram
from assignor_lab.report.sections.exploration import case_groups, choices, difference_groups, size_words
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.summaries import families, tagged
from tests.report.test_html import Markup

NAMES = {name: name for name in ("high_availability", "sticky", "rack_aware")}


def results(document: dict[str, Any] | None = None) -> Results:
    return summary_of(document or families()).results


def difference(low: float | None, high: float | None, value: float | None = None) -> SummaryDifference:
    return SummaryDifference("a", "m", 9, 9, 1.0, 1.0, value, low, high, 0.95, None, 1, 2, 6)


def test_a_histogram_has_a_bar_for_each_size_that_occurs_and_says_the_frequent_ones() -> None:
    found = histogram(SummaryBins("m", 0.0, 1.0, 4, whole=True), [6, 0, 3, 1], 0.9, "tasks")
    assert found is not None
    assert found.path.count("M") == 3
    assert found.words == "Most often: 0 in 60 %, 2 in 30 %, 3 or more in 10 %"


def test_wide_bins_are_told_as_ranges() -> None:
    whole = histogram(SummaryBins("m", 0.0, 5.0, 2, whole=True), [1, 0], 2.0, "tasks")
    share = histogram(SummaryBins("m", 0.0, 0.25, 4, whole=False), [0, 1], 0.3, "share")
    assert whole is not None
    assert share is not None
    assert (whole.words, share.words) == ("Most often: 0 to 4 in 100 %", "Most often: 25.0 % to 50.0 % in 100 %")


def test_nothing_has_no_histogram() -> None:
    assert histogram(SummaryBins("m", 0.0, 1.0, 1, whole=True), [], None, "tasks") is None


def test_differences_of_one_metric_share_a_scale_with_zero_on_it() -> None:
    first, second, none = forests([difference(1.0, 3.0, 2.0), difference(-1.0, 0.5, 0.0), difference(None, None)])
    assert first is not None
    assert second is not None
    assert none is None
    assert first.zero == second.zero == second.difference
    assert second.low < second.zero < first.low < first.difference < first.high


@pytest.mark.parametrize(
    ("low", "high", "direction", "verdict"),
    [
        (-2.0, -1.0, "lower", "better"),
        (1.0, 2.0, "lower", "worse"),
        (1.0, 2.0, "higher", "better"),
        (-2.0, -1.0, "higher", "worse"),
        (1.0, 2.0, "none", "higher"),
        (-2.0, -1.0, "none", "lower"),
        (-1.0, 1.0, "lower", "unclear"),
        (0.0, 1.0, "lower", "unclear"),
        (None, None, "lower", "unclear"),
    ],
)
def test_only_an_interval_without_zero_tells(low: float, high: float, direction: str, verdict: str) -> None:
    document = families()
    metric = {**document["results"]["metrics"][0], "direction": direction}
    own = [each for each in document["results"]["differences"] if each["metric"] == metric["name"]][:1]
    document["results"] |= {"metrics": [metric], "differences": [{**own[0], "low": low, "high": high}]}
    ((table,),) = (group.tables for group in difference_groups(results(document), NAMES))
    assert table.rows[0].verdict == verdict


@pytest.mark.parametrize(
    ("code", "equal", "verdict"), [("few", 9, "none"), ("uneven", 5, "none"), ("same", 9, "equal"), ("same", 0, "none")]
)
def test_without_an_interval_the_reason_is_told_or_that_nothing_differs(code: str, equal: int, verdict: str) -> None:
    document = families()
    own = document["results"]["differences"][0]
    reason = f"{code} <b>histories</b>"
    missing = {"low": None, "high": None, "no_interval": {"code": code, "reason": reason, "enough": 41}}
    own |= {**missing, "lower": 9 - equal, "equal": equal, "higher": 0}
    assert difference_groups(results(document), NAMES)[0].tables[0].rows[0].verdict == verdict
    page = render_report(summary_of(document))
    assert ("histories&lt;/b&gt;" in page) == (verdict == "none")


def test_a_state_that_is_worst_in_two_ways_is_listed_once() -> None:
    document = families()
    case = next(each for each in document["results"]["worst_cases"] if each["by"] == "difference")
    document["results"]["worst_cases"] = [{**case, "by": "value"}, case]
    (group,) = case_groups(results(document), NAMES)
    assert [row.why for table in group.tables for row in table.rows] == ["worst figure, furthest behind the baseline"]


def test_every_worst_case_has_its_command() -> None:
    page = Markup(render_report(summary_of(families())))
    commands = {case["replay"] for case in families()["results"]["worst_cases"]}
    assert commands
    assert all(command in page.text for command in commands)


def test_what_can_be_chosen_are_the_families_and_sizes_that_occur() -> None:
    found = choices(results().slices)
    assert found is not None
    assert [words for _, words in found.families] == ["client tags", "rolling restart", "streams histories"]
    assert found.sizes[0] == (0, "1 to 3 clients")
    assert found.combined
    assert choices(results(tagged()).slices) is None


def test_the_last_size_class_has_no_end() -> None:
    assert size_words(SizeClass(101, None)) == "101 clients or more"


def test_a_difference_shows_its_sign() -> None:
    assert [signed(value) for value in (1.5, -1.5, 0.0, None)] == ["+1.50", "\u22121.50", "0.00", "–"]


def test_every_drawing_says_in_words_what_it_shows_or_stands_beside_them() -> None:
    page = Markup(render_report(summary_of(families())))
    drawings = page.tags("svg")
    assert len(drawings) > 30
    assert all(drawing.get("aria-hidden") == "true" or drawing.get("aria-label") for drawing in drawings)


def test_the_assignors_own_cost_and_the_shares_of_time_are_on_the_page() -> None:
    text = Markup(render_report(summary_of(families()))).text
    assert "Peak memory" in text
    assert "Its answer depends on" in text
    assert "Spark and waiting" in text
