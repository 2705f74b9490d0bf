"""The page without a browser: access, responses, and invalid requests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from assignment_api.plugins import config_sources
from assignor_lab.compare import ContenderTerms, compare, contenders_of
from assignor_lab.runtime.discovery import discovered
from assignor_lab.scenarios import read_scenarios
from assignor_lab.web.opened import opened
from assignor_lab.web.view_answers import ViewAnswers
from tests.web.pages import HOSTILE, TOKEN, Page, asking_of, group


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ViewAnswers]:
    made = asking_of(tmp_path_factory.mktemp("opened"))
    yield made
    made.close()


@pytest.fixture
def stranger(asking: ViewAnswers) -> Page:
    return Page(asking)


@pytest.fixture
def page(stranger: Page) -> Page:
    assert stranger.get(f"/?token={TOKEN}").status_code == 303
    return stranger


def test_the_token_becomes_a_cookie_and_is_in_no_further_address(stranger: Page) -> None:
    assert stranger.get("/state?s=0").status_code == 403
    assert stranger.get("/?token=another").status_code == 403
    answer = stranger.get(f"/state?s=0&n=1&token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/state?s=0&n=1")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert TOKEN not in answer.headers["set-cookie"]
    assert stranger.get("/state?s=0&n=1").status_code == 200


def test_a_token_is_valid_once(page: Page) -> None:
    assert page.get(f"/?token={TOKEN}").status_code == 303
    page.forget_cookies()
    assert page.get(f"/?token={TOKEN}").status_code == 403
    assert page.get(f"/?token={TOKEN}").status_code == 403
    (new,) = page.new_tokens
    assert page.request("HEAD", f"/?token={new}").status_code == 403
    assert page.get(f"/?token={new}").status_code == 303
    assert page.get("/state?s=0").status_code == 200


@pytest.mark.parametrize("path", ["//evil.example/x", "//evil.example", "/%2Fevil.example/x", "///evil.example/"])
def test_no_address_redirects_to_another_host(stranger: Page, path: str) -> None:
    answer = stranger.get(f"http://localhost{path}?token={TOKEN}")
    assert (answer.status_code, answer.headers.get("location")) == (404, None)
    assert stranger.get(f"/?token={TOKEN}").status_code == 303


@pytest.mark.parametrize("path", [f"/report/{'9' * 5_000}", "/report/x", "/report/-1", "/report/\u0663"])
def test_a_report_that_is_none_is_not_found(page: Page, path: str) -> None:
    assert page.get(path).status_code == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_others_are_not_let_in_even_with_the_cookie(page: Page, headers: dict[str, str]) -> None:
    assert page.get("/").status_code == 200
    assert page.get("/", headers=headers).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(page: Page, method: str) -> None:
    assert page.request(method, "/state?s=0").status_code in (403, 405)


def test_every_answer_says_that_nothing_may_come_from_elsewhere(page: Page) -> None:
    for path in ("/", "/state?s=0", "/nowhere", "/assets/ui.js", "/state?s=99"):
        headers = page.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_the_list_leads_to_every_state(page: Page) -> None:
    text = page.get("/").text
    assert len(set(re.findall(r'href="(/state[?][^"]*)"', text))) == 3
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text


def test_task_and_client_are_chosen(page: Page) -> None:
    text = page.get("/state?s=0&n=0").text
    assert '<select id="task" name="task"><option>0_0</option>' in text
    assert '<select id="whynot" name="whynot"><option value="">(any client)</option>' in text


def test_a_state_is_answered_as_the_commands_answer_it(page: Page, asking: ViewAnswers) -> None:
    text = page.get("/state?s=0&n=0&a=high_availability&a=sticky").text
    scenario = next(read_scenarios(asking.opened.states(0).name))
    terms = ContenderTerms(asking.plugins.registry, asking.plugins.isolation, asking.config)
    (state,) = compare([scenario], contenders_of(["high_availability", "sticky"], [], []), terms).states
    for task in state.sides[0].moved:
        assert f"task={task}" in text
    assert "Why?" in text
    assert HOSTILE not in text


def test_a_client_less_is_asked_about_at_once(page: Page, asking: ViewAnswers) -> None:
    steps = quote(json.dumps([[[["clients", 0]]]]))
    text = page.get(f"/state?s=0&n=0&a=high_availability&e={steps}").text
    assert "host-1:8080" not in text
    assert "3 tasks" in text
    assert "this is not what was captured" in text
    line = page.get(f"/state.jsonl?s=0&n=0&e={steps}").json()
    assert [each["host"] for each in line["clients"]] == ["host-2:8080", "host-3:8080"]
    # The opened value is unchanged.
    assert len(asking.opened.states(0).scenarios[0].document["clients"]) == 3


def test_one_more_client_can_be_asked_for_as_often_as_one_likes(page: Page) -> None:
    url = "/state?s=0&n=0&a=sticky"
    for number in range(1, 3):
        text = page.get(url).text
        start = text.index('<ul class="ifs">')
        url = text[start:].partition('href="')[2].partition('"')[0].replace("&amp;", "&")
        assert page.get(url.replace("/state?", "/state.jsonl?")).json()["clients"][2 + number]["previous_active"] == []


def test_a_setting_is_one_field(page: Page) -> None:
    plain = page.get("/state?s=0&n=0&a=high_availability").text
    more = page.get("/state?s=0&n=0&a=high_availability&set=num.standby.replicas%3D2").text
    assert 'value="num.standby.replicas=2"' in more
    assert plain.count('class="standby"') < more.count('class="standby"')


def test_a_task_is_explained_and_its_lag_can_be_slid(page: Page) -> None:
    text = page.get("/state?s=0&n=0&a=high_availability&task=0_0").text
    assert "high_availability moves 0_0" in text or "high_availability leaves 0_0" in text
    assert "Tried one at a time" in text
    assert "Lag of 0_0 on" in text
    step = quote(json.dumps([[[["clients", 2, "lags", "0_0"], 3]]]))
    assert "lag 3" in page.get(f"/state?s=0&n=0&a=high_availability&task=0_0&step={step}").text


def test_a_variant_is_explained_with_its_settings(page: Page) -> None:
    text = page.get("/state?s=0&n=0&a=v%3Dhigh_availability,max.warmup.replicas%3D7&task=0_0").text
    assert "Tried one at a time" in text
    assert "-c max.warmup.replicas=7" in text


@pytest.mark.slow
def test_who_hangs_is_told_with_the_deadline_beside_the_others(tmp_path: Path) -> None:
    config = config_sources(overrides=["assignor.plugins.call.timeout.ms=300"], environ={}, start=tmp_path)
    states = tmp_path / "states.jsonl"
    states.write_text(json.dumps(group()) + "\n")
    plugins = discovered(config.effective())
    found = opened([str(states)], plugins.registry, config, lambda _sentence: None)
    hanging = ViewAnswers(found, plugins, config, may_run_code=True)
    page = Page(hanging)
    page.get(f"/?token={TOKEN}")
    text = page.get("/state?s=0&n=0&a=sticky&a=tests.explain.odd_assignors:Hangs").text
    hanging.close()
    assert "No answer: DeadlineExceededError" in text
    assert "0.3 s" in text
    assert 'class="active"' in text


def test_nobody_left_is_a_sentence_and_so_is_nonsense_at_its_field(page: Page) -> None:
    nobody = quote(json.dumps([[[["clients", 0]]], [[["clients", 0]]], [[["clients", 0]]]]))
    assert "give at least one client" in page.get(f"/state?s=0&n=0&e={nobody}").text
    wrong = quote(json.dumps([[[["clients", 0, "lags", "0_0"], "many"]]]))
    answer = page.get(f"/state?s=0&n=0&e={wrong}")
    assert answer.status_code == 400
    assert "clients[0].lags[&#34;0_0&#34;]: expected a whole number" in answer.text


def test_an_episode_is_played_and_shown_at_a_moment(page: Page) -> None:
    text = page.get("/state?s=1&n=0&a=high_availability&a=sticky&t=40000").text
    assert "Who runs what at 40 s" in text
    assert text.count('class="gantt"') == 2
    assert "assignor score" in text


@pytest.mark.parametrize(
    ("query", "status", "says"),
    [
        ("s=9", 404, "source 9"),
        ("s=0&n=7", 404, "no state 7"),
        ("s=x", 400, "is no number"),
        ("s=0&round=5", 404, "no round 5"),
        ("s=0&a=nobody_at_all", 400, "nobody_at_all"),
        ("s=0&a=os:system", 400, "os:system"),
        ("s=0&c=nonsense", 400, "write key=value"),
        ("s=0&c=num.standby.replicas%3Dmany", 400, "num.standby.replicas"),
        ("s=0&c=assignor.plugins.isolate%3Dnone", 400, "assignor.plugins.isolate"),
        ("s=0&e=%7B", 400, "no JSON"),
        ("s=0&e=%5B1%5D", 400, "no list of steps"),
        ("s=0&e=" + quote('[[[["clients",99]]]]'), 400, "change 1 does not fit"),
        ("s=0&e=" + quote('[[[["clients",0,"threads"],-1]]]'), 400, "threads"),
        ("s=0&e=" + quote('[[[["kind"],"connect"]]]'), 400, "kind"),
        ("s=0&a=sticky&a=high_availability&a=legacy_sticky&a=static&a=round_robin", 400, "at most 4"),
    ],
)
def test_nonsense_gets_a_sentence(page: Page, query: str, status: int, says: str) -> None:
    answer = page.get(f"/state?{query}")
    assert answer.status_code == status, answer.text
    assert says in answer.text


def test_an_unknown_task_leaves_the_rest_of_the_page(page: Page) -> None:
    text = page.get("/state?s=0&n=0&task=9_9").text
    assert "9_9" in text
    assert "Who runs what in" in text


def test_assets_are_those_that_are_named(page: Page) -> None:
    assert page.get("/assets/ui.js").headers["content-type"].startswith("text/javascript")
    assert page.get("/assets/..%2Fapp.py").status_code == 404
    assert page.get("/assets/report.js").status_code == 404


def test_what_was_opened_is_read_once_and_kept(asking: ViewAnswers, tmp_path: Path) -> None:
    name = Path(asking.opened.states(0).name)
    kept = name.read_bytes()
    name.unlink()
    page = Page(asking)
    page.get(f"/?token={TOKEN}")
    assert page.get("/state?s=0").status_code == 200
    name.write_bytes(kept)
