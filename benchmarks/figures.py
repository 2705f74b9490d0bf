"""Latest figures as JSON lines in build/, so that a part can be measured again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import attrs

from assignor_lab.scenarios import write_lines
from benchmarks.points import Measurement, Point, points

__all__ = ["FIGURES", "known_figures", "keep_figures"]

FIGURES = Path(__file__).resolve().parent.parent / "build" / "benchmarks.jsonl"


def known_figures() -> list[Measurement]:
    if not FIGURES.exists():
        return []
    read = [_from_document(json.loads(line)) for line in FIGURES.read_text(encoding="utf-8").splitlines()]
    order = {point: place for place, point in enumerate(points(""))}
    known = [figure for figure in read if figure.point in order]
    return sorted(known, key=lambda figure: (figure.is_hot, order[figure.point]))


def keep_figures(measured: Iterable[Measurement]) -> None:
    """Replaces earlier figures of the same points."""
    figures = {(figure.point, figure.is_hot): figure for figure in [*known_figures(), *measured]}
    FIGURES.parent.mkdir(exist_ok=True)
    write_lines(FIGURES, (_to_document(figure) for figure in figures.values()))


def _to_document(figure: Measurement) -> dict[str, object]:
    document = attrs.asdict(figure)
    document["point"]["file"] = _filed(figure.point.file)
    return document


def _from_document(document: dict[str, object]) -> Measurement:
    point = document.pop("point")
    assert isinstance(point, dict)
    files = {_filed(known.file): known.file for known in points("")}
    file = files.get(point["file"], Path(point["file"]))
    return Measurement(point=Point(file, point["scenario"], point["assignor"]), **document)  # type: ignore[arg-type]


def _filed(file: Path) -> str:
    # Names are not unique over two folders.
    return f"{file.parent.name}/{file.name}"
