"""The page as a file: complete, without network access, and safe for any names."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable
from copy import deepcopy
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.report import render_report, write_report
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.group_summaries import hostile_connect, hostile_episodes
from tests.report.summaries import (
    HOSTILE_SHOWN,
    families,
    histories,
    hostile,
    hostile_families,
    large,
    large_families,
    tagged,
)

VOID = {"br", "img", "input", "link", "meta", "hr", "wbr", "circle", "line", "path", "rect"}
DOCUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "tagged": tagged,
    "hostile": hostile,
    "families": families,
    "hostile_families": hostile_families,
    "hostile_connect": hostile_connect,
    "hostile_episodes": hostile_episodes,
}
HEADINGS = {f"h{level}": level for level in range(1, 7)}


class Markup(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.contents: dict[str, list[str]] = {"style": [], "script": [], "caption": []}
        self.faults: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if len(dict(attrs)) != len(attrs):
            self.faults.append(f"<{tag}> has an attribute twice")
        if tag not in VOID:
            self.open.append(tag)
            self.contents.get(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        inner = self.open[-1] if self.open else ""
        if inner in self.contents:
            self.contents[inner][-1] += data
        if inner not in {"script", "style"}:
            self.text += data

    def tags(self, name: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.elements if tag == name]


@pytest.fixture(scope="module", params=DOCUMENTS)
def page(request: pytest.FixtureRequest) -> Markup:
    document = DOCUMENTS[request.param]()
    return Markup(render_report(summary_of(document)))


@pytest.mark.slow
def test_every_element_is_closed_in_order(page: Markup) -> None:
    assert page.faults == []


def test_nothing_in_the_page_leads_to_the_network(page: Markup) -> None:
    leading = {"src", "href", "srcset", "action", "data", "poster", "formaction", "ping", "background"}
    targets = [value for _, attributes in page.elements for name, value in attributes.items() if name in leading]
    assert {value for value in targets if not value.startswith("#")} == {"data:,"}
    own = "".join(page.contents["style"] + page.contents["script"][1:])
    assert not re.search(r"https?:|url\(|@import|fetch\(|XMLHttpRequest|import\(", own)


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(page: Markup) -> None:
    policy = next(meta["content"] for meta in page.tags("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == digest(page.contents["style"][0])
    assert rules["script-src"] == digest(page.contents["script"][1])
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert len(page.tags("style")) == 1
    assert [script.get("type") for script in page.tags("script")] == ["application/json", None]


def digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def test_no_element_carries_style_or_script_of_its_own(page: Markup) -> None:
    names = {name for _, attributes in page.elements for name in attributes}
    assert "style" not in names
    assert {name for name in names if name.startswith("on")} == set()


def test_headings_do_not_skip_a_level(page: Markup) -> None:
    levels = [HEADINGS[tag] for tag, _ in page.elements if tag in HEADINGS]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_ids_are_unique_and_references_lead_to_them(page: Markup) -> None:
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    references = [
        attributes[name].removeprefix("#")
        for _, attributes in page.elements
        for name in ("aria-labelledby", "for", "href")
        if name in attributes and attributes[name] != "data:,"
    ]
    assert set(references) <= set(ids)


def test_every_table_has_a_caption_and_scoped_headers(page: Markup) -> None:
    assert len(page.tags("table")) == len(page.contents["caption"]) > 0
    without = [attributes for attributes in page.tags("th") if "scope" not in attributes]
    # The header of the drawings is hidden from screen readers.
    assert all(attributes.get("class") == "drawn" for attributes in without)


@pytest.mark.slow
@pytest.mark.parametrize("document", [hostile(), hostile_families()])
def test_hostile_names_are_text(document: dict[str, Any]) -> None:
    text = render_report(summary_of(document))
    page = Markup(text)
    assert page.tags("img") == []
    assert HOSTILE_SHOWN in page.text
    assert "{{7*7}}" in page.text
    assert [sign for sign in set(text) if not sign.isprintable() and sign not in "\n\u202f"] == []


@pytest.mark.slow
@pytest.mark.parametrize("document", [hostile(), hostile_families()])
def test_the_figures_for_machines_come_back_as_they_were(document: dict[str, Any]) -> None:
    page = Markup(render_report(summary_of(document)))
    figures = json.loads(page.contents["script"][0])
    for part in ("results", "run_metrics"):
        given = document[part]
        for name, found in figures[part].items():
            assert _without_unknown(given.get(name), found) == found, name
    assert "placements" not in figures["results"]


def _without_unknown(given: Any, found: Any) -> Any:
    """The input without unknown keys, in the report's form."""
    if given is None:
        return found if not found else None
    if isinstance(given, dict) and isinstance(found, dict):
        added = {
            key: value
            for key, value in found.items()
            if key not in given and (not value or (key, value) in (("files", 1), ("sources", 1)))
        }
        return added | {key: _without_unknown(value, found[key]) for key, value in given.items() if key in found}
    if isinstance(given, list) and isinstance(found, list) and len(given) == len(found):
        return [_without_unknown(*pair) for pair in zip(given, found, strict=True)]
    return given


