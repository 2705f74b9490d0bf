"""Programs with output that must not depend on Python's hash seed.

`python -m tests.hash_seeds.programs` prints a digest of each.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import ScenarioFamily
from assignment_api.releases import release_named
from assignor_lab.cli.main import main
from assignor_lab.report import write_report
from assignor_lab.scenarios import canonical_line, group_result_row, read_scenarios
from assignor_lab.scoring.output.summary_file import summary_of
from builtin_assignors.group_sticky import GroupStickyTaskAssignor
from builtin_assignors.sticky import StickyTaskAssignor
from tests.builtin_assignors.golden import DATA, GOLDEN, result_row
from tests.capture.captured_logs import logs
from tests.report.summaries import hostile
from tests.scenarios import test_event_families, test_streams_group_families, test_streams_histories
from tests.simulation.streams.episodes import document, happens, started

__all__ = ["PROGRAMS"]


def _sticky_answers() -> Iterator[bytes]:
    for scenario in islice(read_scenarios(GOLDEN / "small.scenarios.jsonl.gz"), 40):
        yield repr(result_row(scenario.id, "sticky", scenario.application, StickyTaskAssignor())).encode()


def _group_sticky_answers(release: str, folder: str) -> Iterator[bytes]:
    made = GroupStickyTaskAssignor(release_named(release))
    for scenario in read_scenarios(DATA / "scale" / folder / "jmh.scenarios.jsonl.gz"):
        answer = made.assign(scenario.group_spec, scenario.topology)
        yield canonical_line(group_result_row(scenario, "x", answer))


def _states(families: Iterable[ScenarioFamily], documents: Callable[[ScenarioFamily, int], Any]) -> Iterator[bytes]:
    """Generated states of the first three seeds."""
    for family in families:
        for seed in range(3):
            yield from map(canonical_line, documents(family, seed))


def _report() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        write_report(summary_of(hostile()), Path(folder, "report.html"))
        yield Path(folder, "report.html").read_bytes()


def _imported_log() -> Iterator[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        _run("import", *logs("orders-2"), "--out", Path(folder, "states.jsonl.gz"))
        yield Path(folder, "states.jsonl.gz").read_bytes()


def _played_episodes() -> Iterator[bytes]:
    events = [started("a", threads=2), started("b", 1, threads=2), started("c", 60_000), happens("crash", "b", 200_000)]
    lines = [
        json.dumps(document(events, records=1_000, config={"num.standby.replicas": 1}, protocol=protocol))
        for protocol in ("classic", "streams")
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "episode.jsonl")
        file.write_text("\n".join(lines) + "\n")
        printed = _run("simulate", file, "--json", "--experimental-warmup")
    assert b'"generations"' in printed
    yield printed


def _run(*words: Any) -> bytes:
    """Standard output of a command that must end with 0."""
    printed = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(printed, "utf-8", write_through=True)):
        with pytest.raises(SystemExit) as left:
            main(list(map(str, words)))
        assert not left.value.code
        return printed.getvalue()


PROGRAMS: dict[str, Callable[[], Iterator[bytes]]] = {
    "sticky": _sticky_answers,
    "group_sticky": lambda: _group_sticky_answers("4.3", "streams-group"),
    "group_sticky_4_4": lambda: _group_sticky_answers("4.4", "streams-group-4.4"),
    "streams histories": lambda: _states(test_streams_histories.FAMILIES, test_streams_histories.documents),
    "event families": lambda: _states(test_event_families.FAMILIES.values(), test_event_families.documents),
    "group families": lambda: _states(
        test_streams_group_families.FAMILIES.values(), test_streams_group_families.documents
    ),
    "report": _report,
    "import": _imported_log,
    "simulate": _played_episodes,
}

if __name__ == "__main__":
    digests = {name: hashlib.sha256(b"".join(program())).hexdigest() for name, program in PROGRAMS.items()}
    sys.stdout.write(json.dumps(digests))
