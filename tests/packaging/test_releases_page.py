import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_ranges_of_the_code() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "releases_page.py")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
