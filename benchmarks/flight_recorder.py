"""The flight recorder on a large topic: a million foreign offset commits and the records of 1,000 groups, in segments.

`python -m benchmarks.flight_recorder` creates copies of log segments, records all groups from them in a separate
process, and prints the duration. Times are processor time, which other work affects little.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from assignor_lab.capture.live.recorder import RecordingSettings, record_segments
from assignor_lab.capture.recorded.group_history import GroupRecord
from benchmarks.memory import own_peak_bytes
from benchmarks.pages import put_between
from tests.capture.coordinator_records import generation, key, stable_groups
from tests.capture.recorded.log_segment_bytes import batch, offset_commit

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.flight_recorder --write: begin -->"
END = "<!-- written by python -m benchmarks.flight_recorder --write: end -->"
#: A group's generations; records of a batch, as from a busy coordinator; batches of a segment.
_GENERATIONS, _IN_A_BATCH, _IN_A_SEGMENT = 3, 20, 25_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flight_recorder", description=__doc__)
    parser.add_argument("--commits", type=int, default=1_000_000, help="offset commits (%(default)s)")
    parser.add_argument("--groups", type=int, default=1_000, help="groups (%(default)s)")
    parser.add_argument("--write", action="store_true", help="put the figures into benchmarks/README.md")
    parser.add_argument("--record", metavar="DIR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.record is not None:
        return _record(Path(options.record))
    with tempfile.TemporaryDirectory() as folder:
        size = _make(Path(folder), options.commits, options.groups)
        command = [sys.executable, "-m", "benchmarks.flight_recorder", "--record", folder]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    text = (
        f"{options.commits:,} offset commits and {options.groups:,} groups with {found['generations']:,} generations "
        f"in {size / 1e6:,.0f} MB of segments: {found['cpu_s']:.1f} s of the processor, "
        f"{found['peak_bytes'] / 2**20:,.0f} MB at most."
    )
    print(text)
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


def _record(folder: Path) -> int:
    begun = time.process_time()
    recorded = record_segments([folder / "__consumer_offsets-0"], RecordingSettings(folder / "past", None))
    generations = sum(len(each.history.generations) for each in recorded.groups.values())
    figures = {"generations": generations, "cpu_s": time.process_time() - begun, "peak_bytes": own_peak_bytes()}
    print(json.dumps(figures))
    return 0


def _make(folder: Path, commits: int, groups: int) -> int:
    """Writes a partition's segments; returns their bytes."""
    made = folder / "__consumer_offsets-0"
    made.mkdir()
    records, size = _records(commits, groups), 0
    for number in count():
        batches = list(islice(_batches(records), _IN_A_SEGMENT))
        if not batches:
            return size
        content = b"".join(batches)
        size += len(content)
        (made / f"{number:020}.log").write_bytes(content)
    raise AssertionError("never reached")


def _batches(records: Iterator[GroupRecord]) -> Iterator[bytes]:
    while listed := list(islice(records, _IN_A_BATCH)):
        # The checksum of a batch without a group's record is not read, and expensive.
        yield batch(listed, is_sealed=any(each.key[1] == 2 for each in listed))


def _records(commits: int, groups: int) -> Iterator[GroupRecord]:
    described = stable_groups()[-1]
    values = [generation(number, described) for number in range(1, _GENERATIONS + 1)]
    between = max(1, commits // (groups * _GENERATIONS))
    offset = 0
    for number in range(groups * _GENERATIONS):
        for _ in range(between):
            yield GroupRecord(offset, offset, *offset_commit(f"consumers-{offset % 500}", offset))
            offset += 1
        yield GroupRecord(offset, offset, key(2, f"application-{number % groups}"), values[number // groups])
        offset += 1


if __name__ == "__main__":
    sys.exit(main())
