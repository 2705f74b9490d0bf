"""Readers against mutated records and answers: ``python -m tests.capture.reader_fuzz --count 1000000``.

For any bytes, a reader returns a value or raises one of its typed errors, in short time and with little memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from assignment_api.errors import AssignorLabError
from assignor_lab.capture.recorded.anonymous_records import anonymous_record
from assignor_lab.capture.recorded.broker_answers import described_groups, group_answers, read_cluster_answer
from assignor_lab.capture.recorded.connect.answers import connect_rounds
from assignor_lab.capture.recorded.group_history import GroupRecord, RecordedHistory
from assignor_lab.capture.recorded.log_segments import read_segment
from assignor_lab.capture.recorded.streams_group_answers import read_streams_group_answer
from assignor_lab.scenarios.anonymous import Pseudonyms
from assignor_lab.simulation.seeded_parts import parts_of_seeds
from tests.capture.flight_recording import GROUPS, records
from tests.capture.live.test_listing import DESCRIBE_GROUPS, DESCRIBE_STREAMS_GROUP, exchanges
from tests.capture.recorded.log_segment_bytes import CODECS, batch

__all__ = ["BOUND_S", "fuzz"]

#: Processor time that a reader may take for one message of these sizes, in seconds.
BOUND_S = 2.0
#: Memory limit of a process, in bytes: catches a reader that trusts a length of two billion.
_ROOM = 3 * 1024**3
_METADATA = 3
_PART = 500


@attrs.frozen
class Sample:
    what: str
    data: bytes
    read: Callable[[bytes], object]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.capture.reader_fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    begun, found = time.monotonic(), dict.fromkeys(("read", "refused"), 0)
    for part in parts_of_seeds(_part, options.count, options.seed, options.processes, _PART):
        for outcome, number in part.items():
            found[outcome] += number
    told = f"{options.count:,} mutated messages: {found['read']:,} read, {found['refused']:,} refused by typed errors"
    print(f"{told}, in {time.monotonic() - begun:,.0f} s")
    return 0


def fuzz(count: int, seed: int = 0) -> dict[str, int]:
    """Reads mutated messages.

    Returns:
        Numbers of read and of refused messages.

    Raises:
        AssertionError: if a reader took too long.
        Exception: any other error of a reader.
    """
    return _outcomes(range(seed, seed + count))


def _part(seeds: range) -> dict[str, int]:
    resource.setrlimit(resource.RLIMIT_AS, (_ROOM, _ROOM))
    return _outcomes(seeds)


def _outcomes(seeds: range) -> dict[str, int]:
    found = {"read": 0, "refused": 0}
    for seed in seeds:
        draw = Random(seed)
        sample = draw.choice(_samples())
        data = _mutated(sample.data, draw)
        begun = time.process_time()
        try:
            sample.read(data)
            found["read"] += 1
        except AssignorLabError:
            found["refused"] += 1
        except Exception as error:
            error.add_note(f"seed {seed}: {sample.what}: {data.hex()[:2_000]}")
            raise
        assert time.process_time() - begun < BOUND_S, f"seed {seed}: {sample.what} took too long"
    return found


def _mutated(data: bytes, draw: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(changed) + 1) if changed else 0
        kind = draw.randrange(5)
        if kind == 0 and changed:
            changed[min(at, len(changed) - 1)] = draw.randrange(256)
        elif kind == 1:
            # Lengths and counts: zero, the maximum, and one less.
            changed[at : at + draw.choice((1, 2, 4))] = draw.choice(
                (b"\0\0", b"\x7f\xff\xff\xff", b"\xff\xff", b"\x80")
            )
        elif kind == 2:
            del changed[at:]
        elif kind == 3:
            changed[at:at] = draw.randbytes(draw.randint(1, 9))
        else:
            other = draw.randrange(len(changed) + 1)
            changed[at:at] = changed[min(at, other) : max(at, other)][:64]
    return bytes(changed)


@cache
def _samples() -> list[Sample]:
    made: list[Sample] = []
    names = Pseudonyms(b"a key of the fuzzer's own")
    for group in GROUPS:
        for each in records(group):
            made.append(Sample(f"key of {group}", each.key, partial(_as_key, group, each)))
            if each.value is not None:
                made.append(Sample(f"record of {group}", each.value, partial(_as_value, group, each)))
                made.append(Sample(f"hidden record of {group}", each.value, partial(_hidden, names, each)))
    for data, version in exchanges("plain/exchanges.jsonl.gz", DESCRIBE_GROUPS)[-5:]:
        made.append(Sample("DescribeGroups", data, partial(_groups, version)))
    for data, version in exchanges("connect/sessioned/exchanges.jsonl.gz", DESCRIBE_GROUPS)[-5:]:
        made.append(Sample("DescribeGroups of Connect", data, partial(_connect, version)))
    for data, version in exchanges("orders-group-3/exchanges.jsonl.gz", DESCRIBE_STREAMS_GROUP)[-5:]:
        made.append(Sample("StreamsGroupDescribe", data, partial(_with_version, read_streams_group_answer, version)))
    for data, version in exchanges("plain/exchanges.jsonl.gz", _METADATA)[-3:]:
        made.append(Sample("Metadata", data, partial(_with_version, read_cluster_answer, version)))
    made += [
        Sample(f"segment, {codec}", batch(records(group)[:8], codec), _segment) for codec in CODECS for group in GROUPS
    ]
    return made


def _as_key(group: str, record: GroupRecord, data: bytes) -> object:
    return RecordedHistory(group).take(attrs.evolve(record, key=data))


def _as_value(group: str, record: GroupRecord, data: bytes) -> object:
    return RecordedHistory(group).take(attrs.evolve(record, value=data))


def _hidden(names: Pseudonyms, record: GroupRecord, data: bytes) -> object:
    return anonymous_record(attrs.evolve(record, value=data), names)


def _groups(version: int, data: bytes) -> object:
    return group_answers(described_groups(data, version))


def _connect(version: int, data: bytes) -> object:
    return connect_rounds(described_groups(data, version))


def _with_version(read: Callable[[bytes, int], Any], version: int, data: bytes) -> object:
    return read(data, version)


def _segment(data: bytes) -> object:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "00000000000000000000.log"
        file.write_bytes(data)
        faults: list[object] = []
        return [each for found in read_segment(file, faults.append) for each in found]


if __name__ == "__main__":
    sys.exit(main())
