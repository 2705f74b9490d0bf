"""Folders in the form of ``assignor record``, with the bytes of captured groups as a coordinator would write them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from assignor_lab.capture.recorded.broker_answers import described_groups, group_answers
from assignor_lab.capture.recorded.group_records import _layout
from assignor_lab.capture.recorded.recording import read_recording
from assignor_lab.documents.json_lines import json_lines
from tests.capture.captured_logs import CAPTURES
from tests.capture.coordinator_records import generation, key, value

__all__ = ["classic_folder", "streams_folder", "write_folder"]

_DESCRIBE_GROUPS = 15


def write_folder(
    folder: Path,
    group: str,
    records: Iterable[tuple[int, bytes, bytes | None]],
    samples: Iterable[Mapping[str, Any]] = (),
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines: list[Mapping[str, Any]] = [{"format": 1, "kind": "group-records", "group": group, "partition": 3}]
    for offset, (time_ms, name, content) in enumerate(records):
        told = None if content is None else content.hex()
        lines.append({"offset": offset, "t": time_ms, "key_hex": name.hex(), "value_hex": told})
    lines.append({"read_to": len(lines) - 1})
    _write(folder / "records.jsonl", lines)
    if samples:
        _write(folder / "samples.jsonl", samples)
    return folder


def _write(file: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def classic_folder(
    folder: Path,
    application: str,
    samples: Iterable[Mapping[str, Any]] = (),
    clock: Callable[[int, int], int] = lambda _generation, time_ms: time_ms,
) -> Path:
    """The recording of a captured classic group: the generations in its recorded descriptions.

    A generation is written again when a static member returns.

    Args:
        application: The group.
        samples: As for :func:`write_folder`.
        clock: Time of the coordinator's clock, by generation and time.
    """
    name, records, last, members = "", [], 0, {""}
    for _, line in json_lines(CAPTURES / application / "exchanges.jsonl.gz"):
        if line["api_key"] != _DESCRIBE_GROUPS:
            continue
        for group in described_groups(bytes.fromhex(line["response_hex"]), line["api_version"]):
            (answer,) = group_answers([group])
            here = {each.member_id for each in answer.members}
            if group.group_state == "Stable" and (answer.generation, here) != (last, members):
                members = here
                name, last = group.group_id, answer.generation or 1
                time_ms = clock(last, line["t"])
                records.append((time_ms, key(2, name), generation(last, group, time_ms=time_ms)))
    return write_folder(folder, name, records, samples)


def streams_folder(folder: Path, capture: str) -> Path:
    records: list[tuple[int, bytes, bytes | None]] = []
    known: dict[str, None] = {}
    last, name = 0, ""
    target, member = _layout("StreamsGroupTargetAssignmentMemberValue"), _layout("StreamsGroupMemberMetadataValue")
    for time_ms, group in read_recording([CAPTURES / capture / "exchanges.jsonl.gz"]).streams_groups:
        if group.assignment_epoch <= last or not group.members:
            continue
        last, name = group.assignment_epoch, group.group
        here = {each.id for each in group.members}
        for gone in [each for each in known if each not in here]:
            records += [(time_ms, key(kind, name, gone), None) for kind in (22, 21, 19)]
            del known[gone]
        for each in group.members:
            if each.id not in known:
                known[each.id] = None
                tags = [member.KeyValue(key=tag, value=text) for tag, text in each.tags.items()]
                told = value(
                    "StreamsGroupMemberMetadataValue", 0, instance_id=None, rack_id=each.rack,
                    client_id=each.client_id, client_host="h", rebalance_timeout_ms=300_000, topology_epoch=0,
                    process_id=each.process_id, user_endpoint=None, client_tags=tags,
                )  # fmt: skip
                records.append((time_ms, key(19, name, each.id), told))
            tasks = [
                [target.TaskIds(subtopology_id=sub, partitions=list(numbers)) for sub, numbers in held.items()]
                for held in (each.target.active, each.target.standby)
            ]
            content = value(
                "StreamsGroupTargetAssignmentMemberValue", 0, active_tasks=tasks[0], standby_tasks=tasks[1],
                warmup_tasks=[],
            )  # fmt: skip
            records.append((time_ms, key(21, name, each.id), content))
        epoch = value(
            "StreamsGroupTargetAssignmentMetadataValue", 0, assignment_epoch=last, assignment_timestamp=time_ms
        )
        records.append((time_ms, key(20, name), epoch))
    return write_folder(folder, name, records)
