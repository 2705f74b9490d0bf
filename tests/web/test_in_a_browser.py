"""The page in a real browser: open, change, explain, play, share; hostile names, other origins, axe, a phone."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from assignor_lab.http.server import listening_socket, serve
from assignor_lab.web.app import create_app
from assignor_lab.web.plays import PlayProgress
from tests.web.pages import TOKEN, asking_of
from tests.web.recordings import Growing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.services

PHONE, DESKTOP = 390, 1280
#: The recording that is the page's third source.
RECORDED: list[Growing] = []
#: Tokens that replaced used ones, and the last one of each server.
NEW_TOKENS: list[str] = []
USED: dict[str, str] = {}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a page, served by its own thread."""
    folder = tmp_path_factory.mktemp("opened")
    made = Growing(folder / "recording")
    made.written_to(made.length // 2, time.time())
    connect = Growing(folder / "connect", "real-connect")
    connect.written_to(connect.length, 1_000_000.0)
    asking = asking_of(folder, str(folder / "recording"), str(folder / "connect"))
    RECORDED.append(made)
    with served(asking, listening_socket("127.0.0.1", 0)) as url:
        yield url
    asking.close()


@contextmanager
def served(asking: object, listener: object) -> Iterator[str]:
    started, ended = threading.Event(), threading.Event()
    found: list[str] = []

    async def serving() -> None:
        app = create_app(asking, TOKEN, NEW_TOKENS.append)  # type: ignore[arg-type]
        async with serve(app, listener) as server:  # type: ignore[arg-type]
            found.append(server.url)
            started.set()
            while not ended.is_set():
                await asyncio.sleep(0.05)

    thread = threading.Thread(target=asyncio.run, args=(serving(),))
    thread.start()
    assert started.wait(30)
    try:
        yield found[0]
    finally:
        ended.set()
        thread.join()


def token(base: str) -> str:
    """A valid new token: the use of a token creates the next one."""
    while httpx.get(f"{base}/?token={USED.get(base, TOKEN)}").status_code != 403:
        pass
    USED[base] = NEW_TOKENS[-1]
    return NEW_TOKENS[-1]


@contextmanager
def opened(browser: Browser, base: str, path: str = "/", width: int = DESKTOP) -> Iterator[Page]:
    """A page behind the token; any foreign request, console message or error of it fails the test."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    try:
        page = context.new_page()
        elsewhere: list[str] = []
        said: list[str] = []
        page.on("request", lambda request: elsewhere.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(f"{base}/?token={token(base)}")
        if path != "/":
            page.goto(base + path)
        yield page
        assert [url for url in elsewhere if not url.startswith((base, "data:"))] == []
        assert said == []
    finally:
        context.close()


def test_from_the_list_to_a_changed_state_and_back(browser: Browser, base: str) -> None:
    with opened(browser, base) as page:
        assert "token" not in page.url
        page.locator("a[href^='/state?s=0']").first.click()
        page.locator("table.picture").wait_for()
        rows = page.locator("table.picture tbody tr:not(.nobody)")
        assert rows.count() == 3
        page.get_by_text("if host-1:8080 were not there").click()
        page.get_by_text("this is not what was captured").wait_for()
        assert rows.count() == 2
        page.go_back()
        page.get_by_text("this is not what was captured").wait_for(state="detached")
        assert rows.count() == 3


def test_what_one_sees_has_an_address(browser: Browser, base: str) -> None:
    with opened(browser, base, "/state?s=0&n=0&a=high_availability") as page:
        page.select_option("#a1", "sticky")
        page.get_by_role("columnheader", name="sticky").first.wait_for()
        page.fill("#set", "num.standby.replicas=2")
        page.get_by_role("button", name="Ask").click()
        page.locator("#c1").wait_for()
        address, shown = page.url, page.locator("main").inner_text()
    with opened(browser, base, address.removeprefix(base)) as page:
        assert page.locator("main").inner_text() == shown


def test_a_lag_is_slid_and_the_explanation_follows(browser: Browser, base: str) -> None:
    with opened(browser, base, "/state?s=0&n=0&a=high_availability&task=0_0") as page:
        slider = page.get_by_label("Lag of 0_0 on host-3:8080")
        slider.focus()
        page.keyboard.press("Home")
        page.get_by_text("this is not what was captured").wait_for()
        page.locator("#why + form + p, #why ~ p").first.wait_for()
        assert "lag 0" in page.locator("section[aria-labelledby=why]").inner_text()
        assert page.evaluate("document.activeElement.type") == "range"


def test_an_episode_is_played_by_hand(browser: Browser, base: str) -> None:
    with opened(browser, base, "/state?s=1&n=0&a=high_availability&a=sticky") as page:
        page.locator("#t").focus()
        page.keyboard.press("End")
        page.get_by_text("Who runs what at 900 s").wait_for()
        assert "t=900000" in page.url


def test_an_episode_plays_pauses_and_its_address_has_the_moment(browser: Browser, base: str) -> None:
    with opened(browser, base, "/state?s=1&n=0&a=high_availability&a=sticky") as page:
        page.select_option("#speed", "300")
        page.get_by_role("button", name="Play").press("Enter")
        page.wait_for_url(lambda url: "t=" in url)
        page.get_by_role("button", name="Pause").press("Enter")
        page.get_by_role("button", name="Play").wait_for()
        at = int(page.locator("#t").input_value())
        assert at > 0
        assert f"t={at}" in page.url
        cursor = page.locator(".gantt .cursor").first.get_attribute("d")
        address = page.url
    with opened(browser, base, address.removeprefix(base)) as page:
        assert page.locator("#t").input_value() == str(at)
        assert (
            abs(
                float(str(cursor)[1:].split()[0])
                - float(str(page.locator(".gantt .cursor").first.get_attribute("d"))[1:].split()[0])
            )
            < 1.0
        )


def test_it_stops_at_the_end_by_itself_and_begins_again(browser: Browser, base: str) -> None:
    with opened(browser, base, "/state?s=1&n=0&a=sticky&t=890000") as page:
        page.select_option("#speed", "1800")
        page.locator("#t").press(" ")
        page.get_by_text("Who runs what at 900 s").wait_for()
        page.get_by_role("button", name="Play").wait_for()
        page.locator("#t").press(" ")
        page.get_by_role("button", name="Pause").wait_for()


def test_a_recording_is_followed_while_it_grows_and_says_when_it_is_gone(browser: Browser, base: str) -> None:
    (growing,) = RECORDED
    with opened(browser, base, "/history?s=2") as page:
        rows = page.locator("section table tbody tr")
        before = rows.count()
        pulse = page.locator("#pulse")
        # On a busy machine, too: a record from the future is not long ago.
        growing.seen_at(time.time() + 3_600)
        pulse.get_by_text("Being recorded").wait_for()
        growing.written_to(growing.length, time.time() + 3_600)
        rows.nth(before).wait_for()
        growing.seen_at(time.time() - 580)
        pulse.get_by_text("Nothing was written for 10 min").wait_for()
        growing.records.rename(growing.records.with_name("moved"))
        pulse.get_by_text("is not there any more").wait_for()
        # Counted while the page with the rows is still open.
        known = rows.count()
        assert known > before
        rows.last.locator("a").click()
        page.get_by_text(f"Decision {known} of").wait_for()
        growing.records.with_name("moved").rename(growing.records)


def test_a_past_is_played_with_the_keyboard_and_gone_back_from(browser: Browser, base: str) -> None:
    with opened(browser, base, "/history?s=2") as page:
        page.get_by_role("link", name="Play it again").press("Enter")
        page.get_by_role("columnheader", name="Recorded outcome").first.wait_for()
        first = page.url
        page.locator("#variant").fill("two=high_availability,num.standby.replicas=2")
        page.locator("#variant").press("Enter")
        page.get_by_role("columnheader", name="two").first.wait_for()
        assert page.evaluate("document.activeElement.id") == "variant"
        # One for each contender, and one for the recording.
        assert page.locator("p.down-worst").count() == 3
        address = page.url
        page.go_back()
        page.get_by_role("columnheader", name="two").first.wait_for(state="detached")
        assert page.url == first
    with opened(browser, base, address.removeprefix(base)) as page:
        page.get_by_role("columnheader", name="two").first.wait_for()


def test_while_a_play_takes_long_the_page_says_how_far_it_is(browser: Browser, tmp_path: Path) -> None:
    asking = asking_of(tmp_path)
    go_on = threading.Event()
    ask = asking.underway
    asking.underway = (  # type: ignore[method-assign]
        lambda view, seconds: ask(view, seconds) if go_on.is_set() else PlayProgress("1 of 2 contenders done")
    )
    with (
        served(asking, listening_socket("127.0.0.1", 0)) as url,
        opened(browser, url, "/state?s=1&n=0&a=sticky") as page,
    ):
        page.get_by_text("1 of 2 contenders done").wait_for()
        go_on.set()
        page.locator("#moment").wait_for()
        page.go_back()
        page.get_by_role("heading", name="states.jsonl").wait_for()
    asking.close()


def test_it_works_without_script(browser: Browser, base: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}/state?s=0&n=0&token={token(base)}")
    page.fill("#set", "num.standby.replicas=2")
    page.get_by_role("button", name="Ask").click()
    assert "set=num.standby.replicas" in page.url
    page.get_by_text("if host-2:8080 were not there").click()
    assert page.locator("table.picture tbody tr").count() == 2
    context.close()


def test_a_page_of_another_origin_is_refused(browser: Browser, base: str, tmp_path: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{base}/?token={token(base)}")
    (tmp_path / "evil.html").write_text(f"<a id='go' href='{base}/state?s=0'>go</a><iframe src='{base}/'></iframe>")
    page.goto((tmp_path / "evil.html").as_uri())
    read = f"fetch('{base}/state?s=0', {{credentials: 'include'}}).then(() => 'read', () => 'refused')"
    assert page.evaluate(read) == "refused"
    with page.expect_response(f"{base}/state?s=0") as answered:
        page.click("#go")
    assert answered.value.status == 403
    context.close()


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/state?s=0&n=0&a=high_availability&a=sticky&task=0_0",
        "/state?s=1&n=0",
        "/history?s=2",
        "/state?s=2&past=0&a=sticky",
        "/history?s=3",
    ],
)
def test_axe_finds_nothing_and_nothing_scrolls_sideways(browser: Browser, base: str, path: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(browser, base, path, width) as page:
        page.locator("#underway").wait_for(state="detached")
        found = Axe().run(page).response["violations"]
        assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
