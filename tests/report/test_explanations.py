"""Reasons at each moved task of the report."""

from __future__ import annotations

import re

import pytest

from assignor_lab.report import render_report
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.summaries import tagged


def drawn(document: dict) -> str:  # type: ignore[type-arg]
    return render_report(summary_of(document))


def test_every_explained_move_stands_under_the_answer_that_it_is_of_and_under_kafkas() -> None:
    document = tagged()
    page = drawn(document)
    told = re.findall(r'<details class="why" id="([^"]+)">', page)
    assert len(told) == len(set(told))
    # Kafka's decision is explained by an assignor with the same decision.
    same = page.count("high_availability decides the same about this task")
    assert same > 0
    assert len(told) == len(document["explanations"]["moves"]) + same


def test_a_moved_task_links_to_its_explanation_and_every_link_leads_somewhere() -> None:
    page = drawn(tagged())
    links = re.findall(r'<a href="#(why-[^"]+)">', page)
    assert links
    assert set(links) <= set(re.findall(r'id="(why-[^"]+)"', page))


@pytest.mark.slow
def test_a_rule_leads_to_what_it_says_and_one_without_a_text_leads_nowhere() -> None:
    document = tagged()
    page = drawn(document)
    assert '<a href="#rule-1"><code>ha-caught-up</code></a>' in page
    assert re.search(r'<dt id="rule-1"><code>ha-caught-up</code></dt><dd>Who is caught up may run it.</dd>', page)
    document["explanations"]["rules"] = {}
    page = drawn(document)
    assert "<code>ha-caught-up</code>" in page
    assert "#rule-" not in page
    assert "Rules of the assignors" not in page


def test_the_unavoidable_moves_stand_under_their_answer() -> None:
    document = tagged()
    move = document["explanations"]["moves"][0]
    place = {key: move[key] for key in ("scenario", "round", "assignor")}
    document["explanations"]["unavoidable"] = [{**place, "sentence": "2 of the 3 <moves> were unavoidable."}]
    assert drawn(document).count("<p>2 of the 3 &lt;moves&gt; were unavoidable.</p>") == 1


@pytest.mark.slow
def test_what_is_not_explained_is_said() -> None:
    document = tagged()
    (left_out,) = document["explanations"]["left_out"]
    assert f"{left_out['moves']} move" in drawn(document)
    assert "not explained: the 5 s for explanations were over" in drawn(document)


def test_a_move_that_kafka_made_otherwise_is_not_explained_by_who_does_not_make_it() -> None:
    document = tagged()
    for move in document["explanations"]["moves"]:
        move["to"] = "somebody else"
    page = drawn(document)
    assert '<details class="why"' not in page
    assert "no called assignor decides so" in page


def test_a_summary_of_an_older_release_has_no_explanations_and_says_nothing_of_them() -> None:
    document = tagged()
    del document["explanations"]
    page = drawn(document)
    assert '<details class="why"' not in page
    assert "not explained" not in page


def test_who_cannot_be_compared_says_so_before_it_explains() -> None:
    document = tagged()
    for picture in document["results"]["placements"]:
        for answer in picture["after"]:
            if answer["assignor"] == "high_availability":
                answer["not_comparable"] = "racks decide, and are unknown: give them with --racks"
    page = drawn(document)
    assert "high_availability cannot be compared here (racks decide, and are unknown), but its answer moves" in page
