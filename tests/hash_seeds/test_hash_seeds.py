"""Answers, generated states, reports and commands have the same bytes under any Python hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hash_seeds.programs import PROGRAMS

SEEDS = ("0", "4711")


@pytest.fixture(scope="module")
def digests() -> list[dict[str, str]]:
    """Digests of each program, one set per hash seed."""
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.hash_seeds.programs"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
        )
        for seed in SEEDS
    ]
    printed = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    return [json.loads(text) for text in printed]


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_gives_the_same_bytes_under_any_hash_seed(program: str, digests: list[dict[str, str]]) -> None:
    assert len({of_seed[program] for of_seed in digests}) == 1
