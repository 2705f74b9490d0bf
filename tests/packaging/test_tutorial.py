"""The project's own checks accept the assignor of the authors' tutorial's first example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api

from assignment_api import TaskAssignor
from assignment_api.conformance import StreamsAssignorConformance

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "first-assignor.md"


def first_example() -> str:
    found = re.search(r"^```\{testcode\}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.slow
def test_the_first_example_passes_the_kit() -> None:
    names: dict[str, type[TaskAssignor]] = {}
    exec(compile(first_example(), str(PAGE), "exec"), names)

    class Example(StreamsAssignorConformance):
        assignor = names["InTurn"]
        histories = 60

    assert "7 of 7 levels" in Example.report().summary()


def test_the_first_example_passes_mypy(tmp_path: Path) -> None:
    module = tmp_path / "my_module.py"
    module.write_text(first_example(), encoding="utf-8")
    printed, errors, status = api.run(["--strict", "--no-error-summary", str(module)])
    assert (printed, errors, status) == ("", "", 0)
