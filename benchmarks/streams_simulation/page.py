"""Simulated and recorded figures as tables of Markdown, and their place in the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.pages import put_between

__all__ = ["PAGE", "close", "summary", "tables", "write_page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "streams-accuracy.md"
BEGIN = "<!-- written by python -m benchmarks.streams_simulation --write: begin -->"
END = "<!-- written by python -m benchmarks.streams_simulation --write: end -->"


def close(pair: Mapping[str, Any], share: float, allowance: float) -> bool:
    """True within a share of the recorded figure, or within an allowance."""
    recorded, simulated = pair["recorded"], pair["simulated"]
    if recorded is None or simulated is None:
        return recorded is simulated
    difference = abs(recorded - simulated)
    return bool(difference <= allowance or difference <= share * abs(recorded))


def summary(measured: Mapping[str, Mapping[str, Any]]) -> str:
    lines = ["| recording | rebalances | time to stable | same active tasks | away | worst task | restored |"]
    lines.append("|---|---|---|---|---|---|---|")
    lines += [_summary(name, found) for name, found in measured.items()]
    lines.append(_summary("all", _together(measured.values())))
    return "\n".join(lines)


def tables(measured: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [
        "### Actions",
        "",
        "| recording | at s | action | rebalances | stable after s |",
        "|---|---|---|---|---|",
    ]
    for name, found in measured.items():
        for row in found["actions"]:
            rebalances = _pair(row["rebalances"], 0.2, 1, 1)
            stable = _pair(row["until_stable_ms"], 0.2, 5_000, 1_000)
            lines.append(
                f"| {name} | {row['t_ms'] / 1000:.1f} | {row['action']} {row['who']} | {rebalances} | {stable} |"
            )
    lines += [
        "", "### Time without output, as a probe saw it", "",
        "| recording | action | tasks | task-seconds | worst s | restored MB |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name, found in measured.items():
        for row in found["probe"]:
            cells = (
                _pair(row["unavailable_ms"], 0.25, _allowed(row), 1_000),
                _pair(row["worst_ms"], 0.25, 2_000, 1_000),
                _pair(row["restored_bytes"], 0.1, 1_000_000, 1_000_000),
            )
            tasks = f"{row['interrupted']['recorded']} / {row['interrupted']['simulated']}"
            lines.append(f"| {name} | {row['action']} | {tasks} | {' | '.join(cells)} |")
    return "\n".join(lines)


def write_page(text: str, page: Path = PAGE) -> None:
    put_between(page, BEGIN, text, END)


def _allowed(window: Mapping[str, Any]) -> float:
    return 2_000.0 * max(1, int(window["interrupted"]["recorded"]))


def _pair(pair: Mapping[str, Any], share: float, allowance: float, unit: int) -> str:
    shown = " / ".join(_figure(pair[key], unit) for key in ("recorded", "simulated"))
    return shown if close(pair, share, allowance) else f"**{shown}**"


def _figure(value: float | None, unit: int) -> str:
    if value is None:
        return "-"
    return str(value) if unit == 1 else f"{value / unit:.1f}"


def _summary(name: str, found: Mapping[str, Any]) -> str:
    actions, probe, generations = found["actions"], found["probe"], found["generations"]
    happened = [row for row in actions if row["until_stable_ms"]["recorded"] is not None]
    cells = (
        _share(close(row["rebalances"], 0.2, 1) for row in actions),
        _share(close(row["until_stable_ms"], 0.2, 5_000) for row in happened),
        f"{generations['same_active_tasks']} of {generations['recorded']}",
        _share(close(row["unavailable_ms"], 0.25, _allowed(row)) for row in probe),
        _share(close(row["worst_ms"], 0.25, 2_000) for row in probe),
        _share(close(row["restored_bytes"], 0.1, 1_000_000) for row in probe),
    )
    return f"| {name} | {' | '.join(cells)} |"


def _share(held: Iterable[bool]) -> str:
    listed = list(held)
    return f"{sum(listed)} of {len(listed)}" if listed else ""


def _together(measured: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    listed = list(measured)
    keys = ("recorded", "same_active_tasks", "same_tasks")
    return {
        "actions": [row for found in listed for row in found["actions"]],
        "probe": [row for found in listed for row in found["probe"]],
        "generations": {key: sum(found["generations"][key] for found in listed) for key in keys},
    }
