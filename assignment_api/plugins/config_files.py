"""Files of configuration: TOML and Java's ``.properties``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from assignment_api.input_files import open_input
from assignment_api.plugins.errors import ConfigFileError
from assignment_api.plugins.keys import is_kept
from assignment_api.plugins.layers import ConfigLayer, Layer, layer_of
from assignment_api.plugins.properties import PropertiesSyntaxError, Property, decode_properties, parse_properties

__all__ = ["discovered_layer", "file_layer", "find_config_file", "properties_in"]

MAX_BYTES = 4 * 1024 * 1024

_POSITION = re.compile(r"\(at [^()]*\)\Z")
_OUR_TABLE = b"tool.assignor"


def file_layer(path: Path) -> ConfigLayer:
    """Configuration from a named ``.toml`` or ``.properties`` file.

    TOML keys are in ``[tool.assignor]`` if there is such a table, else at the top; their dots may be quoted.

    Raises:
        ConfigFileError: if it cannot be read, is too long, or is not in its format.
        ConfigKeyError: if it has a near miss of a key.
        ConfigValueError: if a value is of the wrong type or out of its range.
    """
    suffix = path.suffix.lower()
    if suffix == ".toml":
        return layer_of(Layer.FILE, _toml_pairs(path, _parsed_toml(path, _content(path))))
    if suffix == ".properties":
        return layer_of(Layer.FILE, ((each.key, each.value, f"{path}:{each.line}") for each in properties_in(path)))
    raise ConfigFileError(f"{path}: expected a file named *.toml or *.properties")


def find_config_file(start: Path) -> Path | None:
    """The nearest ``assignor.toml``, or ``pyproject.toml`` with ``[tool.assignor]``, upward."""
    for folder in (start, *start.parents):
        own, project = folder / "assignor.toml", folder / "pyproject.toml"
        if own.is_file():
            return own
        if project.is_file() and _mentions_us(project):
            return project
    return None


def discovered_layer(start: Path) -> ConfigLayer:
    """Configuration from :func:`find_config_file`; empty without one.

    Raises:
        ConfigFileError: if it cannot be read, is too long, or is no TOML.
        ConfigValueError: if a value is of the wrong type or out of its range.
    """
    path = find_config_file(start)
    if path is None:
        return ConfigLayer()
    return layer_of(Layer.DISCOVERED, _toml_pairs(path, _parsed_toml(path, _content(path))))


def _mentions_us(path: Path) -> bool:
    # Ignore another project's pyproject.toml, broken or not.
    try:
        with open_input(path) as file:
            return _OUR_TABLE in file.read(MAX_BYTES)
    except OSError:
        return False


def _content(path: Path) -> bytes:
    try:
        with open_input(path) as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigFileError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(content) > MAX_BYTES:
        raise ConfigFileError(f"{path}: longer than {MAX_BYTES} bytes: is this a file of configuration?")
    if b"\0" in content:
        raise ConfigFileError(f"{path}: holds a zero byte: is this a file of configuration?")
    return content


def properties_in(path: Path) -> Iterator[Property]:
    """The entries of a ``.properties`` file in their order; of two entries of one key Java keeps the last.

    Raises:
        ConfigFileError: if it cannot be read, is too long, or is not in its format.
    """
    try:
        yield from parse_properties(decode_properties(_content(path)))
    except PropertiesSyntaxError as error:
        raise ConfigFileError(f"{path}:{error.line}: {error}") from error


def _parsed_toml(path: Path, content: bytes) -> Mapping[str, object]:
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigFileError(f"{path}: no UTF-8 at byte {error.start}; TOML is UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        # The rest may quote the file, and it may hold passwords.
        position = _POSITION.search(str(error))
        raise ConfigFileError(f"{path}: no valid TOML {position[0] if position else ''}".rstrip()) from None
    except RecursionError:
        raise ConfigFileError(f"{path}: no usable TOML: nested too deeply") from None
    tool = document.get("tool")
    ours = tool.get("assignor") if isinstance(tool, dict) else None
    if ours is not None and not isinstance(ours, dict):
        raise ConfigFileError(f"{path}: tool.assignor must be a table")
    if ours is None:
        return {} if path.name == "pyproject.toml" else document
    return ours


def _toml_pairs(path: Path, table: Mapping[str, object]) -> list[tuple[str, object, str]]:
    pairs: dict[str, tuple[str, object, str]] = {}
    waiting: list[tuple[str, object]] = [*reversed(list(table.items()))]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(f"{key}.{inner}", held) for inner, held in reversed(list(value.items()))]
        elif key in pairs and is_kept(key):
            raise ConfigFileError(f"{path}: key {key!r} is there twice, with its dots quoted and unquoted")
        else:
            pairs[key] = (key, value, str(path))
    return list(pairs.values())
