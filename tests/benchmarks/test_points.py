from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import figures, table
from benchmarks.points import CONNECT_SCALE, GROUP_SCALES, SCALE, Measurement, Point, points, target_of


def test_every_recorded_answer_is_a_point_once() -> None:
    digests = json.loads((SCALE / "digests.json").read_text())
    recorded = [f"{scenario}/{assignor}" for scenario, assignors in digests.items() for assignor in assignors]
    for folder in GROUP_SCALES:
        recorded += json.loads((folder / "digests.json").read_text())
    connect = {"incremental_cooperative": "connect_incremental", "eager": "connect_eager"}
    for key in json.loads((CONNECT_SCALE / "digests.json").read_text()):
        scenario, _, kafkas = key.partition("/")
        recorded.append(f"{scenario}/{connect[kafkas]}")
    assert sorted(f"{point.scenario}/{point.assignor}" for point in points("")) == sorted(recorded)
    assert all(point.file.exists() for point in points(""))


def measurement(file: str, official_ms: float, own_ms: float) -> Measurement:
    point = Point(Path(f"{file}.jsonl.gz"), f"{file}-cold", "sticky")
    return Measurement(point, 10, 2, [round(official_ms * 1e6)], [round(own_ms * 1e6)], 2**20, 2**20, "17")


@pytest.mark.parametrize(
    ("file", "official_ms", "own_ms", "holds"),
    [
        ("rack-300x20-min_traffic", 500, 100, True),
        ("rack-300x20-min_traffic", 500, 101, False),
        ("1000x1000-1thread-1standby", 1200, 400, True),
        ("1000x1000-1thread-1standby", 1200, 401, False),
        ("1000x1000-1thread-1standby", 100, 149, True),
        ("1000x1000-1thread-1standby", 100, 151, False),
        ("1000x1000-1thread-1standby", 10, 101, False),
        ("small-4x40", 1, 2, True),
        ("small-4x40", 1, 2.1, False),
        ("jmh.scenarios", 1, 2, True),
        ("jmh.scenarios", 1, 2.1, False),
    ],
)
def test_the_target_follows_the_file_and_the_time_of_java(
    file: str, official_ms: float, own_ms: float, holds: bool
) -> None:
    assert target_of(measurement(file, official_ms, own_ms))[1] is holds


def test_figures_are_read_back_as_they_were_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "FIGURES", tmp_path / "figures.jsonl")
    kept = [
        Measurement(point, 10, 2, [100 + place], [200], 2**20, 2**20, "17", is_hot=place % 2 > 0)
        for place, point in enumerate(points("jmh"))
    ]
    figures.keep_figures(kept)
    assert sorted(figures.known_figures(), key=lambda figure: figure.official_ns[0]) == kept


def test_the_table_takes_the_place_of_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n", encoding="utf-8")
    monkeypatch.setattr(table, "README", readme)
    table.write_readme(table.as_markdown([measurement("small-4x40", 1, 0.5)], "4.3.1", []))
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "\nold\n" not in text
    assert "| small-4x40-cold | sticky | 10 x 2 | 1.00 | 1 | 0.50 | 2.0 | 2x Java | yes | 1 | 1 |" in text
