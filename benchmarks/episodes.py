"""`assignor score` on episodes of Streams groups: every generated family, three assignors, two cores.

`python -m benchmarks.episodes` plays `--episodes` of them, the families in turn, each with every assignor.
It prints what the whole command took: on the wall, and as time of all processors, which other work disturbs little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from assignment_api.plugins import discover
from assignor_lab.runtime.isolation.descendants import become_subreaper
from benchmarks.pages import put_between

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.episodes --write: begin -->"
END = "<!-- written by python -m benchmarks.episodes --write: end -->"
#: Two of applications, and one of brokers, which plays the same worlds in the streams protocol.
_ASSIGNORS = "high_availability,sticky,group_sticky_4_4"


def main() -> int:
    """Scores, prints, and returns the exit code of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.episodes", description=__doc__)
    parser.add_argument("--episodes", type=int, default=2_000, help="of all families together (%(default)s)")
    parser.add_argument("--assignors", default=_ASSIGNORS, help="who decides (%(default)s)")
    parser.add_argument("--cores", type=int, default=2, help="cores on which Spark runs (%(default)s)")
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/README.md")
    options = parser.parse_args()
    families = sorted(each.name for each in discover().families() if each.plugin.kind == "streams-episode")
    assignors = options.assignors.split(",")
    with tempfile.TemporaryDirectory(prefix="assignor-bench-") as folder:
        out = Path(folder) / "out"
        command = [sys.executable, "-m", "assignor_lab.cli.main", "score", "--master", f"local[{options.cores}]"]
        command += [word for name in assignors for word in ("--assignor", name)]
        command += ["--families", ",".join(families), "--count", str(options.episodes), "--out", str(out)]
        become_subreaper()  # Spark's workers outlive their parent for a moment, and count
        begun = time.monotonic()
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        wall_s = time.monotonic() - begun
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return done.returncode
        rows = json.loads((out / "summary.json").read_text(encoding="utf-8"))["results"]["rows"]
    used = _used_by_all()
    told = (
        f"{options.episodes:,} episodes of {len(families)} families, {len(assignors)} assignors "
        f"({', '.join(assignors)}), {options.cores} cores: {rows:,} rows in {wall_s / 60:.1f} minutes on the wall, "
        f"{used / 60:.1f} minutes of the processors' time."
    )
    print(told)
    if options.write:
        put_between(PAGE, BEGIN, told, END)
    return 0


def _used_by_all() -> float:
    """Seconds that all processes of the command had of the processors, once the last one has ended."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
