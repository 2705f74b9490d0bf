"""The page of ``assignor ui`` in Chromium: first paint of large states, and how long an edit takes to be answered.

    python -m benchmarks.ui [--tasks 200 1000 5000] [--rounds 5]

Needs the requirements of `make test-services`. Times are those of the browser: first contentful paint of a state that
was not asked about before, and from a click on *if ... were not there* until the new picture stands on the page.
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

#: Tasks of a sub-topology, and tasks for each client.
PARTITIONS, PER_CLIENT = 50, 20
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def group(tasks: int) -> dict[str, Any]:
    """A group with ``tasks`` tasks with state, one of whose clients has just come."""
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


@contextmanager
def served(documents: list[dict[str, Any]]) -> Iterator[str]:
    """The address of a page with these states."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "states.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in documents))
        command = [str(Path(sys.executable).with_name("assignor")), "ui", str(path), "--no-open"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().strip()
            finally:
                process.terminate()


def first_paint(page: Page, url: str) -> float:
    """Milliseconds until something of the page is seen."""
    page.goto(url)
    page.locator("table.picture").wait_for()
    found: float = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    return found


def edited(page: Page) -> float:
    """Milliseconds from a click on a change until its answer stands on the page."""
    before = page.url
    page.locator(".ifs a", has_text="were not there").first.click(no_wait_after=True)
    start = perf_counter()
    # The page's own policy forbids what wait_for_function does.
    page.wait_for_url(lambda url: url != before)
    page.locator("body:not(.asking)").wait_for()
    return 1000 * (perf_counter() - start)


def main() -> None:
    """Prints a line for each size."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description="Times of the page of assignor ui in Chromium.")
    parser.add_argument("--tasks", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with served([group(tasks) for tasks in given.tasks]) as address, sync_playwright() as playwright:
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
                # Another setting each time: nothing of it was asked before.
                url = f"{base}/state?s=0&n={number}&a=sticky&c=num.standby.replicas%3D{standbys % 3}&round=0"
                paints.append(first_paint(page, f"{url}&c=max.warmup.replicas%3D{standbys + 1}"))
                edits.append(edited(page))
            print(f"{tasks:5}  {statistics.median(paints):15.0f}  {statistics.median(edits):20.0f}")
        browser.close()


if __name__ == "__main__":
    main()
