from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from assignor_lab.report import print_summary
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.summaries import hostile, tagged


def printed(document: dict[str, Any], width: int = 160, *, colours: bool = False) -> str:
    target = io.StringIO()
    print_summary(
        summary_of(document),
        Console(file=target, width=width, force_terminal=colours, color_system="truecolor" if colours else None),
    )
    return target.getvalue()


def test_the_tables_tell_the_headline_and_the_agreement() -> None:
    text = printed(tagged(), 300)
    assert (
        "better than Kafka itself in 22 of 24 decisions, worse in 1: −40\u202f000 (−40\u202f001 to −39\u202f999)"
        in text
    )
    assert "worse than Kafka itself in 22 of 24 decisions, better in none: +90\u202f000" in text
    assert (
        "not distinguishable from Kafka itself, better in 11 of 24 decisions, worse in 10: +0.10 (−0.90 to +1.10)"
        in text
    )
    assert "the same as Kafka itself everywhere" in text
    assert "higher in 3 of 24 decisions; +2.50 on average, without an interval" in text
    assert "Not measured here: Task-seconds unavailable (no clock here); Cross-zone cost (no racks here)." in text
    assert "high_availability decides exactly as Kafka did, in all 24 decisions." in text
    assert "stateful_actives_moved ↓ (tasks)" in text


def test_one_measure_of_balance_is_printed_and_the_others_are_counted() -> None:
    text = printed(tagged(), 300)
    assert "process_load_excess ↓" in text
    assert "total_tasks_per_member_range" not in text
    assert "15 more measures of balance: in the report and the tables" in text


def test_a_measure_without_any_value_is_counted_and_not_printed() -> None:
    document = tagged()
    for aggregate in document["results"]["aggregates"]:
        if aggregate["metric"] == "standbys_moved":
            aggregate.update(n=0, mean=None, median=None, p90=None, min=None, max=None, worst=None)
    before, after = printed(tagged(), 300), printed(document, 300)
    assert "standbys_moved" in before
    assert "standbys_moved" not in after
    left_out = [int(re.findall(r"(\d+) measures? left out", text)[0]) for text in (before, after)]
    assert left_out[1] == left_out[0] + 1


def test_what_cannot_be_compared_is_said_before_anything_else() -> None:
    document = tagged()
    results = document["results"]
    for assignor in results["assignors"]:
        assignor["not_comparable_rows"] = 0 if assignor["kind"] == "observed" else assignor["rows"]
    reason = "racks decide, and are unknown: give them with --racks"
    results["not_comparable"] = [{"reason": reason, "states": 24, "assignors": ["sticky", "round_robin"]}]
    text = printed(document, 400)
    assert text.startswith(
        "Not comparable: sticky and round_robin in all 24 decisions. There racks decide, and are unknown, so their "
        "decisions are unknown. To compare them, give them with --racks.\n"
    )
    assert "Only the decision of Kafka itself can be measured: there is no other assignor to compare it with." in text


def test_of_other_settings_it_is_said_what_they_do_to_the_figures() -> None:
    document = tagged()
    document["results"]["settings_difference"] = 24
    document["results"]["config"] = [{"key": "num.standby.replicas", "value": "2", "source": "-c"}]
    text = printed(document, 600)
    assert "Kafka itself decided under its own settings, the assignors under num.standby.replicas=2." in text
    assert "counts as new in each decision" in text
    assert "counts as new in each decision" not in printed(tagged(), 600)
    assert "not loaded: ModuleNotFoundError: No module named 'acme_solver'" in text


def test_what_a_call_costs_and_depends_on_is_told() -> None:
    text = printed(tagged())
    assert "20 KiB" in text
    assert "nothing (in 2 decisions)" in text
    assert "the hash seed (1 of 2)" in text


def test_what_is_left_out_is_counted() -> None:
    document = tagged()
    results = document["results"]
    first = results["assignors"][0]
    names = [f"another-{number}" for number in range(12)]
    results["assignors"] += [{**first, "name": name} for name in names]
    for ranking in results["ranking"]["by_metric"]:
        ranking["places"] += [{**ranking["places"][0], "assignor": name} for name in names]
    results["assumptions"] = [{**results["assumptions"][0], "text": f"so it is, {number}"} for number in range(7)]
    text = printed(document, 200)
    ranked = {place["assignor"] for ranking in results["ranking"]["by_metric"] for place in ranking["places"]}
    assert f"- {len(ranked) - 12} more assignors: in the report" in text
    assert "so it is, 4" in text
    assert "so it is, 5" not in text
    assert "- 2 more assumptions: in the report" in text


def test_logs_that_were_read_together_are_counted() -> None:
    document = tagged()
    (source,) = document["results"]["sources"]
    source["files"] = 4
    assert "from 4 log files were put to" in printed(document)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_every_assignor_is_shown_at_any_width(width: int) -> None:
    document = tagged()
    text = printed(document, width)
    assert max(map(len, text.splitlines())) <= width
    for place in document["results"]["ranking"]["by_metric"][0]["places"]:
        assert f"{place['mean']:.2f}" in text


def test_hostile_names_neither_steer_the_terminal_nor_style_the_text() -> None:
    text = printed(hostile(), 400)
    # The narrow space groups the digits of our own figures.
    assert {sign for sign in text if not sign.isprintable()} == {"\n", "\u202f"}
    assert "\\x1b[31m[red]\\u202e" in text


def test_the_only_terminal_codes_are_our_own_bold_and_dim() -> None:
    text = printed(hostile(), 400, colours=True)
    codes = {part.partition("m")[0] for part in text.split("\x1b[")[1:]}
    assert codes <= {"0", "1", "2", "1;3"}


def test_a_figure_of_a_part_of_the_states_has_its_count() -> None:
    document = tagged()
    ranking = next(
        each for each in document["results"]["ranking"]["by_metric"] if each["metric"] == "stateful_actives_moved"
    )
    ranking["n"] = 3
    assert "stateful_actives_moved ↓ (tasks, in 3 of 24 decisions)" in printed(document, 300)
    metric = next(each for each in document["results"]["metrics"] if each["name"] == "stateful_actives_moved")
    metric["group"] = "life cycle"
    other = next(each for each in document["results"]["metrics"] if each["name"] == "standbys_moved")
    other["group"] = "life cycle"
    next(each for each in document["results"]["ranking"]["by_metric"] if each["metric"] == "standbys_moved")["n"] = 20
    text = printed(document, 300)
    assert "stateful_actives_moved ↓ (tasks, in 3 of 20 histories)" in text
    assert "standbys_moved ↓ (tasks)" in text
