"""The page in a real browser: offline, at every width, by keyboard, in both colour schemes, with hostile names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from assignor_lab.report import write_report
from assignor_lab.scoring.output.summary_file import summary_of
from tests.report.group_summaries import (
    hostile_connect,
    hostile_episodes,
    hostile_members,
    members,
    played_past,
    recorded_past,
)
from tests.report.summaries import HOSTILE_SHOWN, families, histories, hostile, hostile_families, large, tagged, unsure

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.services

Scheme = Literal["light", "dark"]
DOCUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "tagged": tagged,
    "hostile": hostile,
    "large": large,
    "histories": histories,
    "families": families,
    "hostile_families": hostile_families,
    "unsure": unsure,
    "hostile_connect": hostile_connect,
    "hostile_episodes": hostile_episodes,
    "members": members,
    "hostile_members": hostile_members,
    "recorded": recorded_past,
    "played": played_past,
}
DESKTOP, PHONE = 1280, 390
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; each.hidden = false; })"

Opener = Callable[..., AbstractContextManager["Page"]]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    for name, document in DOCUMENTS.items():
        write_report(summary_of(document()), folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in DOCUMENTS}


@pytest.fixture
def opened(browser: Browser, reports: dict[str, Path]) -> Opener:
    """Opens a report; any request, console message or error of it fails the test."""

    @contextmanager
    def opening(
        report: str = "tagged", *, width: int = DESKTOP, scheme: Scheme = "light", script: bool = True
    ) -> Iterator[Page]:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        try:
            page = context.new_page()
            requests: list[str] = []
            said: list[str] = []
            page.on("request", lambda request: requests.append(request.url))
            page.on("console", lambda message: said.append(message.text))
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on("dialog", lambda dialog: said.append(dialog.message))
            page.goto(reports[report].as_uri())
            yield page
            assert requests == [reports[report].as_uri()]
            assert said == []
        finally:
            context.close()

    return opening


@pytest.mark.parametrize("width", [320, PHONE, 768, DESKTOP])
@pytest.mark.parametrize("report", DOCUMENTS)
def test_the_page_never_scrolls_sideways(opened: Opener, report: str, width: int) -> None:
    with opened(report, width=width) as page:
        page.evaluate(OPEN_ALL)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("(window.scrollTo(500, 0), window.scrollX)") == 0


@pytest.mark.parametrize(("report", "most"), [("recorded", 3_800), ("played", 3_800), ("tagged", 4_000)])
def test_before_anything_is_unfolded_the_page_is_short(opened: Opener, report: str, most: int) -> None:
    """A log of 39 decisions takes at most 4,000 pixels; `recorded` has 48 decisions."""
    with opened(report) as page:
        assert 1_000 < page.evaluate("document.documentElement.scrollHeight") <= most


def test_the_first_play_is_open_and_the_others_unfold(opened: Opener) -> None:
    with opened("played") as page:
        plays = page.locator("details.play")
        assert plays.locator("svg.gantt:visible").count() == 1
        plays.nth(3).locator("> summary").press("Enter")
        assert plays.nth(3).locator("svg.gantt").is_visible()


def test_a_table_that_is_wider_than_the_screen_has_a_shadow_at_its_end_and_none_once_it_is_scrolled(
    opened: Opener,
) -> None:
    """The region has a name and takes focus, for users that do not see the shadow."""
    with opened("played", width=PHONE) as page:
        # A link would still scroll during the screenshot.
        page.evaluate("document.querySelector('details.fold:has(#measures)').open = true")
        region = page.locator(".scroll:has(table.ranking)").first
        assert region.get_attribute("role") == "region"
        assert region.get_attribute("tabindex") == "0"
        assert page.locator(f"#{region.get_attribute('aria-labelledby')}").inner_text()
        # Below the caption, which is narrower than the table: only the shadow is at the right end there.
        unscrolled = edge(page, region)
        region.evaluate("(each) => { each.scrollLeft = each.scrollWidth; }")
        scrolled = edge(page, region)
        assert max(unscrolled) - min(unscrolled) > 20
        assert max(scrolled) - min(scrolled) < 6


def edge(page: Page, region: Locator) -> list[int]:
    """Brightness of a region's last pixels in the upper part of its caption."""
    region.evaluate("(each) => each.scrollIntoView({block: 'start', behavior: 'instant'})")
    box = region.bounding_box()
    assert box is not None
    shot = page.screenshot(clip={"x": box["x"] + box["width"] - 18, "y": box["y"] + 4, "width": 14, "height": 1})
    colours = page.evaluate(
        """async (shot) => {
            const bitmap = await createImageBitmap(new Blob([Uint8Array.from(shot)], {type: 'image/png'}));
            const context = new OffscreenCanvas(bitmap.width, 1).getContext('2d');
            context.drawImage(bitmap, 0, 0);
            return [...context.getImageData(0, 0, bitmap.width, 1).data];
        }""",
        list(shot),
    )
    return [sum(colours[at : at + 3]) for at in range(0, len(colours), 4)]


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")])
@pytest.mark.parametrize(
    "report",
    ["tagged", "hostile", "families", "hostile_connect", "hostile_episodes", "members", "hostile_members"],
)
def test_axe_finds_nothing(opened: Opener, report: str, width: int, scheme: Scheme) -> None:
    with opened(report, width=width, scheme=scheme) as page:
        without_shadows(page)
        # One state is enough: the same template creates the others.
        page.evaluate("document.querySelectorAll('details:not(.state)').forEach((each) => { each.open = true; })")
        assert violations(page) == []


