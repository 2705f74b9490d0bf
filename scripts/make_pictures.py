"""Make the pictures of README.md and the docs: pages of the report and the browser view, and terminals.

Usage: make_pictures.py DIRECTORY_OF_THE_COMMAND. Needs a Chromium; run `make demo` before.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
#: Columns of the terminal, and the size of the page in pixels.
COLUMNS, WIDTH, HEIGHT = 100, 1100, 900
PLAN = "plan tests/data/captures/plans/P1/capture.jsonl roll --order d1,d2,d3 --start-seconds 2.2"
CONFIG = "--config tests/data/captures/plans/P1/application.properties"
#: Options for the group of `assignor sample`, which lies in the folder `sample` while pictures are made.
SAMPLE = "sample/logs --config sample/application.properties"
CONTENDERS = "--assignor high_availability --variant new=group_sticky_4_4,group.protocol=streams"
#: File of a picture to its command and the number of shown lines, in the folder with `sample` and `racks`.
TERMINALS = {
    "history.svg": (f"history {SAMPLE}", 34),
    "replay.svg": (f"replay {SAMPLE} {CONTENDERS}", 40),
    "racks.svg": ("history racks/logs --config racks/application.properties", 6),
    "check.svg": (f"check {SAMPLE} --limits limits.toml", 30),
}
#: Limits of the check: low ones, so that the picture has a finding.
LIMITS = "departures = 0\nreturns = 0\n"
#: Longest start of the browser view in seconds.
START_S = 120
#: As rich's own format, without fonts from the network.
_SVG = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<rect fill="#292929" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})">{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def picture_of_terminal(command: Path, arguments: str, target: Path, folder: Path = ROOT, lines: int = 60) -> None:
    """Write the output of a command as SVG; remarks on standard error are left out."""
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "LINES": "50"}
    done = subprocess.run(
        [command / "assignor", *shlex.split(arguments)],
        cwd=folder, env=environment, check=False, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        sys.exit(f"make_pictures.py: assignor {arguments}: {done.stderr}")
    printed = done.stdout.rstrip().splitlines()
    if len(printed) > lines:
        printed = [*printed[:lines], "..."]
    console = Console(record=True, width=COLUMNS, force_terminal=True, file=io.StringIO())
    console.print(Text(f"$ assignor {arguments}", style="bold"))
    console.print(Text.from_ansi("\n".join(printed)))
    target.write_text(console.export_svg(title="", code_format=_SVG, unique_id="terminal"), encoding="utf-8")


def picture_of_page(page: str, target: Path, height: int = HEIGHT) -> None:
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    chromium = next(filter(None, found), None)
    if chromium is None:
        sys.exit("make_pictures.py: no Chromium was found; run scripts/install-chromium")
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                chromium, "--headless=new", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={profile}",
                f"--window-size={WIDTH},{height}", f"--screenshot={target}", page,
            ],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120,
        )  # fmt: skip


def picture_of_ui(command: Path, target: Path, folder: Path) -> None:
    serving = subprocess.Popen(
        [command / "assignor", "ui", *shlex.split(SAMPLE)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    stop = threading.Timer(START_S, serving.kill)
    stop.start()
    try:
        assert serving.stdout is not None
        picture_of_page(serving.stdout.readline().strip(), target, height=560)
    finally:
        stop.cancel()
        serving.terminate()
        serving.wait()


def pictures_of_sample(command: Path) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        subprocess.run([command / "assignor", "sample"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        racks = ROOT / "tests" / "data" / "captures" / "orders-2"
        (folder / "racks" / "logs").mkdir(parents=True)
        shutil.copy(racks / "application.properties", folder / "racks")
        for log in racks.glob("*.log.gz"):
            shutil.copy(log, folder / "racks" / "logs")
        (folder / "limits.toml").write_text(LIMITS, encoding="utf-8")
        for name, (arguments, lines) in TERMINALS.items():
            picture_of_terminal(command, arguments, PICTURES / name, folder, lines)
        picture_of_ui(command, PICTURES / "ui.png", folder)


def main() -> None:
    command = Path(sys.argv[1]).absolute()
    report = ROOT / "build" / "demo" / "past" / "report.html"
    if not report.exists():
        sys.exit("make_pictures.py: build/demo/past/report.html is missing; run make demo")
    PICTURES.mkdir(exist_ok=True)
    picture_of_page(report.as_uri(), PICTURES / "report.png")
    picture_of_terminal(command, f"{PLAN} {CONFIG}", PICTURES / "plan.svg")
    pictures_of_sample(command)


if __name__ == "__main__":
    main()
