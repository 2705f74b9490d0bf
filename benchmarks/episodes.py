"""`assignor score` on episodes of Streams groups: every generated family, three assignors, two cores.

`python -m benchmarks.episodes` plays `--episodes` of them, the families in turn, each with every assignor.
It prints the duration of the whole command: wall time, and processor time, which other work affects little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from assignment_api.plugins import discover
from assignor_lab.runtime.isolation.descendants import become_subreaper, descendants_of
from benchmarks.pages import put_between

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.episodes --write: begin -->"
END = "<!-- written by python -m benchmarks.episodes --write: end -->"
_LOOK_S = 0.5
#: Two of applications, and one of brokers for the streams protocol.
_ASSIGNORS = "high_availability,sticky,group_sticky_4_4"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.episodes", description=__doc__)
    parser.add_argument("--episodes", type=int, default=2_000, help="of all families together (%(default)s)")
    parser.add_argument("--assignors", default=_ASSIGNORS, help="names of assignors (%(default)s)")
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
        become_subreaper()  # orphans of the command become children of this process
        begun = time.monotonic()
        code, output, used = _watched(command)
        wall_s = time.monotonic() - begun
        if code:
            print(output, file=sys.stderr)
            return code
        rows = json.loads((out / "summary.json").read_text(encoding="utf-8"))["results"]["rows"]
    text = (
        f"{options.episodes:,} episodes of {len(families)} families, {len(assignors)} assignors "
        f"({', '.join(assignors)}), {options.cores} cores: {rows:,} rows in {wall_s / 60:.1f} minutes on the wall, "
        f"{used / 60:.1f} minutes of the processors' time."
    )
    print(text)
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


def _watched(command: list[str]) -> tuple[int, str, float]:
    """Exit code, standard error, and processor seconds.

    Read during the run: Spark's workers are not waited for, and the system reports only living processes.
    """
    used: dict[int, float] = {}
    with tempfile.TemporaryFile("w+") as output:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=output)
        while running.poll() is None:
            used.update({process: seconds for process in descendants_of(os.getpid()) if (seconds := _used_by(process))})
            time.sleep(_LOOK_S)
        output.seek(0)
        return running.returncode, output.read(), sum(used.values())


def _used_by(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except (OSError, ValueError):
        return 0.0
    # After the bracketed name, which may contain anything, the 12th and 13th are user and system time.
    fields = status.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