@pytest.mark.slow
def test_a_long_name_is_cut_short_and_its_whole_is_there() -> None:
    document = tagged()
    name = "x" * 5000
    text = json.dumps(document).replace('"round_robin"', json.dumps(name))
    page = Markup(render_report(summary_of(json.loads(text))))
    assert name in page.text
    assert re.search(r"\bx{10,30}…x{5,30}\b", page.text)


@pytest.mark.slow
@pytest.mark.parametrize("document", [large, large_families])
def test_the_report_of_a_large_run_stays_small(document: Callable[[], dict[str, Any]], tmp_path: Path) -> None:
    write_report(summary_of(document()), tmp_path / "report.html")
    size = (tmp_path / "report.html").stat().st_size
    assert size < 6_000_000
    assert "more states not shown" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_states_that_the_summary_left_out_are_told() -> None:
    document = tagged()
    document["results"]["placements_left_out"] = 7
    assert "7 more states not shown" in render_report(summary_of(document))


def test_a_worst_case_leads_to_a_state_that_this_assignor_was_in() -> None:
    document = histories()
    page = Markup(render_report(summary_of(document)))
    links = [attributes["href"] for attributes in page.tags("a") if attributes["href"].startswith("#state-")]
    assert links == ["#state-1", "#state-2"]
    assert page.text.count("history-0-round-3") > 0
    assert "history-0-round-3, round 3" not in page.text


def test_in_a_large_group_clients_that_keep_all_they_have_are_counted() -> None:
    document = large(clients=40, tasks=80, placements=1)
    placement = document["results"]["placements"][-1]
    after = placement["after"][0]
    after["assignment"] = deepcopy(placement["before"])
    first, second = list(after["assignment"])[:2]
    after["assignment"][second]["active"] += after["assignment"][first]["active"]
    after["assignment"][first]["active"] = []
    placement["after"] = [after]
    document["results"]["placements"] = [placement]
    page = Markup(render_report(summary_of(document)))
    assert "38 more clients keep what they have in every answer" in page.text


def test_a_run_in_which_everything_failed_has_a_report() -> None:
    document = tagged()
    results = document["results"]
    results.update(aggregates=[], agreement=[], placements=[], metrics=[], states=1)
    results["ranking"].update(overall=[], by_metric=[], states=0)
    page = Markup(render_report(summary_of(document)))
    assert page.faults == []
    assert "Nothing could be ranked" in page.text


def test_a_state_without_an_answer_is_drawn_with_its_error() -> None:
    document = tagged()
    answer = document["results"]["placements"][0]["after"][0]
    answer.update(error={"type": "BoomError", "java_type": None, "message": "no way"}, assignment=None, followup=None)
    assert "No answer: BoomError: no way" in render_report(summary_of(document))


