"""Installed distributions with metadata readable in bounded time: a named pipe, for example, never ends.

All searches for distributions belong here: a malicious first one could block any other reader forever.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import Distribution
from pathlib import Path

from assignment_api.plugins.reserved import canonical_name

__all__ = [
    "UNNAMED",
    "installed_distribution",
    "name_of_folder",
    "name_and_version",
    "readable_distributions",
    "reason_against_metadata",
]

#: Unusable name or version.
UNNAMED = "?"
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?")
_VERSION = re.compile(r"[!-~]{1,64}")
_FOLDER = re.compile(r"\A(?P<name>[A-Za-z0-9][A-Za-z0-9._]{0,127})-[^-/]{1,64}\.dist-info")

_FILES = (
    *("METADATA", "PKG-INFO", "entry_points.txt", "RECORD"),
    *("SOURCES.txt", "installed-files.txt", "top_level.txt", "requires.txt"),
)
_MAX_BYTES = 8 * 1024 * 1024


def reason_against_metadata(distribution: Distribution) -> str | None:
    """Reason not to read metadata; ``None``: files of a sensible size.

    Raises:
        OSError: if they cannot be examined.
    """
    folder = getattr(distribution, "_path", None)
    if isinstance(folder, Path):
        # An egg-info may be one file.
        return _reason_in(folder, _FILES) if folder.is_dir() else _reason_against(folder, folder.name)
    if isinstance(folder, zipfile.Path):
        infos = folder.root.NameToInfo
        sizes = {name: infos[place].file_size for name in _FILES if (place := f"{folder.at}{name}") in infos}
        return next((_too_large(name) for name, size in sizes.items() if size > _MAX_BYTES), None)
    return None


def name_and_version(distribution: Distribution) -> tuple[str, str]:
    """``UNNAMED`` for a missing or unprintable one."""
    try:
        # `distribution.version` would parse metadata again.
        found = distribution.metadata
        name, version = str(found["Name"] or ""), str(found["Version"] or "")
    except Exception:  # noqa: BLE001 - foreign metadata, most often the rest of an interrupted installation
        return UNNAMED, UNNAMED
    return name if _NAME.fullmatch(name) else UNNAMED, version if _VERSION.fullmatch(version) else UNNAMED


def name_of_folder(distribution: Distribution) -> str | None:
    """The distribution's name as in the name of its folder, without reading its metadata; ``None`` for other forms."""
    folder = getattr(distribution, "_path", None)
    found = _FOLDER.fullmatch(folder.name) if isinstance(folder, Path) else None
    return None if found is None else found["name"]


def readable_distributions() -> Iterator[Distribution]:
    """With readable metadata, in Python's order."""
    for distribution in metadata.distributions():
        try:
            reason = reason_against_metadata(distribution)
        except OSError:
            continue
        if reason is None:
            yield distribution


def installed_distribution(name: str) -> Distribution:
    """The first readable one of a name.

    Raises:
        importlib.metadata.PackageNotFoundError: if there is none.
    """
    for distribution in metadata.distributions(name=name):
        try:
            if reason_against_metadata(distribution) is None and _is_called(distribution, name):
                return distribution
        except OSError:
            continue
    raise metadata.PackageNotFoundError(name)


def _is_called(distribution: Distribution, name: str) -> bool:
    found, _ = name_and_version(distribution)
    return canonical_name(found) == canonical_name(name)


def _reason_in(folder: Path, names: tuple[str, ...]) -> str | None:
    # Texts, since a command examines the files of all distributions, and a path for each takes twice as long.
    return next((reason for name in names if (reason := _reason_against(f"{folder}/{name}", name)) is not None), None)


def _reason_against(path: str | Path, name: str) -> str | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return f"its {name} is no file"
    return _too_large(name) if found.st_size > _MAX_BYTES else None


def _too_large(name: str) -> str:
    return f"its {name} has more than {_MAX_BYTES:,} bytes"
