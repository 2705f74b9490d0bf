"""The table of names in the docs matches the package."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import attrs
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "names.md"
NAMES = re.findall(r"\| `(assignment_api\.[\w.]+)` \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)


def exists(name: str) -> bool:
    module, *path = name.split(".")
    found: object = importlib.import_module(module)
    for part in path:
        if isinstance(found, type) and attrs.has(found) and part in attrs.fields_dict(found):
            return True
        if not hasattr(found, part):
            # A package imports its modules on use.
            if not isinstance(found, ModuleType) or importlib.util.find_spec(f"{found.__name__}.{part}") is None:
                return False
            importlib.import_module(f"{found.__name__}.{part}")
        found = getattr(found, part)
    return True


def test_the_table_is_not_empty() -> None:
    assert len(NAMES) > 50


@pytest.mark.parametrize("name", NAMES)
def test_every_python_name_of_the_table_is_there(name: str) -> None:
    assert exists(name)


def test_a_name_that_is_not_there_is_noticed() -> None:
    assert not exists("assignment_api.TaskAssignor.finalAssignment")
