from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import datetime

from tests.capture.captured_logs import Event

_PIECE = 16 * 1024


def _short(logger: str) -> str:
    *packages, name = logger.split(".")
    return ".".join([*(package[0] for package in packages), name])


def _thread(event: Event) -> str:
    return "i3-StreamThread-1" if "ConsumerCoordinator" not in event.logger else "main"


def log4j(event: Event) -> str:
    return f"[{event.date} {event.time},{event.millis}] {event.level} {event.message} ({event.logger})\n"


def logback(event: Event) -> str:
    return f"{event.time}.{event.millis} [{_thread(event)}] {event.level:5} {_short(event.logger)} - {event.message}\n"


def spring_boot(event: Event) -> str:
    return (
        f"{event.date} {event.time}.{event.millis}  {event.level} 1 --- [-StreamThread-1] "
        f"{_short(event.logger)[-40:]:40} : {event.message}\n"
    )


def spring_boot_coloured(event: Event) -> str:
    return (
        f"\x1b[2m{event.date}T{event.time}.{event.millis}+01:00\x1b[0;39m \x1b[32m{event.level}\x1b[0;39m"
        f" \x1b[35m1\x1b[0;39m \x1b[2m---\x1b[0;39m \x1b[2m[-StreamThread-1]\x1b[0;39m"
        f" \x1b[36m{_short(event.logger)[-40:]}\x1b[0;39m"
        f" \x1b[2m:\x1b[0;39m {event.message}\n"
    )


def message_only(event: Event) -> str:
    return f"{event.message}\n"


def level_and_bar(event: Event) -> str:
    return f"{event.level} | {event.date} {event.time} | {event.message}\n"


def windows_line_ends(event: Event) -> str:
    return log4j(event).replace("\n", "\r\n")


def line_ends_as_text(event: Event) -> str:
    message = event.message.replace("\n", "\\n").replace("\t", "\\t")
    return f"{event.date} {event.time}.{event.millis} {event.level} {message}\n"


def logstash_json(event: Event) -> str:
    return (
        json.dumps(
            {
                "@timestamp": f"{event.date}T{event.time}.{event.millis}Z",
                "@version": "1",
                "message": event.message,
                "logger_name": event.logger,
                "thread_name": _thread(event),
                "level": event.level,
            }
        )
        + "\n"
    )


def log4j_json(event: Event) -> str:
    fields = {
        "instant": {"epochSecond": event.epoch_ms // 1000, "nanoOfSecond": event.epoch_ms % 1000 * 1_000_000},
        "thread": _thread(event),
        "level": event.level,
        "loggerName": event.logger,
        "message": event.message,
        "endOfBatch": False,
    }
    # Gson escapes possible HTML.
    return json.dumps(fields).replace("=", "\\u003d").replace("'", "\\u0027") + "\n"


def gelf(event: Event) -> str:
    fields = {
        "version": "1.1",
        "host": "h",
        "short_message": event.message[:80],
        "full_message": event.message,
        "timestamp": event.epoch_ms / 1000,
    }
    return json.dumps(fields) + "\n"


def google_cloud(event: Event) -> str:
    payload = {"severity": event.level, "context": {"logger": event.logger}, "message": event.message}
    return json.dumps({"timestamp": f"{event.date}T{event.time}.{event.millis}Z", "jsonPayload": payload}) + "\n"


def java_util_logging(event: Event) -> str:
    """Two lines, of which the second has the message."""
    at = datetime.fromisoformat(f"{event.date}T{event.time}")
    level = {"ERROR": "SEVERE", "WARN": "WARNING", "DEBUG": "FINE"}.get(event.level, event.level)
    clock = f"{at:%b %d, %Y} {at.hour % 12 or 12}:{at:%M:%S %p}"
    return f"{clock} {event.logger} handle\n{level}: {event.message}\n"


LAYOUTS: dict[str, Callable[[Event], str]] = {
    layout.__name__: layout
    for layout in (
        log4j,
        logback,
        spring_boot,
        spring_boot_coloured,
        message_only,
        level_and_bar,
        windows_line_ends,
        line_ends_as_text,
        logstash_json,
        log4j_json,
        gelf,
        google_cloud,
        java_util_logging,
    )
}


def docker_json_file(lines: Iterable[str]) -> str:
    """Docker's own files: one object for each line, several for a long one."""
    return "".join(
        json.dumps({"log": piece, "stream": "stdout", "time": "2026-11-21T05:42:26.661234567Z"}) + "\n"
        for line in lines
        for piece in _pieces(line + "\n")
    )


def fluent_bit(lines: Iterable[str]) -> str:
    """An object for each line, without its line end."""
    return "".join(
        json.dumps({"log": line, "stream": "stdout", "time": "2026-11-21T05:42:26Z"}) + "\n" for line in lines
    )


def container_runtime(lines: Iterable[str]) -> str:
    """Files of containerd and CRI-O: P marks a part, F the last one."""
    text = []
    for line in lines:
        *begun, last = _pieces(line) or [""]
        text += [f"2026-11-21T05:42:26.661234567Z stdout P {piece}\n" for piece in begun]
        text.append(f"2026-11-21T05:42:26.661234567Z stdout F {last}\n")
    return "".join(text)


def docker_compose(lines: Iterable[str]) -> str:
    return "".join(f"app-i3-1  | {line}\n" for line in lines)


def kubectl_prefix(lines: Iterable[str]) -> str:
    return "".join(f"[pod/app-6d4cf56db6-abcde/app] {line}\n" for line in lines)


def kubectl_timestamps(lines: Iterable[str]) -> str:
    return "".join(f"2026-11-21T05:42:26.661234567Z {line}\n" for line in lines)


def journal(lines: Iterable[str]) -> str:
    return "".join(f"Nov 21 05:42:26 host app[123]: {line}\n" for line in lines)


RUNTIMES: dict[str, Callable[[Iterable[str]], str]] = {
    runtime.__name__: runtime
    for runtime in (
        docker_json_file,
        fluent_bit,
        container_runtime,
        docker_compose,
        kubectl_prefix,
        kubectl_timestamps,
        journal,
    )
}


def _pieces(line: str) -> list[str]:
    return [line[start : start + _PIECE] for start in range(0, len(line), _PIECE)]
