"""Played days in a file: a stopped race continues, and ends with the same bytes.

The first line identifies the race, each further line is one day under one configuration. Lines are only appended: a
killed process leaves at most one incomplete line.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assignment_api import AssignorLabError
from assignor_lab.advising.figures import DayCost, cost_from, document_of_cost
from assignor_lab.advising.race import Play, Player
from assignor_lab.documents.durable import append_durably, write_durably

__all__ = ["PlayedDaysError", "kept"]

_FORMAT = "assignor advise, played days 1"
#: Days that are written together.
_TOGETHER = 64

#: Settings with values, and the number of a day.
_Key = tuple[tuple[tuple[str, str], ...], int]


class PlayedDaysError(AssignorLabError):
    """A file of played days is of another race, or cannot be read."""


def kept(play: Player, path: Path, terms: Mapping[str, Any]) -> Player:
    """A player that plays only missing days of a file, and adds them.

    Args:
        terms: All that decides a day's cost, as JSON.

    Raises:
        PlayedDaysError: if the file has other terms, or is damaged.
        OutputFileError: if it cannot be written.
    """
    digest = hashlib.sha256(json.dumps(terms, sort_keys=True, default=str).encode()).hexdigest()
    known = _read(path, digest)

    def played(plays: Sequence[Play]) -> Iterator[DayCost | str]:
        missing = list({_key(each): each for each in plays if _key(each) not in known}.values())
        found = iter(play(missing))
        costs = zip(missing, found, strict=True)
        waiting: list[bytes] = []
        try:
            for each in plays:
                while _key(each) not in known:
                    (configuration, day), cost = next(costs)
                    known[_key((configuration, day))] = cost
                    waiting.append(_line(configuration, day, cost))
                    if len(waiting) == _TOGETHER:
                        append_durably(path, b"".join(waiting))
                        waiting.clear()
                yield known[_key(each)]
        finally:
            if waiting:
                append_durably(path, b"".join(waiting))

    return played


def _key(play: Play) -> _Key:
    configuration, day = play
    return tuple(sorted(configuration.items())), day


def _line(configuration: Mapping[str, str], day: int, cost: DayCost | str) -> bytes:
    held = {"configuration": dict(configuration), "day": day, "cost": document_of_cost(cost)}
    return f"{json.dumps(held)}\n".encode()


def _read(path: Path, digest: str) -> dict[_Key, DayCost | str]:
    """A missing or empty file begins anew."""
    head = f"{json.dumps({'format': _FORMAT, 'race': digest})}\n".encode()
    try:
        content = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise PlayedDaysError(f"{path}: cannot be read: {error.strerror}") from error
    if head.startswith(content):
        write_durably(path, head)
        return {}
    *whole, rest = content.split(b"\n")
    _check_head(path, whole, digest)
    known: dict[_Key, DayCost | str] = {}
    for number, line in enumerate(whole[1:], 2):
        try:
            held = json.loads(line)
            known[_key((held["configuration"], int(held["day"])))] = cost_from(held["cost"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PlayedDaysError(f"{path}, line {number}: damaged: name a new file") from error
    if rest:
        write_durably(path, content.removesuffix(rest))
    return known


def _check_head(path: Path, lines: Sequence[bytes], digest: str) -> None:
    try:
        found = json.loads(lines[0]) if lines else None
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise PlayedDaysError(f"{path}, line 1: not written by 'advise --resume': name a new file")
    if found.get("race") != digest:
        raise PlayedDaysError(f"{path}: its days are of another group, mix, seed or configuration: name a new file")
