"""Spark's long errors in one sentence."""

from __future__ import annotations

__all__ = ["last_line"]


def last_line(error: Exception) -> str:
    """The cause: the last line of a worker's error, which precedes Spark's own stack trace.

    Spark's text begins with generalities.
    """
    text = str(error).partition("JVM stacktrace:")[0].partition("Driver stacktrace:")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("at ", "SQLSTATE: "))]
    return lines[-1] if lines else type(error).__name__
