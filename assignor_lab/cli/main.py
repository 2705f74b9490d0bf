"""Entry point of the command: how it ends, whatever happens.

Exit codes: 0 fine, 1 a gate or check failed, 2 wrong use or input, 3 internal error, 130 interrupted.

This module imports only what Python has loaded when it starts: Ctrl-C while the rest is imported ends in one line, too.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

#: Top-level module of an optional dependency to the extra of this distribution that brings it.
EXTRAS = {
    "typer": "cli",
    "rich": "cli",
    "pyspark": "spark",
    "py4j": "spark",
    "pyarrow": "spark",
    "packaging": "spark",
    "grpc": "spark-connect",
    "pandas": "spark-connect",
    "jinja2": "report",
    "markupsafe": "report",
    "kafka": "kafka",
    "tenacity": "connect",
    "starlette": "connect",
    "uvicorn": "connect",
    "h11": "connect",
    "httpx": "connect",
    "prometheus_client": "connect",
    "scipy": "statistics",
    "numpy": "statistics",
    "junitparser": "statistics",
    "copier": "new",
    "hypothesis": "conformance",
    "pytest": "conformance",
}

#: Variable by which a shell asks for completions.
_COMPLETION = "_ASSIGNOR_COMPLETE"

WRONG_USE = 2
INTERNAL_ERROR = 3
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and leaves the process with its exit code.

    Args:
        arguments: Command line without the program's name; ``None`` takes the process's own.
    """
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        _say("interrupted")
        code = INTERRUPTED
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    from assignor_lab.cli.last_word import restored, watched

    before = watched()
    try:
        return _ended(arguments)
    finally:
        if arguments is not None:
            # A caller in Python gets its process back as it was; a command line ends now.
            restored(before)


def _ended(arguments: Sequence[str] | None) -> int:
    """The exit code of the command; raises only ``KeyboardInterrupt``."""
    from assignment_api import AssignorLabError
    from assignor_lab.cli.last_word import is_own_exit

    _open_closed_streams()
    try:
        from assignor_lab.cli.app import build_app

        words = list(sys.argv[1:] if arguments is None else arguments)
        build_app(None if _COMPLETION in os.environ else words)(args=words, prog_name="assignor")
    except SystemExit as leave:
        if leave.code == INTERRUPTED:
            # typer has caught Ctrl-C, and says nothing.
            _say("interrupted")
        if not leave.code and not is_own_exit(leave):
            _say("a plugin that is trusted ended the command with SystemExit")
            return INTERNAL_ERROR
        return leave.code if isinstance(leave.code, int) else 0 if leave.code is None else WRONG_USE
    except BrokenPipeError:
        # The reader of our output has gone (`assignor ... | head`): not our fault, and nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except io.UnsupportedOperation:
        _say("the standard output is closed: open it, or name a file with --out")
        return WRONG_USE
    except AssignorLabError as error:
        _say(str(error))
        return WRONG_USE
    except ModuleNotFoundError as error:
        return _missing_module(error)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{error.strerror}" if error.strerror else str(error))
        return WRONG_USE
    except Exception as error:  # noqa: BLE001 - the last line of defence: one sentence instead of a stack trace
        if not _is_of_an_interrupt(error):
            return _internal(error)
        _say("interrupted")
        return INTERRUPTED
    return 0


def _is_of_an_interrupt(error: BaseException | None) -> bool:
    """Whether it came of Ctrl-C: what was put away then failed in its turn, as the JVM has heard of it, too."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _open_closed_streams() -> None:
    """A stream that the caller closed is ``None`` in Python: reading it finds nothing, writing results is an error."""
    from pathlib import Path

    for name, mode in (("stdin", "r"), ("stdout", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for as long as the process


def _missing_module(error: ModuleNotFoundError) -> int:
    extra = EXTRAS.get((error.name or "").partition(".")[0])
    if extra is None:
        return _internal(error)
    _say(f"this command needs {error.name}: install it with: pip install 'assignor-lab[{extra}]'")
    return WRONG_USE


def _internal(error: Exception) -> int:
    if os.environ.get("ASSIGNOR_DEBUG"):
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    _say(f"internal error: {type(error).__name__}: {error} (set ASSIGNOR_DEBUG=1 to see where, and please report it)")
    return INTERNAL_ERROR


def _say(message: str) -> None:
    # Messages quote files and plugins: nothing in them may steer the terminal.
    plain = "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in message)
    sys.stderr.write(f"assignor: {plain}\n")


if __name__ == "__main__":
    main()
