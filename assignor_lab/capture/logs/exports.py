"""Exports of log collectors: tables (CSV), and JSON that spans lines.

A row or an object is one record. A record holds a message of several lines, or each line of it is a record.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from assignor_lab.capture.errors import LogLineTooLongError
from assignor_lab.capture.logs.log_files import MAX_LINE_BYTES, LogBytes, checked_read
from assignor_lab.capture.logs.log_lines import LogText, unwrapped_text
from assignor_lab.capture.logs.open_dates import LogClock
from assignor_lab.capture.logs.record_fields import (
    HOST_NAMES,
    MESSAGE_NAMES,
    message_of,
    named_text,
    thread_of_fields,
)
from assignor_lab.capture.logs.timestamps import TIME_NAMES, time_of_fields

__all__ = ["ExportedRecord", "JsonExport", "TableExport", "export_of"]

_DELIMITERS = ",;\t|"
_SEPARATOR_LINE = re.compile(r"\Asep=(.)\r?\n")
_LONGEST_NAME, _SHAPE_LENGTH, _SAMPLE = 64, 10, 50
_FEWEST_ROWS = 2
_BLOCK_BYTES = 2**18
_MAX_VALUE = 8 * MAX_LINE_BYTES
_JSON_LIST = re.compile(r'\A\s*\[\s*(?:\{\s*["}]|"|\[\s*"|\])')
_JSON_OBJECT = re.compile(r'\A\s*\{\s*"(?:[^"\\\n]|\\.){0,200}"\s*:')
_END_OF_FIELD = re.compile(r'"\r?\n(?=[^\n]*["])')
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
#: A list of records in one line that is longer than the head.
_NESTED_LIST = re.compile(r'"(?:data|entries|events|hits|items|logs|records|result|results)"\s*:\s*[\[{]')
_RECORDS = re.compile(r"[\[,]\s*(?=\{)")
_NAME = re.compile(r"\A[@_A-Za-z][\w @.()\[\]/-]*\Z")
_KNOWN_NAMES = frozenset((*MESSAGE_NAMES, *HOST_NAMES, *TIME_NAMES))
_NS_AND_LINE = 2

# A field is as long as a line; the module's own limit is 128 KiB.
csv.field_size_limit(MAX_LINE_BYTES)


@attrs.frozen
class ExportedRecord:
    """One record, with its names and values.

    Args:
        line: Its first line in the file.
    """

    line: int
    fields: dict[str, Any]

    def text(self, clock: LogClock) -> LogText | None:
        """The record's message; ``None`` if it has none."""
        message = message_of(self.fields)
        if message is None:
            return None
        stream = named_text(self.fields, HOST_NAMES) or ""
        time = time_of_fields(self.fields, clock.find)
        thread = thread_of_fields(self.fields)
        message = message.encode("utf-8", "replace").decode().rstrip("\r\n")
        return unwrapped_text(LogText(self.line, stream, message, None, time, thread, "\n" in message), clock)


@attrs.define
class TableExport:
    """A table with one record in each row. Columns have any order and any delimiter.

    Args:
        columns: Names; numbers for a table without a first row of names.
        shapes: First characters of rows, which show where the next row begins if a quote is never closed.
    """

    name: str
    data: LogBytes
    delimiter: str
    columns: tuple[str, ...]
    shapes: frozenset[str]
    skipped: int
    fault: str | None = None
    #: Columns of a date and its time of day.
    day: str | None = attrs.field(init=False, default=None)
    time: str | None = attrs.field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        named = {name.lower(): name for name in self.columns}
        if "date" in named and "time" in named and "timestamp" not in named:
            self.day, self.time = named["date"], named["time"]

    def records(self) -> Iterator[ExportedRecord]:
        for number, row in self._rows():
            cells = _cells(row, self.delimiter)
            if len(cells) == 1 < len(self.columns):
                continue
            fields = dict(zip(self.columns, cells, strict=False))
            if (day := fields.get(self.day or "", "")) and (time := fields.get(self.time or "", "")):
                fields["timestamp"] = f"{day} {time}"
            yield ExportedRecord(number, fields)

    def _rows(self) -> Iterator[tuple[int, str]]:
        begun: list[str] = []
        start = quotes = 0
        for number, line in enumerate(_decoded_lines(self.data, self.name), 1):
            if number <= self.skipped:
                continue
            if begun and self._begins_row(line):
                self.fault = self.fault or f"line {start}: a quote is not closed"
                yield start, "".join(begun)
                begun, quotes = [], 0
            start = start if begun else number
            begun.append(line)
            quotes += line.count('"')
            if quotes % 2 == 0:
                if line.strip() or len(begun) > 1:
                    yield start, "".join(begun)
                begun, quotes = [], 0
        if begun:
            self.fault = self.fault or f"line {start}: the file ends within a quoted field"
            yield start, "".join(begun)

    def _begins_row(self, line: str) -> bool:
        """True for a whole row within a field: a quote before it is not closed."""
        if line.count(self.delimiter) < len(self.columns) - 1 or line.count('"') % 2 or _shape(line) not in self.shapes:
            return False
        return len(_cells(line, self.delimiter)) == len(self.columns)


