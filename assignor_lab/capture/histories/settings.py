"""Timeouts and intervals of an application's own configuration, which the play of its past needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assignment_api.plugins.properties import PropertiesSyntaxError, decode_properties, parse_properties
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.shapes import any_value
from assignor_lab.documents.toml_text import parse_toml
from assignor_lab.simulation.streams.timings import GROUP_SETTINGS, SETTINGS

__all__ = ["optimization_in", "timings_in"]

_KEYS = {**SETTINGS, **GROUP_SETTINGS}
#: What may stand before a consumer's key; the later goes before the earlier.
_PREFIXES = ("", "consumer.", "main.consumer.")
_MAX_BYTES = 4 * 1024 * 1024


def timings_in(file: Path | None) -> dict[str, int]:
    """Settings of a configuration that change how long things take, by the names of the simulation.

    Args:
        file: ``.properties`` or ``.toml``; of any other file nothing is read, as where there is none.

    Raises:
        DocumentFormatError: if the file cannot be read, or one of these settings is no number.
    """
    if file is None or file.suffix.lower() not in (".properties", ".toml"):
        return {}
    pairs = _pairs(file)
    found: dict[str, int] = {}
    for key, name in _KEYS.items():
        for prefix in _PREFIXES:
            value = pairs.get(f"{prefix}{key}")
            if value is None:
                continue
            if not value.isascii() or not value.isdigit() or not int(value):
                raise DocumentFormatError(str(file), None, f"{prefix}{key}", "is no number of milliseconds above 0")
            found[name] = int(value)
    return found


def optimization_in(file: Path | None) -> str | None:
    """``topology.optimization`` of a configuration; ``None`` if it does not say.

    Raises:
        DocumentFormatError: if the file cannot be read.
    """
    if file is None or file.suffix.lower() not in (".properties", ".toml"):
        return None
    return _pairs(file).get("topology.optimization")


def _pairs(file: Path) -> Mapping[str, str]:
    if file.suffix.lower() == ".toml":
        table = read_document(file, parse_toml, any_value, max_bytes=_MAX_BYTES, what="a configuration")
        tool = table.get("tool") if isinstance(table, dict) else None
        ours = tool.get("assignor") if isinstance(tool, dict) else None
        return dict(_flat(ours if isinstance(ours, dict) else table, ""))
    try:
        content = file.read_bytes()
        return {entry.key: entry.value for entry in parse_properties(decode_properties(content))}
    except OSError as error:
        raise DocumentFormatError(str(file), None, "", f"cannot be read: {error.strerror or error}") from error
    except PropertiesSyntaxError as error:
        raise DocumentFormatError(str(file), error.line, "", str(error)) from error


def _flat(table: object, prefix: str) -> list[tuple[str, str]]:
    if not isinstance(table, dict):
        return [(prefix, str(table))]
    return [pair for key, value in table.items() for pair in _flat(value, f"{prefix}.{key}" if prefix else str(key))]
