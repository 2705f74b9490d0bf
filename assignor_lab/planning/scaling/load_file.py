"""Load traces: the input of a group over a day, from a CSV file.

A row has the time (ISO 8601, or seconds), and records per second: of the group (``time,records_per_second``), of a
topic (``time,topic,records_per_second``) or of a partition (``time,topic,partition,records_per_second``). A rate
holds until the next time of the file.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median

import attrs

from assignment_api.input_files import open_input
from assignor_lab.documents.errors import DocumentFormatError, printable
from assignor_lab.documents.wording import listed
from assignor_lab.planning.scaling.rates import RECORDS, InputCurve

__all__ = ["LoadTrace", "curve_of", "read_load"]

_TIME, _TOPIC, _PARTITION, _RATE = "time", "topic", "partition", "records_per_second"
_HEADERS = ((_TIME, _RATE), (_TIME, _TOPIC, _RATE), (_TIME, _TOPIC, _PARTITION, _RATE))
_MOST_BYTES = 64 * 1024 * 1024
#: An interval longer than this many usual ones is a gap.
_GAP = 3.0
_HIGHEST = 1e15
_MOST_NAMED = 3


@attrs.frozen(eq=False)
class LoadTrace:
    """A trace.

    Args:
        times_s: From 0, ascending.
        rates: Source of the input to its records per second at each time: ``None`` is the group, a topic, or a
            partition.
        until_s: End of the last interval, which is as long as the usual one.
    """

    file: str
    times_s: tuple[float, ...]
    rates: Mapping[tuple[str, int | None] | None, tuple[float, ...]]
    until_s: float


def read_load(file: Path) -> LoadTrace:
    """The trace of a file.

    Raises:
        DocumentFormatError: if it cannot be read, is in another form, has times that fall, or a gap.
    """
    rows = list(_rows(file))
    if not rows:
        raise DocumentFormatError(str(file), 1, "", "the trace has no row: write a time and a rate in each")
    times = sorted({time for _, time, _, _ in rows})
    if len(times) < 2:
        raise DocumentFormatError(str(file), rows[0][0], _TIME, "the trace has one time: it needs at least two")
    usual = median(later - time for time, later in pairwise(times))
    lines = {time: line for line, time, _, _ in rows}
    for time, later in pairwise(times):
        if later - time > _GAP * usual:
            raise DocumentFormatError(
                str(file), lines[later], _TIME,
                f"a gap of {later - time:g} s after the row before, where {usual:g} s are usual: write a row for each "
                "time (0 if there was no input)",
            )  # fmt: skip
    sources: dict[tuple[str, int | None] | None, dict[float, float]] = {}
    for line, time, source, rate in rows:
        known = sources.setdefault(source, {})
        if time in known:
            raise DocumentFormatError(str(file), line, _TIME, f"{_named(source)} has two rates at this time: keep one")
        known[time] = rate
    for source, known in sources.items():
        lacking = next((time for time in times if time not in known), None)
        if lacking is not None:
            raise DocumentFormatError(
                str(file), lines[lacking], _TIME,
                f"{_named(source)} has no rate at this time, and others have: write a row for each",
            )  # fmt: skip
    begin = times[0]
    return LoadTrace(
        str(file),
        tuple(time - begin for time in times),
        {source: tuple(known[time] for time in times) for source, known in sources.items()},
        times[-1] - begin + usual,
    )


def curve_of(
    trace: LoadTrace,
    tasks: Sequence[str],
    reads: Mapping[str, Sequence[tuple[str, int]]],
    weights: Mapping[str, float] | None,
    task: str,
) -> tuple[InputCurve, list[str]]:
    """The input of each task, and sentences on what the trace leaves open.

    Args:
        weights: Task to its share of the input; ``None``: unknown.
        task: A task, as sentences name it.

    Raises:
        DocumentFormatError: if the trace names a topic or partition that the group does not read.
    """
    notes: list[str] = []
    parts: dict[str, list[tuple[float, tuple[float, ...]]]] = {name: [] for name in tasks}
    of_partition: dict[tuple[str, int], list[str]] = {}
    for name in tasks:
        for read in reads.get(name, ()):
            of_partition.setdefault(read, []).append(name)
    fed: set[str] = set()
    for source, rates in trace.rates.items():
        for name, share in _shares(trace, source, tasks, of_partition, weights):
            parts[name].append((share, rates))
            fed.add(name)
    if None in trace.rates and weights is None and len(tasks) > 1:
        notes.append(
            f"the load is divided equally among the {len(tasks)} {task}s (give it by topic and partition, or "
            "input_bytes_per_s with --workload)"
        )
    dry = [name for name in tasks if name not in fed]
    if dry:
        shown = [*dry[:_MOST_NAMED], *([f"{len(dry) - _MOST_NAMED} more"] if len(dry) > _MOST_NAMED else [])]
        notes.append(f"the trace has no input of {listed(shown)}: they count as without input")
    rates_at = [
        tuple(sum(share * rates[place] for share, rates in parts[name]) for name in tasks)
        for place in range(len(trace.times_s))
    ]
    curve = InputCurve(
        tuple(tasks), trace.times_s, tuple(rates_at), RECORDS, f"of {printable(trace.file)}", trace.until_s
    )
    return curve, notes


def _shares(
    trace: LoadTrace,
    source: tuple[str, int | None] | None,
    tasks: Sequence[str],
    of_partition: Mapping[tuple[str, int], Sequence[str]],
    weights: Mapping[str, float] | None,
) -> Iterator[tuple[str, float]]:
    if source is None:
        total = len(tasks) if weights is None else sum(weights.values())
        for name in tasks:
            yield name, (1 if weights is None else weights[name]) / total
        return
    topic, number = source
    partitions = sorted(each for each in of_partition if each[0] == topic)
    if not partitions:
        known = sorted({each for each, _ in of_partition})
        reason = f"the group does not read {_named(source)}: it reads {listed(known[:8]) or 'no known topic'}"
        raise DocumentFormatError(trace.file, None, _TOPIC, reason)
    wanted = partitions if number is None else [(topic, number)]
    for each in wanted:
        if each not in of_partition:
            reason = f"the group does not read {_named(source)}: it reads {printable(topic)} 0 to {partitions[-1][1]}"
            raise DocumentFormatError(trace.file, None, _PARTITION, reason)
        # Two sub-topologies may read one partition: each of them reads all its records.
        for name in of_partition[each]:
            yield name, 1 / len(wanted)


def _named(source: tuple[str, int | None] | None) -> str:
    if source is None:
        return "the group"
    topic, number = source
    return printable(topic) if number is None else f"{printable(topic)}-{number}"


def _rows(file: Path) -> Iterator[tuple[int, float, tuple[str, int | None] | None, float]]:
    """Line, time, source and rate."""
    try:
        with open_input(file) as stream:
            content = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise DocumentFormatError(str(file), None, "", f"cannot be read: {error}") from None
    if len(content) > _MOST_BYTES:
        raise DocumentFormatError(str(file), None, "", f"is larger than {_MOST_BYTES // 1024**2} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentFormatError(str(file), None, "", f"is not UTF-8: {error.reason}") from None
    reader = csv.reader(io.StringIO(text, newline=""))
    header: tuple[str, ...] | None = None
    last: float | None = None
    try:
        for cells in reader:
            line = reader.line_num
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if header is None:
                header = tuple(cell.strip().lower() for cell in cells)
                if header not in _HEADERS:
                    forms = " or ".join(",".join(each) for each in _HEADERS)
                    raise DocumentFormatError(
                        str(file), line, "", f"the first line is none of a load trace: write {forms}"
                    )
                continue
            if len(cells) != len(header):
                raise DocumentFormatError(
                    str(file), line, "", f"has {len(cells)} values, and the first line names {len(header)}"
                )
            time = _time(file, line, cells[0].strip())
            if last is not None and time < last:
                raise DocumentFormatError(
                    str(file), line, _TIME, f"{cells[0]!r:.40} is before the row above: sort the rows"
                )
            last = time
            yield line, time, _source(file, line, header, cells), _rate(file, line, cells[-1].strip())
    except csv.Error as error:
        raise DocumentFormatError(str(file), reader.line_num, "", f"is no CSV: {error}") from None


def _source(file: Path, line: int, header: tuple[str, ...], cells: Sequence[str]) -> tuple[str, int | None] | None:
    if len(header) == 2:
        return None
    topic = cells[1].strip()
    if len(header) == 3:
        return topic, None
    number = cells[2].strip()
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise DocumentFormatError(str(file), line, _PARTITION, f"{number!r:.40} is no partition: write a number from 0")
    return topic, int(number)


def _rate(file: Path, line: int, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 <= rate <= _HIGHEST:
        raise DocumentFormatError(str(file), line, _RATE, f"{text!r:.40} is no rate: write records per second, from 0")
    return rate


def _time(file: Path, line: int, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise DocumentFormatError(
                str(file), line, _TIME, f"{text!r:.40} is no time: write 2026-11-27T18:00:00Z, or seconds"
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not abs(seconds) <= _HIGHEST:
        raise DocumentFormatError(str(file), line, _TIME, f"{text!r:.40} is no time: write seconds")
    return seconds
