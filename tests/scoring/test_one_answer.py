"""``score`` and ``replay`` of one past: the same best contender, and figures of one name equal to the last digit.

A recording that is added to ``assignor_lab/samples`` or ``tests/data/captures`` is included automatically.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab import run
from assignor_lab.capture.histories.past_terms import AUTO, PastTerms
from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import write_lines
from calibration.episodes import import_episode
from tests.capture.topology_recordings import VARIANTS, unpacked
from tests.captured_states import CAPTURES, recorded_states
from tests.scoring.in_process import scored
from tests.scoring.runs import results_of

ROOT = Path(__file__).parents[2]
CONTENDERS = ("high_availability", "sticky")
#: Fewer than by default: equal figures do not depend on their number.
PLAYS = 3
#: Timelines of experiments in a folder with another name.
FOLDERS = {"orders-classic-2": "orders-2", "orders-group": "orders-group-1"}
#: Folders of logs that are one group each, and logs and records without decisions of their own.
EACH_ALONE, NO_DECISIONS = ("versions",), ("coordinator", "failing", "missing")
#: Folders of Connect groups, which ``connect replay`` reads, and of plain consumers, whose decisions ``replay`` makes
#: again without a play.
CONNECT, CONSUMERS = frozenset({"connect", "connect-plans"}), "consumers"


class Past:
    def __init__(self, name: str, sources: Sequence[Path], config: Path | None = None) -> None:
        self.name, self.sources = name, [*map(str, sources)]
        self.config = config if config is not None and config.exists() else None


def logs(root: Path) -> Iterator[Past]:
    for folder in sorted({log.parent for log in root.rglob("*.log.gz")}):
        config = next(
            (each for each in root.rglob("application.properties") if folder.is_relative_to(each.parent)), None
        )
        found = sorted(folder.glob("*.log.gz"))
        if folder.name not in NO_DECISIONS and CONNECT.isdisjoint(folder.parts):
            parts = [[log] for log in found] if folder.name in EACH_ALONE else [found]
            yield from (Past(f"{folder.name}/{part[0].name}", part, config) for part in parts)


def states(out: Path) -> Iterator[Past]:
    for config in sorted(CAPTURES.glob("*/application.properties")):
        if (config.parent / "exchanges.jsonl.gz").exists():
            file = recorded_states(config.parent.name, out / f"{config.parent.name}.jsonl")
            yield Past(f"states of {config.parent.name}", [Path(file)], config)


def flights(out: Path) -> Iterator[Past]:
    for records in sorted(CAPTURES.rglob("records.jsonl.gz")):
        if CONSUMERS in records.parts or records.parent.name in NO_DECISIONS:
            continue
        # Several recordings have one name, in folders of other names.
        folder = out / "flights" / records.parent.relative_to(CAPTURES)
        folder.mkdir(parents=True)
        for each in records.parent.iterdir():
            read = gzip.decompress if each.suffix == ".gz" else bytes
            (folder / each.name.removesuffix(".gz")).write_bytes(read(each.read_bytes()))
        if "connect" not in folder.name:  # such groups are replayed by `connect replay`
            yield Past(f"flight {folder.relative_to(out / 'flights')}", [folder])


def timelines(out: Path) -> Iterator[Past]:
    named = {file.name.removesuffix(".json.gz"): file for file in (CAPTURES / "timelines").iterdir()}
    found = {name: (file, CAPTURES / FOLDERS.get(name, name.removesuffix("-classic"))) for name, file in named.items()}
    found |= {file.parent.name: (file, file.parent) for file in CAPTURES.rglob("timeline.json.gz")}
    for name, (file, folder) in sorted(found.items()):
        if folder.is_dir():
            write_lines(str(out / f"timeline-{name}.jsonl"), [import_episode(file, folder)])
            yield Past(f"timeline {name}", [out / f"timeline-{name}.jsonl"])


def every_past(out: Path) -> Iterator[Past]:
    yield from logs(ROOT / "assignor_lab" / "samples")
    yield from logs(CAPTURES)
    yield from states(out)
    yield from flights(out)
    yield from timelines(out)
    # Groups of different names: one run, with a verdict over all of them.
    archives = (unpacked(), unpacked(VARIANTS))
    yield Past("topologies", [small.past(name) for small in archives for name in small.names()])


def scored_summary(past: Past, out: Path) -> dict[str, Any]:
    return scored(past.sources, CONTENDERS, out, config=past.config, past=PastTerms(AUTO, plays=PLAYS))


def replayed(past: Past) -> list[dict[str, Any]]:
    words = ["replay", *past.sources, "--json", "--plays", str(PLAYS)] + [
        word for name in CONTENDERS for word in ("--assignor", name)
    ]
    done = CliRunner().invoke(build_app(), [*words, *(["--config", str(past.config)] if past.config else [])])
    assert done.exit_code == 0, (past.name, done.output, done.exception)
    documents, rest = [], done.stdout.strip()
    while rest:
        document, end = json.JSONDecoder().raw_decode(rest)
        documents.append(document)
        rest = rest[end:].strip()
    return documents


def differences(past: Past, out: Path) -> list[object]:
    """Differences between the two."""
    summary, documents = scored_summary(past, out), replayed(past)
    rows = results_of(out).to_pylist()
    found: list[object] = []
    if len(rows) != len(documents) * len(CONTENDERS):
        found.append((len(rows), len(documents)))
    told = {document["episode"]: document for document in documents}
    for row in rows:
        document, name = told[row["scenario"]], row["assignor"]
        figures = (document["figures"][name] or {}) if row["error_type"] is None else {}
        found += [(name, key, row[key], value) for key, value in figures.items() if row[key] != value]
        if row["error_type"] is None and not figures:
            found.append((name, "has no play"))
        if document["not_comparable"].get(name) != row["not_comparable"]:
            found.append((name, row["not_comparable"]))
    overall = documents[0]["overall"] if len(documents) > 1 else documents[0]
    best = [] if overall is None else overall["best"]
    if summary["results"]["headline"]["best"] != best:
        found.append((summary["results"]["headline"]["best"], best))
    return [(past.name, each) for each in found]


@pytest.mark.slow
@pytest.mark.long
def test_score_and_replay_agree_on_every_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Most of a small run is the search for plugins: only distributions with plugins are searched.
    kept = [each for each in metadata.distributions() if each.entry_points.select(group="assignment_api")]
    monkeypatch.setattr("assignment_api.plugins.discovery.distributions", lambda: kept)
    # Neither the page nor its explanations are compared here.
    monkeypatch.setattr(run, "write_report", lambda _summary, path: path.touch())
    monkeypatch.setattr(run, "explanations_of", lambda *_: [])
    found = [
        each
        for number, past in enumerate(every_past(tmp_path))
        for each in differences(past, tmp_path / f"out-{number}")
    ]
    assert not found
