"""Descriptions of plugins whose files did not change since an earlier command, in the user's cache.

Describing one takes a process of 0.2 s. A description is kept if the plugin has no problem and its files are known.
A changed, added or removed file, another Python, search path or environment gives it another key. Editable
installations are described by each command, because their files are not listed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.discovery import PluginSource
from assignment_api.version import SPI_VERSION

__all__ = ["CACHE_VARIABLE", "KeptDescriptions", "cache_folder"]

#: Folder of the cache; an empty value: nothing is kept.
CACHE_VARIABLE = "ASSIGNOR_CACHE"
#: Of the kept documents.
FORMAT = 1
#: Most kept descriptions, most files of a plugin, and most bytes of a description or a list of files.
MOST_KEPT, MOST_FILES, MOST_BYTES = 256, 5_000, 4 * 2**20


def cache_folder(variable: str = CACHE_VARIABLE) -> Path | None:
    """The folder for this user's cache, or that which ``variable`` names; ``None``: there is none."""
    named = os.environ.get(variable)
    if named is not None:
        return Path(named) if named else None
    cache, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    base = Path(cache) if cache else Path(home, ".cache") if home else None
    return base / "assignor-lab" if base is not None and base.is_absolute() else None


@attrs.frozen
class KeptDescriptions:
    """Documents of descriptions by plugin; whoever reads one checks it as an answer of the plugin's process.

    Args:
        folder: Of the cache, made when needed; ``None``: nothing is kept.
        surroundings: What else a description depends on: search path and environment of the plugins' processes.
    """

    folder: Path | None
    surroundings: str

    def document(self, source: PluginSource) -> Mapping[str, Any] | None:
        """The kept document, or ``None``."""
        place = self._place(source)
        if place is None:
            return None
        with contextlib.suppress(OSError, ValueError, RecursionError):
            held = place.stat()
            if held.st_size <= MOST_BYTES and held.st_uid == os.getuid():
                found = json.loads(place.read_bytes())
                os.utime(place)
                return found if type(found) is dict else None
        return None

    def keep(self, source: PluginSource, document: Mapping[str, Any]) -> None:
        """Keeps a document without problems, if the cache can be written."""
        place = self._place(source)
        if place is None or document.get("problems") != []:
            return
        with contextlib.suppress(OSError):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=place.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(document, file)
            Path(name).replace(place)
            kept = sorted(place.parent.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
            for old in kept[MOST_KEPT:]:
                old.unlink(missing_ok=True)

    def _place(self, source: PluginSource) -> Path | None:
        if self.folder is None:
            return None
        try:
            stamps = _stamps(source)
        except (OSError, ValueError):
            return None
        if stamps is None:
            return None
        point = source.entry_point
        plugin = (source.name, source.version, point.name, point.value, stamps)
        key = repr((FORMAT, SPI_VERSION, sys.version, sys.executable, self.surroundings, plugin))
        return self.folder / "plugins" / hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def _stamps(source: PluginSource) -> list[tuple[str, int, int]] | None:
    """Name, size and time of each file of a distribution; ``None`` if they are not all known.

    Raises:
        OSError: if one cannot be examined.
        ValueError: if a list of them is malformed.
    """
    folder = getattr(source.distribution, "_path", None)
    if not isinstance(folder, Path) or source.is_doubled:
        return None
    record = folder / "RECORD"
    listed = _stamp(record, "RECORD")
    if not record.is_file() or listed[1] > MOST_BYTES:
        return None
    names = [line.partition(",")[0] for line in record.read_text("utf-8").splitlines()]
    code = [name for name in names if not name.endswith((".pyc", "RECORD"))]
    if len(code) > MOST_FILES or any(name.endswith(".pth") for name in code):
        # Editable: the files are elsewhere.
        return None
    # The time of the folder changes with each installation beside the plugin.
    return [_stamp(folder.parent, ""), listed, *(_stamp(folder.parent / name, name) for name in code)]


def _stamp(path: Path, name: str) -> tuple[str, int, int]:
    held = path.stat()
    return name, held.st_size, held.st_mtime_ns
