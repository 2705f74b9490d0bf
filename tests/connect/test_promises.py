"""The page of promises of the three proposals names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "connect-promises.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
NAMED = sorted(set(re.findall(r"`([a-z_/0-9]+\.py(?:::\w+)?)`", PAGE)))


@pytest.mark.parametrize("row", ROWS)
def test_every_promise_has_a_state_and_a_test(row: str) -> None:
    _, state, shown = (cell.strip() for cell in row.strip("| ").split(" | "))
    assert state.startswith(("kept", "differs in Kafka", "differs here"))
    assert any(name in shown for name in NAMED)


@pytest.mark.parametrize("name", NAMED)
def test_every_named_test_exists(name: str) -> None:
    file, _, function = name.partition("::")
    text = (ROOT / "tests" / file).read_text("utf-8")
    assert not function or re.search(rf"def {function}\b", text)
