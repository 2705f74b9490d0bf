"""Exports of collectors, dates and orders of logs: the same decisions as of the plain log."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.capture.histories.past_files import LOG, SCENARIOS, NamedFile, kind_of
from assignor_lab.capture.logs.open_dates import DateOrder, LogDates
from tests.capture.public_cases import decisions, figures, log, run, unpacked

_HEAD = re.compile(r"\A(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3}) (.*)\Z")
_MIDNIGHT_MS = 1_714_953_600_000
_DAY_MS = 86_400_000


@attrs.define
class Entry:
    date: str
    time: str
    millis: str
    text: str

    @property
    def whole(self) -> str:
        return f"{self.date} {self.time},{self.millis} {self.text}"

    @property
    def iso(self) -> str:
        return f"{self.date}T{self.time}.{self.millis}Z"

    @property
    def epoch_ms(self) -> int:
        hours, minutes, seconds = map(int, self.time.split(":"))
        return _MIDNIGHT_MS + (hours * 3_600 + minutes * 60 + seconds) * 1_000 + int(self.millis)


def entries(folder: Path) -> list[Entry]:
    found: list[Entry] = []
    for line in unpacked("05-poll-timeout", "node-a.log", folder).read_text().splitlines():
        begun = _HEAD.match(line)
        if begun:
            found.append(Entry(begun[1], begun[2], begun[3], begun[4]))
        else:
            found[-1].text += f"\n{line}"
    return found


def table(rows: list[list[str]], **options: Any) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, **options).writerows(rows)
    return text.getvalue()


def each_line(found: list[Entry]) -> list[tuple[str, str]]:
    return [(entry.iso, line) for entry in found for line in entry.whole.split("\n")]


Maker = Callable[[list[Entry]], str]
TABLES: dict[str, Maker] = {
    "semicolons, other names": lambda each: table(
        [["Zeit", "Host", "Nachricht"], *([entry.iso, "h1", entry.whole] for entry in each)],
        delimiter=";",
        lineterminator="\r\n",
    ),
    "message first": lambda each: table(
        [["message", "host", "@timestamp"], *([entry.whole, "h1", entry.iso] for entry in each)]
    ),
    "separator line of Excel": lambda each: (
        "sep=;\r\n" + table([["Message", "Time"], *([entry.whole, entry.iso] for entry in each)], delimiter=";")
    ),
    "byte order mark": lambda each: (
        "\ufeff" + table([["Date", "Message"], *([entry.iso, entry.whole] for entry in each)])
    ),
    "no names": lambda each: table([[entry.iso, "h1", entry.whole] for entry in each], quoting=csv.QUOTE_ALL),
    "one column": lambda each: table([["Message"], *([entry.whole] for entry in each)]),
    "date and time apart": lambda each: table(
        [
            ["Date", "Time", "Level", "Text"],
            *([entry.date, f"{entry.time},{entry.millis}", "INFO", entry.text] for entry in each),
        ]
    ),
    "Kibana": lambda each: table(
        [
            ["@timestamp", "message"],
            *([f"May 6, 2024 @ {entry.time}.{entry.millis}", entry.text] for entry in each),
        ]
    ),
    "nanoseconds": lambda each: table(
        [["Time", "Line", "tsNs"], *(["", entry.text, f"{entry.epoch_ms}000000"] for entry in each)]
    ),
}
JSON: dict[str, Maker] = {
    "array": lambda each: json.dumps([{"timestamp": entry.iso, "message": entry.whole} for entry in each]),
    "array over lines": lambda each: json.dumps(
        [
            {"textPayload": entry.whole, "timestamp": entry.iso, "resource": {"labels": {"pod_name": "p1"}}}
            for entry in each
        ],
        indent=2,
    ),
    "search answer": lambda each: json.dumps(
        {
            "took": 5,
            "hits": {
                "total": {"value": 9},
                "hits": [{"_source": {"@timestamp": entry.iso, "message": entry.text}} for entry in each],
            },
        }
    ),
    "events": lambda each: json.dumps(
        {"events": [{"logStreamName": "a", "timestamp": entry.epoch_ms, "message": entry.text} for entry in each]},
        indent=4,
    ),
    "pairs": lambda each: json.dumps(
        {
            "status": "success",
            "data": {
                "result": [
                    {"stream": {"pod": "p"}, "values": [[f"{entry.epoch_ms}000000", entry.text] for entry in each]}
                ]
            },
        }
    ),
    "lines": lambda each: "\n".join(json.dumps({"@timestamp": entry.iso, "message": entry.text}) for entry in each),
    "objects over lines": lambda each: "\n".join(
        json.dumps({"@timestamp": entry.iso, "message": entry.text}, indent=1) for entry in each
    ),
    "nested lines": lambda each: "\n".join(
        json.dumps({"preview": False, "result": {"_raw": entry.whole, "_time": entry.iso}}) for entry in each
    ),
    "texts": lambda each: json.dumps([entry.whole for entry in each]),
}
PLAIN: dict[str, Maker] = {
    "log": lambda each: "\n".join(entry.whole for entry in each),
    "quoted": lambda each: "\n".join(f"> {line}" for entry in each for line in entry.whole.split("\n")),
    "quoted twice, of kubectl": lambda each: "\n".join(
        f">> [pod/a-1/app] {line}" for entry in each for line in entry.whole.split("\n")
    ),
    "windows": lambda each: "\r\n".join(entry.whole.replace("\n", "\r\n") for entry in each),
}
FORMS = {**TABLES, **JSON, **PLAIN}


@pytest.mark.parametrize("is_reversed", [False, True], ids=["oldest first", "newest first"])
@pytest.mark.parametrize("form", FORMS)
def test_an_export_has_the_decisions_of_the_plain_log(form: str, is_reversed: bool, tmp_path: Path) -> None:
    each = entries(tmp_path)
    text = FORMS[form](each[::-1] if is_reversed else each)
    file = tmp_path / ("export.jsonl" if form in JSON else "export.txt")
    file.write_bytes(text.encode())

    found, problems = decisions(file)
    expected, _ = decisions(log("05-poll-timeout", "node-a.log"))

    assert list(map(figures, found)) == list(map(figures, expected))
    assert not problems
    assert kind_of(NamedFile(file, str(file))) == LOG


@pytest.mark.parametrize("is_table", [True, False])
def test_a_record_of_each_line_has_the_decisions_of_the_plain_log(is_table: bool, tmp_path: Path) -> None:
    lines = each_line(entries(tmp_path))[::-1]
    rows = table([["Date", "Message"], *([time, line] for time, line in lines)])
    objects = "\n".join(json.dumps({"time": time, "log": f"{line}\n", "stream": "stdout"}) for time, line in lines)
    file = tmp_path / "export.csv"
    file.write_text(rows if is_table else objects)

    found, problems = decisions(file)
    expected, _ = decisions(log("05-poll-timeout", "node-a.log"))

    assert list(map(figures, found)) == list(map(figures, expected))
    assert not problems


def test_utf_16_with_tabs_has_the_decisions_of_the_plain_log(tmp_path: Path) -> None:
    rows = table([["Date", "Message"], *([each.iso, each.whole] for each in entries(tmp_path))], delimiter="\t")
    file = tmp_path / "export.txt"
    file.write_bytes(rows.encode("utf-16"))

    found, problems = decisions(file)

    assert [figures(each)[1] for each in found] == [10, 11, 12, 13]
    assert not problems


@pytest.mark.parametrize(
    ("form", "cut", "words"),
    [("array", 100, "ends too early"), ("no names", 40, "ends within a quoted field")],
)
def test_a_cut_export_has_its_whole_records_and_names_the_damage(
    form: str, cut: int, words: str, tmp_path: Path
) -> None:
    file = tmp_path / "export.log"
    file.write_text(FORMS[form](entries(tmp_path))[:-cut])

    found, problems = decisions(file)

    assert [figures(each)[1] for each in found] == [10, 11, 12, 13]
    assert len(problems) == 1
    assert words in problems[0]


def test_a_part_of_a_table_that_begins_within_a_field_has_its_rows(tmp_path: Path) -> None:
    lines = TABLES["byte order mark"](entries(tmp_path)).splitlines(keepends=True)
    begin = next(number for number, line in enumerate(lines) if line.startswith("b0000000"))
    file = tmp_path / "part.csv"
    file.write_text("".join(lines[begin:]))

    found, problems = decisions(file)

    assert [figures(each)[1:3] for each in found] == [(None, 0), (11, 1), (12, 2), (13, 2)]
    assert not problems


def test_the_end_of_a_quoted_field_is_no_part_of_a_message(tmp_path: Path) -> None:
    rows = [f'x {each.iso} "{each.whole}"' for each in entries(tmp_path)]
    file = tmp_path / "pasted.txt"
    file.write_text("\n".join(rows))

    found, problems = decisions(file)

    assert [figures(each)[1:3] for each in found] == [(10, 2), (11, 1), (12, 2), (13, 2)]
    assert not problems


def test_a_carriage_return_within_a_row_does_no_harm(tmp_path: Path) -> None:
    rows = [["Date", "Host", "Message"], *([each.iso, "h", each.whole] for each in entries(tmp_path))]
    file = tmp_path / "export.csv"
    file.write_bytes(table(rows, lineterminator="\n").replace(",h,", ",h\rh,").encode())

    found, problems = decisions(file)

    assert [figures(each)[1] for each in found] == [10, 11, 12, 13]
    assert not problems


def test_a_quote_that_is_never_closed_costs_one_row(tmp_path: Path) -> None:
    text = TABLES["byte order mark"](entries(tmp_path)).replace("Request joining", '"Request joining', 1)
    file = tmp_path / "export.csv"
    file.write_text(text)

    found, problems = decisions(file)

    assert [figures(each)[1] for each in found] == [10, 11, 12, 13]
    assert "a quote is not closed" in problems[0]


# --- dates ------------------------------------------------------------------------------------------


def dated(layout: str, folder: Path) -> Path:
    file = folder / "app.log"
    file.write_text(
        "\n".join(f"{layout.format(time=each.time, millis=each.millis)} {each.text}" for each in entries(folder))
    )
    return file


@pytest.mark.parametrize(
    ("layout", "order", "first"),
    [
        ("24/05/06 {time},{millis}", None, "2024-05-06"),
        ("13/05/2024 {time}.{millis}", None, "2024-05-13"),
        ("05/13/2024 {time}", None, "2024-05-13"),
        ("06.05.2024 {time}", None, "2024-05-06"),
        ("06/05/2024 {time}", DateOrder.DAY_FIRST, "2024-05-06"),
        ("06/05/2024 {time}", DateOrder.MONTH_FIRST, "2024-06-05"),
        ("06/05/24 {time}", DateOrder.DAY_FIRST, "2024-05-06"),
        ("2024/5/6 {time}", None, "2024-05-06"),
    ],
)
def test_dates_in_other_orders(layout: str, order: DateOrder | None, first: str, tmp_path: Path) -> None:
    found, problems = decisions(dated(layout, tmp_path), dates=LogDates(order))

    days = {(figures(each)[3] or 0) // _DAY_MS for each in found}
    assert days == {(date.fromisoformat(first) - date(1970, 1, 1)).days}
    assert len(found) == 4
    assert not problems


def test_a_date_with_two_meanings_is_named_with_the_option(tmp_path: Path) -> None:
    found, problems = decisions(dated("06/05/2024 {time}", tmp_path))

    assert len(found) == 4
    assert "read as dd/MM" in problems[0]
    assert "--dates MM/dd" in problems[0]


def test_twelve_hours_are_american(tmp_path: Path) -> None:
    file = tmp_path / "app.log"
    file.write_text("\n".join(f"5/6/2024, 1{each.time[2:]} PM {each.text}" for each in entries(tmp_path)[:8]))

    found, _ = decisions(file)

    assert [figures(each)[3] for each in found] == [_MIDNIGHT_MS + 13 * 3_600_000 + 5_000]


def test_times_without_dates_keep_order_and_differences(tmp_path: Path) -> None:
    found, problems = decisions(dated("{time}.{millis}", tmp_path))
    expected, _ = decisions(log("05-poll-timeout", "node-a.log"))

    assert [figures(each)[3] for each in found] == [(figures(each)[3] or 0) - _MIDNIGHT_MS for each in expected]
    assert all(any("--day" in sentence for sentence in each["assumptions"]) for each in found)
    assert not problems
    shown = run("history", str(tmp_path / "app.log"))
    assert "day 1 10:00:05.160" in shown.stdout


def test_the_day_of_the_first_line_gives_all_dates(tmp_path: Path) -> None:
    shown = run("history", str(dated("{time}.{millis}", tmp_path)), "--day", "2024-05-06")

    assert "2024-05-06 10:00:05.160Z" in shown.stdout


def test_times_of_day_go_on_over_midnight_and_parts(tmp_path: Path) -> None:
    each = entries(tmp_path)
    for number, entry in enumerate(each):
        entry.time = f"{(int(entry.time[:2]) + 13 + number // 8) % 24:02}{entry.time[2:]}"
    texts = [f"{entry.time}.{entry.millis} {entry.text}\n" for entry in each]
    for name, part in (("app.log.1", texts[:9]), ("app.log", texts[9:])):
        (tmp_path / name).write_text("".join(part))

    found, problems = decisions(tmp_path / "app.log", tmp_path / "app.log.1")

    assert [figures(document)[1] for document in found] == [10, 11, 12, 13]
    assert (figures(found[0])[3] or 0) < _DAY_MS < (figures(found[-1])[3] or 0) < 2 * _DAY_MS
    assert not problems


@pytest.mark.parametrize(("option", "value"), [("--dates", "MM-dd"), ("--day", "yesterday")])
def test_another_value_of_an_option_of_dates_is_wrong_use(option: str, value: str) -> None:
    result = run("history", log("05-poll-timeout", "node-a.log"), option, value)

    assert result.exit_code == 2
    assert value in result.stderr


def test_json_of_another_kind_is_no_log(tmp_path: Path) -> None:
    file = tmp_path / "brokers.json"
    file.write_text('{"racks": [{"name": "a"}]}')

    assert kind_of(NamedFile(file, str(file))) == SCENARIOS
