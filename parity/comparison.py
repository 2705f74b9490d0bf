"""Calls both sides, compares rows as the golden data are compared, and keeps the differences."""

from __future__ import annotations

import itertools
import json
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from assignment_api.plugins import config_sources, discover
from assignment_api.releases import KafkaRelease
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.scenarios import Place, error_row, scenario_from_document, write_lines
from parity.cases import KINDS, Case, at_release, draw_case, kind_of, next_round
from parity.official import OfficialKafka, OfficialKafkaSilentError
from parity.plain_groups import PLAIN_ASSIGNORS
from parity.reconciliations import RECONCILIATION_KIND, reconciliation_row

__all__ = ["ParityRun", "comparable"]

Row = dict[str, Any]

#: Kafka's search for placements never ends.
_ENDLESS = "EndlessOptimizationError"
#: Seconds after which Kafka's classes count as endless; longer if the lab has an answer.
_PATIENCE_S = 3.0
_LONG_PATIENCE_S = 180.0
#: The same if the lab found the search to be endless. A JVM of its own is ended then, and the warm one goes on.
_SHORT_PATIENCE_S = 1.5
_OF_RELEASES = ("sticky", "group_sticky")


def comparable(row: Row) -> Row:
    """Of an error, only Kafka's type counts; the lab's if Kafka has none. The order of plain groups' topics counts."""
    error = row["error"]
    found = {**row, "error": error and (error.get("java_type") or error["type"])}
    if row["kind"] in PLAIN_ASSIGNORS and row["members"] is not None:
        found["members"] = {member: list(held.items()) for member, held in row["members"].items()}
    return found


class ParityRun:
    """A run over many cases, and its counts.

    Args:
        folder: Folder of the differences: for each a scenario file, and the two rows. Files of an earlier run are
            removed.
        release: Of the assignors; ``None``: each of its own.

    Attributes:
        scenarios: Scenarios with both answers.
        rows: Rows compared, by assignor.
        refused: Rows with the same error on both sides.
        endless: Rows in which Kafka's classes do not end, and the lab reports an error.
        different: Rows that differ.
        official_seconds: Time of the JVM, including the transport.
        own_seconds: Time of the lab, including reading the documents.
    """

    def __init__(self, official: OfficialKafka, folder: Path, release: KafkaRelease | None = None) -> None:
        self._official = official
        self._release = release
        self._folder = folder
        self._registry = discover()
        self._sources = config_sources(environ={})
        self.scenarios = 0
        self.rows: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.endless: Counter[str] = Counter()
        self.different: Counter[str] = Counter()
        self.official_seconds = 0.0
        self.own_seconds = 0.0
        shutil.rmtree(folder, ignore_errors=True)

    @property
    def differing(self) -> int:
        """Differing rows."""
        return sum(self.different.values())

    def run(self, seed: int, first: int, count: int, kinds: Collection[str] = KINDS) -> Iterator[int]:
        """Compares scenarios of these kinds, from case ``first`` on; yields their count so far."""
        for number in (number for number in itertools.count(first) if kind_of(number) in kinds):
            if self.scenarios >= count:
                return
            drawn = draw_case(seed, number)
            case: Case | None = drawn if self._release is None else at_release(drawn, self._release)
            while case is not None and self.scenarios < count:
                own = self._own_rows(case)
                official = self._ask_official(case, {row["assignor"] for row in own if _is_endless(row)})
                self.scenarios += 1
                for place, got in enumerate(own):
                    if _is_endless(official[place]) and got["error"] is None:
                        official[place] = self._ask_one(case, got["assignor"], _LONG_PATIENCE_S)
                    self._count(case, official[place], got)
                yield self.scenarios
                answer = next((row for row in official if row["assignor"] == case.lives_by), None)
                case = None if answer is None else next_round(seed, case, answer)

    def _ask_official(self, case: Case, endless: Collection[str]) -> list[Row]:
        begin = time.monotonic()
        found = {name: self._ask_one(case, name, _SHORT_PATIENCE_S, apart=True) for name in endless}
        others = [name for name in case.asked if name not in endless]
        try:
            rows = self._official.rows(case.document, others, threads=case.threads, patience_s=_PATIENCE_S)
        except OfficialKafkaSilentError:
            rows = [self._ask_one(case, name, _PATIENCE_S) for name in others]
        found.update(zip(others, rows, strict=True))
        self.official_seconds += time.monotonic() - begin
        return [found[name] for name in case.asked]

    def _ask_one(self, case: Case, name: str, patience_s: float, *, apart: bool = False) -> Row:
        try:
            return self._official.rows(case.document, [name], threads=case.threads, patience_s=patience_s, apart=apart)[
                0
            ]
        except OfficialKafkaSilentError as error:
            return _silent_row(case, name, str(error))

    def _own_rows(self, case: Case) -> list[Row]:
        begin = time.monotonic()
        if case.document["kind"] == RECONCILIATION_KIND:
            rows = [reconciliation_row(case.document, name) for name in case.asked]
        else:
            rows = self._assignors_rows(case)
        self.own_seconds += time.monotonic() - begin
        return rows

    def _assignors_rows(self, case: Case) -> list[Row]:
        options = AnswerOptions(self._sources, threads=case.threads)
        rows = []
        for name in case.asked:
            # Remains of one assignor must not reach the next.
            scenario = scenario_from_document(case.document, Place(case.document["id"], 1))
            try:
                rows.append({**answerer(self._selector(name), self._registry, options)(scenario), "assignor": name})
            except Exception as error:  # noqa: BLE001 - a crash of ours is a difference to keep, not the run's end
                rows.append(error_row(scenario, name, type(error).__name__, None, str(error)))
        return rows

    def _selector(self, name: str) -> str:
        """A plain name of several releases means the newest one for the lab, and 4.3 in the rows of parity."""
        if name not in _OF_RELEASES:
            return name
        return f"{name}@{'4.3' if self._release is None else self._release.line}"

    def _count(self, case: Case, expected: Row, got: Row) -> None:
        name = expected["assignor"]
        self.rows[name] += 1
        if _is_endless(expected) and got["error"] is not None:
            # The lab's checks have another order: a missing lag, for example, precedes racks.
            self.endless[name] += 1
        elif comparable(got) != comparable(expected):
            self.different[name] += 1
            self._keep(case, expected, got)
        elif expected["error"] is not None:
            self.refused[name] += 1

    def _keep(self, case: Case, expected: Row, got: Row) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        stem = f"{case.document['id']}.{expected['assignor']}"
        write_lines(self._folder / f"{stem}.scenario.jsonl", [case.document])
        for side, row in (("kafka", expected), ("ours", got)):
            text = json.dumps(row, indent=1, sort_keys=True)
            (self._folder / f"{stem}.{side}.json").write_text(text + "\n", encoding="utf-8")


def _silent_row(case: Case, name: str, message: str) -> Row:
    return {
        "format": 1,
        "kind": case.document["kind"],
        "id": case.document["id"],
        "assignor": name,
        "assignment": None,
        "followup": None,
        "threads": None,
        "error": {"type": _ENDLESS, "message": message},
    }


def _is_endless(row: Row) -> bool:
    return row["error"] is not None and row["error"]["type"] == _ENDLESS