def test_the_old_report_stays_when_the_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.html"
    target.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_report(summary_of(tagged()), target)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == "old"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"format": 1},
            r"format: unknown format: this version reads format 2, found 1 .*; score again, or use the release",
        ),
        ({"format": 3}, "format: unknown format: this version reads format 2, found 3"),
        ({"results": {}}, 'results.title: required key "title" is missing'),
        ({"run_metrics": None}, "run_metrics"),
    ],
)
def test_another_shape_is_refused_with_its_key(change: dict[str, object], said: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentFormatError, match=said):
        write_report(summary_of({**tagged(), **change}), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_type_is_refused_with_its_place() -> None:
    document = tagged()
    document["results"]["aggregates"][3]["mean"] = "many"
    with pytest.raises(
        DocumentFormatError, match=r'results.aggregates\[3\].mean: expected a finite number, found "many"'
    ):
        summary_of(document)


def test_unknown_keys_are_left_aside() -> None:
    document = tagged()
    document["results"]["metrics"][0]["novel"] = 1
    assert summary_of(document) == summary_of(tagged())


def test_what_cannot_be_compared_is_said_first_and_not_drawn() -> None:
    document = tagged()
    results = document["results"]
    sticky = next(each for each in results["assignors"] if each["name"] == "sticky")
    sticky["not_comparable_rows"] = sticky["rows"]
    reason = "racks decide, and are unknown: give them with --racks"
    results["not_comparable"] = [{"reason": reason, "states": 24, "assignors": ["sticky"]}]
    placement = results["placements"][0]
    results["placements"] = [placement]
    answer = next(each for each in placement["after"] if each["assignor"] == "sticky")
    answer["not_comparable"] = reason
    placement["after"] = [answer]
    page = Markup(render_report(summary_of(document)))
    assert page.faults == []
    assert page.text.index("Not comparable: sticky in all 24 decisions") < page.text.index("In short")
    assert "its real decision is unknown" in page.text
    assert "not as Kafka decided" not in page.text
    assert "starts here, ran elsewhere before" not in page.text.partition("Who runs what in tagged")[2]
    assert "Not comparable: racks decide, and are unknown: give them with --racks." in page.text


def test_a_copy_that_lags_is_told_where_a_task_moves_onto_it() -> None:
    document = tagged()
    placement = next(
        each for each in document["results"]["placements"] if "where a standby copy was." in _drawn(document, each)
    )
    clients = [client["process_id"] for client in placement["clients"]]
    tasks = [task["id"] for task in placement["tasks"]]
    placement["lags"] = {client: dict.fromkeys(tasks, 1234) for client in clients}
    assert "where a standby copy was that lacks 1\u202f234 records." in _drawn(document, placement)
    placement["lags"] = {client: dict.fromkeys(tasks) for client in clients}
    assert "where a standby copy was that lacks an unknown amount." in _drawn(document, placement)


def _drawn(document: dict[str, Any], placement: dict[str, Any]) -> str:
    only = {**document, "results": {**document["results"], "placements": [placement]}}
    return render_report(summary_of(only))


@pytest.mark.slow
def test_measures_of_balance_fold_away_behind_one_and_those_without_a_value_are_named_once() -> None:
    page = Markup(render_report(summary_of(tagged())))
    assert page.text.count("15 more measures of balance") == 2
    assert "Left out, since no decision has a value: " in page.text
    assert "No figures: no decision tells." not in page.text


def test_failures_tell_where_they_were_raised_and_metrics_that_failed() -> None:
    markup = render_report(summary_of(tagged()))
    assert "<pre>acme/round_robin.py:41 in assign: seats[number % len(seats)]</pre>" in markup
    assert "Metrics that failed" in markup
    assert "ValueError: no figure" in markup
