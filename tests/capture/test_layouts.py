"""Any layout, runtime, compression or order of files gives the same decisions."""

from __future__ import annotations

import gzip
import io
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.capture.logs.import_log import import_log
from tests.capture.captured_logs import (
    LEADER_OF_TAGGED,
    Event,
    documents,
    essence,
    events,
    logs,
    refuse,
    text_of,
)
from tests.capture.layouts import LAYOUTS, RUNTIMES, log4j, logstash_json

LEADERS = {"tagged": LEADER_OF_TAGGED, "plain-ha": logs("plain-ha")[1], "plain": logs("plain")[0]}


@cache
def expected(application: str) -> list[dict[str, Any]]:
    return [essence(document) for document in documents(application)]


@cache
def events_of(application: str) -> list[Event]:
    return list(events(LEADERS[application]))


def imported(application: str, *files: Path) -> list[dict[str, Any]]:
    return [essence(document) for document in documents(application, list(files))]


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("application", LEADERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_changes_nothing(layout: str, application: str, tmp_path: Path) -> None:
    log = write(tmp_path / "app.log", "".join(map(LAYOUTS[layout], events_of(application))))

    # Only its own log names the client of a static member.
    assert imported(application, log) == imported(application, LEADERS[application])


@pytest.mark.parametrize("application", LEADERS)
@pytest.mark.parametrize("address", ["host-7:8080", "[::1]:80", "orders assigned tasks:80"])
def test_the_application_server_of_4_4_in_the_prefix_changes_nothing(
    address: str, application: str, tmp_path: Path
) -> None:
    """Only lines of the partition assignor and its helpers have it."""
    lines = [
        attrs.evolve(event, message=event.message.replace("] ", f"] app-server [{address}] ", 1))
        if event.logger.rpartition(".")[2] in ("StreamsPartitionAssignor", "InternalTopicManager")
        else event
        for event in events_of(application)
    ]
    log = write(tmp_path / "app.log", "".join(map(log4j, lines)))

    assert "app-server [" in log.read_text()
    assert imported(application, log) == imported(application, LEADERS[application])


@pytest.mark.slow
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_container_runtime_changes_nothing(runtime: str, tmp_path: Path) -> None:
    log = write(tmp_path / "app.log", RUNTIMES[runtime](text_of(LEADER_OF_TAGGED).splitlines()))

    assert imported("tagged", log) == expected("tagged")


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_json_within_a_container_runtime_changes_nothing(runtime: str, tmp_path: Path) -> None:
    lines = [logstash_json(event).rstrip("\n") for event in events_of("tagged")]
    log = write(tmp_path / "app.log", RUNTIMES[runtime](lines))

    assert imported("tagged", log) == expected("tagged")


@pytest.mark.slow
def test_times_are_found_in_every_layout_that_has_a_date(tmp_path: Path) -> None:
    known = [document["source"]["time_ms"] for document in documents("tagged")]
    for name, layout in LAYOUTS.items():
        log = write(tmp_path / f"{name}.log", "".join(map(layout, events_of("tagged"))))
        times = [document["source"].get("time_ms") for document in documents("tagged", [log])]
        match name:
            case "message_only":
                assert times == [None] * len(known), name
            case "logback":
                day = 86_400_000
                assert times == [time - known[0] // day * day for time in known], name
            case "level_and_bar" | "java_util_logging":
                assert times == [time // 1000 * 1000 for time in known], name
            case "spring_boot_coloured":
                assert times == [time - 3_600_000 for time in known], name
            case _:
                assert times == known, name


def test_a_zone_is_taken_where_the_log_names_none() -> None:
    from zoneinfo import ZoneInfo

    utc, berlin = documents("tagged")[0], documents("tagged", zone=ZoneInfo("Europe/Berlin"))[0]

    assert utc["source"]["time_ms"] - berlin["source"]["time_ms"] == 3_600_000
    assert any("taken as UTC" in sentence for sentence in utc["assumptions"])
    assert not any("taken as UTC" in sentence for sentence in berlin["assumptions"])


def test_several_leaders_in_one_file_line_by_line(tmp_path: Path) -> None:
    tagged = [f"tagged-1   | {line}\n" for line in text_of(LEADERS["tagged"]).splitlines()]
    plain = [f"plain-ha-1 | {line}\n" for line in text_of(LEADERS["plain-ha"]).splitlines()]
    mixed = "".join(line for pair in zip_longest(tagged, plain, fillvalue="") for line in pair)

    found = documents("tagged", [write(tmp_path / "compose.log", mixed)])

    assert [essence(document) for document in found if "tagged" in document["id"]] == expected("tagged")
    assert len(found) == len(expected("tagged")) + len(expected("plain-ha"))


def test_several_leaders_in_one_file_event_by_event(tmp_path: Path) -> None:
    pairs = zip_longest(events_of("tagged"), events_of("plain"))
    mixed = "".join(log4j(event) for pair in pairs for event in pair if event is not None)

    found = documents("tagged", [write(tmp_path / "app.log", mixed)])

    assert [essence(document) for document in found if "tagged" in document["id"]] == expected("tagged")
    assert len(found) == len(expected("tagged")) + len(expected("plain"))


@pytest.mark.parametrize("parts", [2, 7, 40])
def test_a_rotated_log_may_be_given_in_any_order(parts: int, tmp_path: Path) -> None:
    lines = text_of(LEADER_OF_TAGGED).splitlines(keepends=True)
    size = -(-len(lines) // parts)
    files = [
        write(tmp_path / f"app.log.{parts - number}", "".join(lines[number * size : (number + 1) * size]))
        for number in range(parts)
    ]

    assert imported("tagged", *sorted(files)) == expected("tagged")


def test_a_rotated_log_cut_between_events_loses_nothing(tmp_path: Path) -> None:
    lines = [log4j(event) for event in events_of("tagged")]
    files = [
        write(tmp_path / f"app.log.{9 - number}", "".join(lines[number * 200 : (number + 1) * 200]))
        for number in range(-(-len(lines) // 200))
    ]

    assert imported("tagged", *sorted(files)) == expected("tagged")


def test_compression_is_recognised_by_content(tmp_path: Path) -> None:
    packed = tmp_path / "app.log"
    text = text_of(LEADER_OF_TAGGED).encode()
    packed.write_bytes(gzip.compress(text[:300_000]) + gzip.compress(text[300_000:]))
    plain = tmp_path / "app.log.gz"
    plain.write_bytes(text)

    assert imported("tagged", packed) == imported("tagged", plain) == expected("tagged")


def test_a_log_comes_from_standard_input() -> None:
    found = import_log(["-"], standard_input=io.BytesIO(LEADER_OF_TAGGED.read_bytes()), on_problem=refuse)

    assert [document["source"]["file"] for document in found] == ["<stdin>"] * 24


@pytest.mark.slow
def test_the_order_of_files_changes_nothing() -> None:
    assert imported("orders-2", *reversed(logs("orders-2"))) == expected("orders-2")