@pytest.mark.parametrize(("width", "scheme"), [(PHONE, "light"), (DESKTOP, "dark")])
def test_axe_finds_nothing_in_a_play(opened: Opener, width: int, scheme: Scheme) -> None:
    with opened("played", width=width, scheme=scheme) as page:
        without_shadows(page)
        # One play and one of its tasks are enough: the same template creates the others.
        page.evaluate(
            """() => {
                const first = document.querySelector('details.play');
                first.querySelectorAll('details:not(.down-task)').forEach((each) => { each.open = true; });
                first.querySelector('.down-task').open = true;
            }"""
        )
        assert violations(page) == []


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """Rules that axe finds broken, with the first places."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found]


def without_shadows(page: Page) -> None:
    page.evaluate("document.querySelectorAll('.scroll').forEach((each) => { each.style.backgroundImage = 'none'; })")


def test_every_region_and_control_is_reached_by_keyboard_and_shows_it(opened: Opener) -> None:
    with opened() as page:
        reached = tabbed_through(page)
        expected = page.evaluate(
            """() => [...document.querySelectorAll('a, button:enabled, select, summary, [tabindex="0"]')]
                .filter((each) => each.checkVisibility())
                .map((each) => [...document.querySelectorAll('*')].indexOf(each))"""
        )
        assert [element["at"] for element in reached] == expected
        assert [element for element in reached if not element["outlined"]] == []


def test_a_moved_task_leads_to_why_it_moves_and_asks_for_nothing(opened: Opener) -> None:
    with opened() as page:
        page.evaluate("location.hash = document.querySelector('details.why').closest('details.state').id")
        chip = page.locator("details.state:not([hidden]) td li.moved a").first
        why = page.locator(str(chip.get_attribute("href")))
        assert not why.is_visible()
        chip.focus()
        page.keyboard.press("Enter")
        why.get_by_text("it is caught up").wait_for()
        assert "would stay on i1" in why.inner_text()


def test_a_link_opens_the_part_that_it_leads_to(opened: Opener) -> None:
    with opened() as page:
        for part in ("measures", "figures", "assumptions", "reproduce"):
            inside = page.locator(f"details.fold:has(#{part})")
            assert inside.get_attribute("open") is None
            go_to(page, part)
            assert inside.locator("> :not(summary)").first.is_visible()


def go_to(page: Page, part: str) -> None:
    """Follows the link at the top of the page, and waits until the part is open."""
    page.locator(f"nav a[href='#{part}']").click()
    page.locator(f"details.fold[open] #{part}").wait_for()


def tabbed_through(page: Page) -> list[dict[str, Any]]:
    reached: list[dict[str, Any]] = []
    for _ in range(2000):
        page.keyboard.press("Tab")
        element = page.evaluate(
            """() => {
                const focused = document.activeElement;
                const style = getComputedStyle(focused);
                return {
                    at: focused === document.body ? -1 : [...document.querySelectorAll('*')].indexOf(focused),
                    outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
                };
            }"""
        )
        if element["at"] < 0 or (reached and element["at"] == reached[0]["at"]):
            return reached
        reached.append(element)
    raise AssertionError("the focus never leaves the page")


def test_states_and_decisions_are_chosen_by_keyboard(opened: Opener) -> None:
    with opened() as page:
        page.focus("#choose-state")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        assert page.locator("details.state:visible").count() == 1
        assert page.locator("details.state:visible h3").inner_text().startswith("tagged-classic-generation-3, 2026-")
        page.focus("#next-state")
        page.keyboard.press("Enter")
        assert page.locator("details.state:visible h3").inner_text().startswith("tagged-classic-generation-4, 2026-")
        assert page.locator("#shown").inner_text().startswith("tagged-classic-generation-4, 2026-")
        page.focus("#choose-assignor")
        page.keyboard.type("sticky")
        heads = page.locator("details.state:visible thead th:visible")
        assert [head.split("\n")[0] for head in heads.all_inner_texts()] == ["Client", "Before", "sticky"]


def test_an_assignor_that_was_not_in_a_state_is_told_so(opened: Opener) -> None:
    with opened("histories") as page:
        absent = page.locator("#absent")
        page.select_option("#choose-assignor", label="sticky")
        page.select_option("#choose-state", index=0)
        assert absent.is_visible()
        page.click("#next-state")
        assert not absent.is_visible()
        assert page.locator("details.state:visible thead th").all_inner_texts()[2].startswith("sticky")
        page.evaluate("location.hash = '#state-1'")
        page.wait_for_function("document.getElementById('absent').hidden")
        assert page.locator("details.state:visible thead th:visible").count() == 3


def test_the_worst_case_leads_to_its_picture(opened: Opener) -> None:
    with opened() as page:
        go_to(page, "figures")
        link = page.locator("table.figures a").first
        name, target = link.inner_text(), link.get_attribute("href")
        link.press("Enter")
        # The page receives a new address only after the key press.
        page.wait_for_function("document.activeElement.closest('details.state') !== null")
        # The heading has the time, which the link leaves out.
        assert page.locator(f"{target}:visible h3").inner_text().startswith(f"{name}, ")
        assert page.locator("details.state:visible").count() == 1


def test_what_moves_stands_out_without_colour(opened: Opener) -> None:
    with opened() as page:
        option = page.locator("#choose-state option", has_text="tagged-classic-generation-3,")
        page.select_option("#choose-state", option.get_attribute("value"))
        shown = page.locator("details.state:visible")
        moved, staying = shown.locator("td li.moved").first, shown.locator("td ul.active > li:not([class])").first
        assert moved.inner_text()[0] in "→↑↓"
        width = "(element) => parseFloat(getComputedStyle(element).borderTopWidth)"
        assert moved.evaluate(width) > staying.evaluate(width)
        assert moved.locator(".vh").inner_text().strip() in {
            "starts here, ran elsewhere before",
            "was a standby copy here, now runs here",
            "ran here, now a standby copy here",
        }


def test_figures_are_narrowed_to_a_family_and_a_size_and_come_back(opened: Opener) -> None:
    slices = families()["results"]["slices"]
    part = next(at for at, each in enumerate(slices["of"]) if each["family"] == 1 and each["size"] == 1)
    with opened("families") as page:
        go_to(page, "figures")
        before = page.locator("#explore").inner_text()
        page.get_by_label("Family").select_option(label="rolling restart")
        page.get_by_label("Size").select_option(label="4 to 8 clients")
        assert f"{slices['of'][part]['histories']} of 45" in page.locator("#narrowed").inner_text()
        for place, found in enumerate(slices["figures"]):
            cells = page.locator(f"tr[data-figure='{place}'] > td").all_inner_texts()
            assert cells[6] == str(found["n"][part])
            bars = page.locator(f"tr[data-figure='{place}'] path").get_attribute("d") or ""
            assert bars.count("M") == sum(map(bool, found["counts"][part]))
        for place, differs in enumerate(slices["differences"]):
            cells = page.locator(f"tr[data-difference='{place}'] > td").all_inner_texts()
            low, high = differs["low"][part], differs["high"][part]
            assert (cells[1] in ("better", "worse", "lower", "higher")) == (low is not None and low * high > 0)
        page.get_by_label("Family").select_option(index=0)
        page.get_by_label("Size").select_option(index=0)
        page.wait_for_function("document.querySelector('#narrowed').textContent.startsWith('All 45')")
        assert page.locator("#explore").inner_text().replace("45 histories", "") == before.replace("45 histories", "")


def test_a_difference_without_an_interval_says_why_as_a_whole_and_in_a_part(opened: Opener) -> None:
    differences = unsure()["results"]["differences"]
    with opened("unsure") as page:
        go_to(page, "figures")
        cells = page.locator("tr[data-difference] > td.verdict")
        whole = cells.all_inner_texts()
        assert len(whole) == len(differences)
        assert {"4 of 45 histories differ noticeably" in text for text in whole if "no difference" not in text} == {
            True
        }
        page.get_by_label("Family").select_option(label="rolling restart")
        assert set(cells.all_inner_texts()) == {"no interval: too few histories differ"}


def test_a_part_without_decisions_says_so(opened: Opener) -> None:
    slices = families()["results"]["slices"]
    known = {(each["family"], each["size"]) for each in slices["of"]}
    family, size = next(
        (family, size) for family in range(3) for size in range(len(slices["sizes"])) if (family, size) not in known
    )
    with opened("families") as page:
        go_to(page, "figures")
        page.get_by_label("Family").select_option(index=family + 1)
        page.get_by_label("Size").select_option(index=size + 1)
        assert page.locator("#narrowed").inner_text().startswith("0 of 45")
        assert page.locator("tr[data-figure='0'] > td").all_inner_texts()[6] == "0"


def test_worst_cases_are_narrowed_to_a_family(opened: Opener) -> None:
    with opened("families") as page:
        page.evaluate(OPEN_ALL)
        page.get_by_label("Family").select_option(label="client tags")
        shown = page.locator("table.cases tr[data-family]:visible .replay").all_inner_texts()
        assert shown
        assert all("--families client_tags" in command for command in shown)


def test_dark_mode_is_dark(opened: Opener) -> None:
    def brightness(scheme: Scheme) -> tuple[int, int]:
        with opened(scheme=scheme) as page:
            colours = page.evaluate("(({backgroundColor: a, color: b}) => [a, b])(getComputedStyle(document.body))")
        back, ink = (sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) for colour in colours)
        return back, ink

    back, ink = brightness("light")
    assert back > 600 > 200 > ink
    back, ink = brightness("dark")
    assert back < 200 < 600 < ink


@pytest.mark.parametrize("script", [True, False])
def test_hostile_names_are_read_as_text(opened: Opener, script: bool) -> None:
    with opened("hostile", script=script) as page:
        assert page.locator("img").count() == 0
        assert HOSTILE_SHOWN in page.locator("body").inner_text()
        if script:
            assert page.evaluate("typeof hacked") == "undefined"
            assert "\nsticky</script>" in page.locator("#choose-assignor").inner_text()


def test_members_stand_together_by_process_and_a_change_of_thread_is_told(opened: Opener) -> None:
    with opened("members") as page:
        assert page.locator("table.picture thead th").first.inner_text() == "Member"
        names = page.locator("details.state[open] tbody tr:visible th .client").all_inner_texts()
        processes = [name.split(" · ")[0] for name in names if " · " in name]
        assert len(processes) == 8
        assert [process for process, _ in groupby(processes)] == list(dict.fromkeys(processes))
        assert len(set(processes)) == 3
        page.evaluate(OPEN_ALL)
        assert "of the same process." in page.locator("#states").inner_text()
        assert "was on another thread of this process before" in page.locator(".legend").inner_text()


def test_without_script_every_state_can_be_opened(opened: Opener) -> None:
    with opened(script=False) as page:
        assert not page.locator("#controls").is_visible()
        states = page.locator("details.state")
        assert states.count() == 24
        last = states.last
        last.locator("> summary").focus()
        page.keyboard.press("Enter")
        assert last.locator("table").is_visible()


def test_the_figures_can_be_saved(opened: Opener) -> None:
    with opened() as page:
        go_to(page, "reproduce")
        with page.expect_download() as download:
            page.click("#save")
    assert download.value.suggested_filename == "figures.json"


def test_nothing_moves_for_those_who_do_not_want_it(browser: Browser, reports: dict[str, Path]) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(reports["tagged"].as_uri())
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    context.close()


def test_the_printed_page_leaves_the_controls_out(opened: Opener) -> None:
    with opened() as page:
        page.emulate_media(media="print")
        assert not page.locator("nav").is_visible()
        assert not page.locator("#controls").is_visible()
        assert page.locator("table.ranking").first.is_visible()
