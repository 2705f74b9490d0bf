"""The page of ``assignor ui`` in Chromium: first paint of large states and histories, and the duration of an edit.

    python -m benchmarks.ui [--tasks 200 1000 5000] [--rounds 5] [--decisions 20]

Needs the requirements of `make test-services`. Times are those of the browser. First contentful paint: of a new state,
and of the page of a history. Edit: from a click on *if ... were not there* until the page shows the new picture. Play:
from the request for a new play of the history until the page shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: Tasks of a sub-topology, and of each client.
PARTITIONS, PER_CLIENT = 50, 20
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def group(tasks: int) -> dict[str, Any]:
    ids = [f"{number // PARTITIONS}_{number % PARTITIONS}" for number in range(tasks)]
    clients = max(3, tasks // PER_CLIENT)
    held = [ids[number :: clients - 1] for number in range(clients - 1)] + [[]]
    return {
        "format": 1,
        "kind": "streams",
        "id": f"{tasks} tasks",
        "config": {},
        "tasks": [{"id": each, "stateful": True, "logged": True, "stores": None, "partitions": None} for each in ids],
        "clients": [
            {
                "process_id": f"00000000-0000-0000-0000-{number:012d}",
                "rack": None,
                "tags": {},
                "host": f"host-{number}:8080",
                "threads": 4,
                "consumers": [f"host-{number}-{thread}" for thread in range(4)],
                "previous_active": own,
                "previous_standby": [],
                "lags": {each: -2 if each in own else 50_000 for each in ids},
                "previous_by_consumer": None,
            }
            for number, own in enumerate(map(list, held))
        ],
    }


def history(tasks: int, decisions: int) -> Iterator[dict[str, Any]]:
    """Each decision adds an instance, and tasks move to it."""
    for number in range(decisions):
        document = group(tasks)
        ids = [each["id"] for each in document["tasks"]]
        clients = document["clients"][: max(2, len(document["clients"]) - decisions + 1 + number)]
        for place, client in enumerate(clients):
            had = ids[place :: len(clients) - 1] if place < len(clients) - 1 else []
            names = [f"host-{place}-StreamThread-{thread}-consumer" for thread in range(1, 5)]
            client |= {"previous_active": had, "lags": dict.fromkeys(had, -2), "consumers": names}
        given = {
            client["process_id"]: {"active": ids[place :: len(clients)], "standby": []}
            for place, client in enumerate(clients)
        }
        yield document | {
            "id": f"{tasks} tasks, {number}",
            "clients": clients,
            "source": {"group": f"{tasks} tasks", "time_ms": 1_795_235_327_425 + 60_000 * number, "generation": number},
            "observed": {"assignment": given, "followup": False, "threads": {}},
        }


@contextmanager
def served(*files: list[dict[str, Any]]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"states-{number}.jsonl" for number in range(len(files))]
        for path, documents in zip(paths, files, strict=True):
            path.write_text("".join(json.dumps(each) + "\n" for each in documents))
        command = [str(Path(sys.executable).with_name("assignor")), "ui", *map(str, paths), "--no-open"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip()
            finally:
                process.terminate()


def first_paint(page: Page, url: str) -> float:
    """Milliseconds until a part of the page is visible."""
    page.goto(url)
    page.locator("table.picture, figure.past").first.wait_for()
    # Content may not have been painted yet.
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    found: float = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return found


def edited(page: Page) -> float:
    """Milliseconds from a click to the answer."""
    before = page.url
    page.locator(".ifs a", has_text="were not there").first.click(no_wait_after=True)
    start = perf_counter()
    # The page's policy forbids wait_for_function.
    page.wait_for_url(lambda url: url != before)
    page.locator("body:not(.asking)").wait_for()
    return 1000 * (perf_counter() - start)


def played(page: Page, url: str) -> float:
    """Milliseconds until the page shows a play."""
    start = perf_counter()
    page.goto(url)
    page.locator("#moment").wait_for(timeout=90_000)
    return 1000 * (perf_counter() - start)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="Times of the page of assignor ui in Chromium.")
    parser.add_argument("--tasks", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--decisions", type=int, default=20)
    given = parser.parse_args()
    histories = [list(history(tasks, given.decisions)) for tasks in given.tasks]
    with served([group(tasks) for tasks in given.tasks], *histories) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=next(found for name in BROWSERS if (found := shutil.which(name))),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        page = browser.new_page()
        page.goto(address)
        base = address.partition("/?")[0]
        print("tasks  first paint, ms  an edit answered, ms (median of", given.rounds, "rounds)")
        for number, tasks in enumerate(given.tasks):
            paints, edits = [], []
            for standbys in range(given.rounds):
                # A new setting each time prevents cached answers.
                url = f"{base}/state?s=0&n={number}&a=sticky&c=num.standby.replicas%3D{standbys % 3}&round=0"
                paints.append(first_paint(page, f"{url}&c=max.warmup.replicas%3D{standbys + 1}"))
                edits.append(edited(page))
            print(f"{tasks:5}  {statistics.median(paints):15.0f}  {statistics.median(edits):20.0f}")
        print("tasks  first paint of a history, ms  played, ms (", given.decisions, "decisions )")
        for number, tasks in enumerate(given.tasks, start=1):
            paints = [first_paint(page, f"{base}/history?s={number}") for _ in range(given.rounds)]
            play = played(page, f"{base}/state?s={number}&past=0&a=sticky")
            print(f"{tasks:5}  {statistics.median(paints):28.0f}  {play:10.0f}")
        browser.close()


if __name__ == "__main__":
    main()
