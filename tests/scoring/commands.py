"""``assignor score`` in the process and on the Spark session of the tests.

A process of its own for each command costs a second, and a session of its own ten. What only a process shows (signals,
closed streams, another Python) has its tests in ``test_score_command.py``.
"""

from __future__ import annotations

import io
import os
from contextlib import AbstractContextManager, chdir, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import attrs
import pytest

from assignor_lab.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@attrs.frozen
class Done:
    """How a command ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


def command(folder: Path, *words: str, spark: SparkSession | None = None) -> Done:
    """Runs ``assignor score`` in ``folder`` with ``--out out``.

    Args:
        folder: The working directory.
        words: The command line.
        spark: The session to use; without one, the command should end before it makes one.
    """
    out, err = io.StringIO(), io.StringIO()
    session: AbstractContextManager[object] = nullcontext()
    if spark is not None:
        session = patch("assignor_lab.scoring.spark.session.open_session", lambda *_: nullcontext(spark))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSIGNOR_")}
    with (
        chdir(folder),
        patch.dict(os.environ, {**environment, "COLUMNS": "400"}, clear=True),
        session,
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main(["score", *words, "--out", str(folder / "out")])
    assert isinstance(left.value.code, int)
    return Done(left.value.code, out.getvalue(), err.getvalue())


def refused(folder: Path, *words: str) -> str:
    """The one message of a command that ends with exit code 2 before Spark starts, and leaves nothing behind."""
    done = command(folder, *words)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert not (folder / "out").exists()
    return done.stderr
