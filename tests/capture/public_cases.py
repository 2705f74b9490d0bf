"""Files of the public cases in ``tests/data/public/streams``."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from assignor_lab.capture.histories.logged_decisions import logged_decisions
from assignor_lab.cli.app import build_app

PUBLIC = Path(__file__).parents[1] / "data" / "public" / "streams"


def log(case: str, name: str) -> str:
    """Logs are read compressed."""
    return str(PUBLIC / case / f"{name}.gz")


def unpacked(case: str, name: str, folder: Path) -> Path:
    path = folder / name
    path.write_bytes(gzip.decompress(Path(log(case, name)).read_bytes()))
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app([*arguments]), [*arguments], catch_exceptions=False)


def decisions(*files: str | Path, **options: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Decisions, and problems."""
    problems: list[str] = []
    found = list(logged_decisions(files, on_problem=lambda problem: problems.append(str(problem)), **options))
    return found, problems


def figures(document: dict[str, Any]) -> tuple[str | None, int | None, int, int | None]:
    source = document["source"]
    consumers = sum(len(client["consumers"]) for client in document["clients"])
    return source.get("group"), source.get("generation"), consumers, source.get("time_ms")
