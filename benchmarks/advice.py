"""`assignor advise` on a generated group of 10 instances and 200 tasks: 200 configurations, 24 h, 8 days, two cores.

`python -m benchmarks.advice` runs one race and prints its wall time, its plays, and the processor time of a play.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from assignment_api.plugins import discover
from assignor_lab.advising.advice import Effort, advise, player
from assignor_lab.advising.choice import Aims
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.advising.space import space_of
from assignor_lab.advising.streams_group import AdvisedStreamsGroup
from benchmarks.pages import put_between
from calibration.advice.groups import generated_group, group_document

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.advice --write: begin -->"
END = "<!-- written by python -m benchmarks.advice --write: end -->"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.advice", description=__doc__)
    parser.add_argument("--instances", type=int, default=10, help="(%(default)s)")
    parser.add_argument("--tasks", type=int, default=200, help="(%(default)s)")
    parser.add_argument("--configurations", type=int, default=200, help="(%(default)s)")
    parser.add_argument("--days", type=int, default=8, help="(%(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/README.md")
    options = parser.parse_args()
    subject = generated_group(discover(), group_document(options.instances, options.tasks, standbys=1))
    space = space_of(subject, DEFAULT_MIX)
    effort = Effort(options.configurations, options.days)
    plays = 0

    def on_play() -> None:
        nonlocal plays
        plays += 1

    begun = time.monotonic()
    play = player(AdvisedStreamsGroup(subject), DEFAULT_MIX, space, effort, options.processes, on_play)
    advice = advise(AdvisedStreamsGroup(subject), DEFAULT_MIX, space, Aims(), effort, play)
    wall_s = time.monotonic() - begun
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu_s = sum(each.ru_utime + each.ru_stime for each in used)
    text = (
        f"{options.configurations} configurations, {options.days} days of 24 h, {options.instances} x {options.tasks}, "
        f"{options.processes} processes: {plays} plays of {len(advice.race.contenders)} configurations in "
        f"{wall_s / 60:.1f} minutes on the wall, {cpu_s / 60:.1f} minutes of the processors' time, "
        f"{cpu_s / max(1, plays):.2f} s a play."
    )
    sys.stdout.write(f"{text}\n")
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
