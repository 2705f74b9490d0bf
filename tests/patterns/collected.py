"""Every pattern of the packages: compiled ones of modules, and those written in place."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

__all__ = ["Used", "patterns"]

_ROOT = Path(__file__).parents[2]
_PACKAGES = ("assignment_api", "assignor_lab", "builtin_assignors", "calibration", "connect_workers")
_FUNCTIONS = {"match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn"}


@attrs.frozen
class Used:
    where: str
    pattern: re.Pattern[Any]


def patterns() -> list[Used]:
    found: list[Used] = []
    for package in _PACKAGES:
        for file in sorted((_ROOT / package).rglob("*.py")):
            text = file.read_text("utf-8")
            if "templates" not in file.parts and "import re\n" in text:
                module = ".".join(file.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__")
                found += _of_module(module)
                found += _in_place(module, ast.parse(text))
    return list({(used.pattern.pattern, used.pattern.flags): used for used in reversed(found)}.values())


def _of_module(module: str) -> Iterator[Used]:
    for name, value in vars(importlib.import_module(module)).items():
        for number, pattern in enumerate(_patterns_in(value)):
            yield Used(f"{module}.{name}" + ("" if isinstance(value, re.Pattern) else f"[{number}]"), pattern)


def _patterns_in(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _patterns_in(each)
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _patterns_in(each)


def _in_place(module: str, tree: ast.Module) -> Iterator[Used]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _FUNCTIONS
            and isinstance(node.args[0], ast.Constant)
        ):
            yield Used(f"{module}:{node.lineno}", re.compile(node.args[0].value))
