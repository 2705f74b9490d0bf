"""Bounded tracebacks of plugins' failures, equal in every process."""

from __future__ import annotations

import re
import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path

from assignment_api.errors import AssignorLabError
from assignment_api.plugins.reserved import OWN_PACKAGES

__all__ = ["MOST_FRAMES", "TRACEBACK_LIMIT", "bounded_frames", "plugin_frames", "plugin_traceback"]

#: First ones and last ones.
MOST_FRAMES = 20
#: Characters.
TRACEBACK_LIMIT = 4_000
_MEMORY_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_ON_THE_WAY = frozenset({"pluggy", "typeguard", "attr", "attrs"})
_STANDARD = f"{sysconfig.get_path('stdlib')}/"
_OWN = tuple(f"{Path(__file__).resolve().parents[2] / package}" for package in sorted(OWN_PACKAGES))


def plugin_traceback(error: BaseException) -> str:
    """A line for each frame from the plugin's first one on, innermost last.

    Files have import paths (``my_package/assignor.py``): equal text on every machine. Empty without frames of the
    plugin. Errors from another process or language have these lines in ``raised_at``.
    """
    elsewhere = getattr(error, "raised_at", None) if isinstance(error, AssignorLabError) else None
    if isinstance(elsewhere, str):
        return _bounded(elsewhere)
    try:
        frames = traceback.extract_tb(error.__traceback__)
        modules = {
            frame.f_code.co_filename: frame.f_globals.get("__name__")
            for frame, _ in traceback.walk_tb(error.__traceback__)
        }
    except Exception:  # noqa: BLE001 - an exception may be of any making
        return ""
    first = next((number for number, frame in enumerate(frames) if not _is_ours(frame.filename)), None)
    if first is None:
        return ""
    if isinstance(error, RecursionError):
        # The outer end differs from process to process.
        frames = traceback.StackSummary.from_list(frames[first : first + MOST_FRAMES // 2])
        first = 0
    return bounded_frames(
        [
            f"{_short(frame.filename, modules.get(frame.filename))}:{frame.lineno} in {frame.name}: {_line(frame)}"
            for frame in frames[first:]
        ]
    )


def plugin_frames(frames: Sequence[tuple[str, int, str]]) -> str:
    """The same for frames of another process: file, line, function, outermost first."""
    first = next((number for number, frame in enumerate(frames) if not _is_ours(frame[0])), len(frames))
    return bounded_frames(
        [f"{'/'.join(Path(file).parts[-2:])}:{line} in {name}" for file, line, name in frames[first:]]
    )


def bounded_frames(lines: list[str]) -> str:
    """The first and last lines as one text, without addresses."""
    if len(lines) > MOST_FRAMES:
        half = MOST_FRAMES // 2
        lines = [*lines[:half], "... more frames ...", *lines[-half:]]
    return _bounded("\n".join(lines))


def _bounded(text: str) -> str:
    if len(text) > TRACEBACK_LIMIT:
        text = "..." + text[-TRACEBACK_LIMIT:]
    return _MEMORY_ADDRESS.sub("0x...", text)


def _is_ours(filename: str) -> bool:
    """This project, or a library before a plugin."""
    return filename.startswith((*_OWN, "<")) or Path(filename).parent.name in _ON_THE_WAY or _is_standard(filename)


def _is_standard(filename: str) -> bool:
    return filename.startswith(_STANDARD) and "site-packages" not in filename


def _line(frame: traceback.FrameSummary) -> str:
    try:
        return (frame.line or "").strip()[:200]
    except Exception:  # noqa: BLE001 - the file may be gone, or no text
        return ""


def _short(filename: str, module: object) -> str:
    path = Path(filename)
    parts = module.split(".") if type(module) is str else []
    if path.stem == "__init__":
        return "/".join([*parts, path.name])
    return "/".join([*parts[:-1], path.name]) if parts and parts[-1] == path.stem else path.name
