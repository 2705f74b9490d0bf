"""``assignor score`` in the process and on the Spark session of the tests.

A separate process for each command costs a second, and a separate session ten.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    ExitStack,
    chdir,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import attrs
import pytest

from assignor_lab.cli.main import main
from assignor_lab.scoring.spark.session import starting_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@attrs.frozen
class Done:
    returncode: int
    stdout: str
    stderr: str


def command(folder: Path, *words: str, spark: SparkSession | None = None) -> Done:
    """Runs ``assignor score`` in ``folder`` with ``--out out``.

    Args:
        folder: The working directory.
        words: The command line.
        spark: The session to use; without one, the command should end before it creates one.
    """
    out, err = io.StringIO(), io.StringIO()
    if spark is not None and "--engine" not in words:
        words = ("--engine", "spark", *words)
    session = patch("assignor_lab.scoring.spark.session.starting_session", _late if spark is None else _there(spark))
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


def _there(spark: SparkSession) -> Callable[..., AbstractContextManager[Callable[[], SparkSession]]]:
    return lambda *_: nullcontext(lambda: spark)


@contextmanager
def _late(master: str | None, remote: str | None) -> Iterator[Callable[[], SparkSession]]:
    with ExitStack() as stack:

        def start() -> SparkSession:
            return stack.enter_context(starting_session(master, remote))()

        yield start


def refused(folder: Path, *words: str) -> str:
    """The one message of a command that ends with exit code 2 before Spark starts, and leaves no files."""
    done = command(folder, *words)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert not (folder / "out").exists()
    return done.stderr