@attrs.define
class JsonExport:
    """An array of records, objects one after the other, or an object that holds the records in a list."""

    name: str
    data: LogBytes
    fault: str | None = None

    def records(self) -> Iterator[ExportedRecord]:
        for line, value in self._values():
            for fields in _records_in(value):
                yield ExportedRecord(line, fields)

    def _values(self) -> Iterator[tuple[int, Any]]:
        """Top-level values and elements of a top-level array, with their lines."""
        decoder, text, position, line = json.JSONDecoder(), "", 0, 1
        blocks = _decoded_blocks(self.data, _BLOCK_BYTES, self.name)
        is_cut = False
        for block in blocks:
            text, position = text[position:] + block, 0
            # A value that spans blocks is read again: the blocks double.
            while (begin := _after_separators(text, position)) < len(text):
                line += text.count("\n", position, begin)
                position = begin
                try:
                    value, end = decoder.raw_decode(text, position)
                except (ValueError, RecursionError):
                    is_cut = True
                    break
                is_cut = False
                yield line, value
                line += text.count("\n", position, end)
                position = end
            if len(text) - position > _MAX_VALUE:
                raise LogLineTooLongError(
                    self.name, line, f"a JSON value is longer than {_MAX_VALUE // 2**20} MiB", "export fewer records"
                )
        if is_cut:
            self.fault = f"line {line}: the JSON ends too early or is damaged"
            yield from self._rest(decoder, text, position, line)

    def _rest(self, decoder: json.JSONDecoder, text: str, position: int, line: int) -> Iterator[tuple[int, Any]]:
        """The whole records of a value that was cut off."""
        found = _RECORDS.search(text, position)
        while found is not None:
            line += text.count("\n", position, found.end())
            position = found.end()
            try:
                while (begin := _after_separators(text, position)) < len(text):
                    value, end = decoder.raw_decode(text, begin)
                    line += text.count("\n", position, end)
                    position = end
                    yield line, value
                return
            except (ValueError, RecursionError):
                found = _RECORDS.search(text, position)


def export_of(head: str, name: str, data: LogBytes) -> TableExport | JsonExport | None:
    """``None`` for a plain log, or one with a JSON object in each line.

    Args:
        head: The beginning of the file.
    """
    if _JSON_LIST.match(head) or (_JSON_OBJECT.match(head) and not _is_json_lines(head)):
        return JsonExport(name, data)
    table = _table(head, name, data)
    if table is None and (ended := _END_OF_FIELD.search(head)) is not None:
        # A part of a table can begin within a field.
        table = _table(head[ended.end() :], name, data)
        if table is not None:
            table.skipped += head.count("\n", 0, ended.end())
    return table


def _is_json_lines(head: str) -> bool:
    first, *more = (line for line in head.split("\n", 3) if line.strip())
    for line in (first, *more[:1]):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        return isinstance(value, dict) and next(_records_in(value), None) is value
    return not more and _NESTED_LIST.search(head) is None


