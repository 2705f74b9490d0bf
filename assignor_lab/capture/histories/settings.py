"""Settings of a group over its recorded decisions, and what the application's configuration file says besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assignment_api.input_files import read_input
from assignment_api.plugins.properties import PropertiesSyntaxError, decode_properties, parse_properties
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.documents.files import read_document
from assignor_lab.documents.shapes import any_value
from assignor_lab.documents.toml_text import parse_toml

__all__ = ["optimization_in", "settings_of_decisions"]

_MAX_BYTES = 4 * 1024 * 1024


def settings_of_decisions(documents: Iterable[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, str]]:
    """The settings of a history, and for each that changed within it a sentence: the most frequent value counts.

    Args:
        documents: The scenarios of its decisions, by time.
    """
    values: dict[str, Counter[Any]] = {}
    for document in documents:
        for key, value in document.get("settings", {}).items():
            values.setdefault(key, Counter())[value] += 1
    found = {key: counts.most_common(1)[0][0] for key, counts in values.items()}
    return found, {
        key: f"{key} changed within the history ({', '.join(map(str, counts))}): {found[key]}, which most decisions "
        "have, counts for all"
        for key, counts in values.items()
        if len(counts) > 1
    }


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
        content = read_input(file)
        return {entry.key: entry.value for entry in parse_properties(decode_properties(content))}
    except OSError as error:
        raise DocumentFormatError(str(file), None, "", f"cannot be read: {error.strerror or error}") from error
    except PropertiesSyntaxError as error:
        raise DocumentFormatError(str(file), error.line, "", str(error)) from error


def _flat(table: object, prefix: str) -> list[tuple[str, str]]:
    if not isinstance(table, dict):
        return [(prefix, str(table))]
    return [pair for key, value in table.items() for pair in _flat(value, f"{prefix}.{key}" if prefix else str(key))]