def _records_in(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Objects with a message; those of nested lists, unless the object has a message itself."""
    if isinstance(value, str):
        yield {"message": value}
    elif isinstance(value, dict):
        direct = {name: each for name, each in value.items() if not isinstance(each, (dict, list))}
        lists = list(_lists_in(value, 0))
        if named_text(direct, MESSAGE_NAMES) is not None or not lists:
            yield value
            return
        labels = value.get("stream")
        for each in lists:
            for inner in each:
                yield from _with_labels(_records_in(inner, depth + 1), labels)
    elif isinstance(value, list) and depth:
        texts = [each for each in value if isinstance(each, str)]
        if len(value) >= _NS_AND_LINE and len(texts) == len(value):
            # Loki: nanoseconds and line.
            yield {"ts": texts[0], "message": texts[1]}


def _with_labels(records: Iterator[dict[str, Any]], labels: object) -> Iterator[dict[str, Any]]:
    for each in records:
        yield {**each, "labels": labels} if isinstance(labels, dict) else each


def _lists_in(value: dict[str, Any], depth: int) -> Iterator[list[Any]]:
    for each in value.values():
        if isinstance(each, list) and each and isinstance(each[0], (dict, list)):
            yield each
        elif isinstance(each, dict) and depth < 3:
            yield from _lists_in(each, depth + 1)


def _after_separators(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n,[]":
        position += 1
    return position


# --- tables -----------------------------------------------------------------------------------------


def _cells(row: str, delimiter: str) -> list[str]:
    """Empty for a row that is none, as of damaged data."""
    # A carriage return within a line is no end of a row here.
    text = row.removesuffix("\n").removesuffix("\r").replace("\r", " ") if "\r" in row else row
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []


def _table(head: str, name: str, data: LogBytes) -> TableExport | None:
    separator = _SEPARATOR_LINE.match(head)
    text = head if separator is None else head[separator.end() :]
    for delimiter in _DELIMITERS if separator is None else separator[1]:
        rows = _sample(text, delimiter)
        if len(rows) < _FEWEST_ROWS or len({len(row) for row in rows}) != 1:
            continue
        fields = text.count(f'{delimiter}"') + text.count('\n"')
        is_quoted, is_headed = fields >= len(rows) - 1, _are_names(rows[0])
        if is_headed and (is_quoted or any(cell.strip().lower() in _KNOWN_NAMES for cell in rows[0])):
            names = _named([cell.strip() for cell in rows[0]], rows[1:])
            return TableExport(name, data, delimiter, names, _shapes(rows[1:], delimiter), 1 + (separator is not None))
        if is_quoted and len(rows[0]) > 1:
            names = _named([str(number) for number in range(len(rows[0]))], rows)
            return TableExport(name, data, delimiter, names, _shapes(rows, delimiter), int(separator is not None))
    return None


def _sample(text: str, delimiter: str) -> list[list[str]]:
    """The first rows, without a last one that the sample may cut."""
    lines = text.splitlines(keepends=True)
    try:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return []
    return rows[: min(_SAMPLE, max(len(rows) - 1, _FEWEST_ROWS))]


def _are_names(cells: Sequence[str]) -> bool:
    names = [cell.strip() for cell in cells]
    if len(names) == 1 and names[0].lower() not in MESSAGE_NAMES:
        return False
    return len(set(names)) == len(names) and all(len(name) <= _LONGEST_NAME and _NAME.match(name) for name in names)


def _named(names: list[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Without a known name, the longest column is the message, and the first one with a time is the time."""
    lower = {name.lower() for name in names}
    lengths = [sum(len(row[column]) for row in rows) for column in range(len(names))]
    longest = lengths.index(max(lengths))
    if lower.isdisjoint(MESSAGE_NAMES):
        names[longest] = "message"
    if lower.isdisjoint(TIME_NAMES):
        clock = LogClock()
        times = [column for column, cell in enumerate(rows[0]) if column != longest and clock.find(cell) is not None]
        for column in times[:1]:
            names[column] = "time"
    return tuple(names)


def _shapes(rows: Sequence[Sequence[str]], delimiter: str) -> frozenset[str]:
    return frozenset(_shape(delimiter.join(row)) for row in rows)


def _shape(line: str) -> str:
    return _LETTER.sub("a", _DIGIT.sub("9", line.lstrip('"')[:_SHAPE_LENGTH]))


# --- text ---------------------------------------------------------------------------------------------


def _decoded_blocks(data: LogBytes, size: int, name: str) -> Iterator[str]:
    """Blocks of doubling sizes."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while block := checked_read(data, size, name):
        yield decoder.decode(block)
        size = min(2 * size, MAX_LINE_BYTES)


def _decoded_lines(data: LogBytes, name: str) -> Iterator[str]:
    rest: list[str] = []
    for block in _decoded_blocks(data, _BLOCK_BYTES, name):
        *whole, last = block.split("\n")
        for line in whole:
            yield "".join([*rest, line, "\n"])
            rest = []
        rest.append(last)
    if line := "".join(rest):
        yield line
