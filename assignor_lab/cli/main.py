"""Entry point of the command, with its exit codes in every case.

Exit codes: 0 fine, 1 a gate or check failed, 2 wrong use or input, 3 internal error, 130 interrupted.

This module imports only modules that Python has loaded at its start: Ctrl-C during the other imports ends in one line,
too.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

#: Package of a clone that the distribution leaves out.
CLONE_ONLY = "calibration"

#: Variable by which a shell requests completions.
_COMPLETION = "_ASSIGNOR_COMPLETE"

WRONG_USE = 2
INTERNAL_ERROR = 3
INTERRUPTED = 130

#: Options with extras of their own: a missing one is named before the work.
_OPTIONS_WITH_EXTRAS = frozenset(
    ("--baseline", "--bootstrap-server", "--junit", "--master", "--metrics", "--remote", "--report", "--url")
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and leaves the process with its exit code."""
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        _say("interrupted")
        code = INTERRUPTED
    sys.exit(code)


def _run(arguments: Sequence[str] | None) -> int:
    from assignor_lab.cli.exit_status import restored, watched

    before = watched()
    try:
        return _ended(arguments)
    finally:
        if arguments is not None:
            # A caller in Python continues in its process; a command line ends now.
            restored(before)


def _ended(arguments: Sequence[str] | None) -> int:
    """The exit code of the command; raises only ``KeyboardInterrupt``."""
    from assignment_api import AssignorLabError
    from assignor_lab.cli.exit_status import is_own_exit

    _open_closed_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        # These two without typer, whose import takes as long as ten starts of Python.
        if words == ["--version"]:
            from assignor_lab.cli.own_version import own_version

            sys.stdout.write(f"assignor-lab {own_version()}\n")
            sys.stdout.flush()
            return 0
        if words == ["plugins"]:
            from assignor_lab.cli.plugin_tables import print_plugins

            print_plugins()
            return 0
        if _OPTIONS_WITH_EXTRAS.intersection(word.partition("=")[0] for word in words):
            from assignor_lab.cli.missing_extras import check_options

            check_options(words)
        from assignor_lab.cli.app import build_app

        build_app(None if _COMPLETION in os.environ else words)(args=words, prog_name="assignor")
    except SystemExit as leave:
        if leave.code == INTERRUPTED:
            # typer has caught Ctrl-C, and prints nothing.
            _say("interrupted")
        if not leave.code and not is_own_exit(leave):
            _say("a plugin that is trusted ended the command with SystemExit")
            return INTERNAL_ERROR
        return leave.code if isinstance(leave.code, int) else 0 if leave.code is None else WRONG_USE
    except BrokenPipeError:
        # The reader of the output has closed it (`assignor ... | head`): not our error, and no reader is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except io.UnsupportedOperation:
        _say("the standard output is closed: open it, or name a file with --out")
        return WRONG_USE
    except ModuleNotFoundError as error:
        return _missing_module(error, words)
    except AssignorLabError as error:
        _say(str(error))
        return WRONG_USE
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
    """True if Ctrl-C is among the causes: cleanup after it may fail, because the JVM receives Ctrl-C, too."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _open_closed_streams() -> None:
    """Replaces standard streams that the caller closed (``None``): reading finds nothing, and writing fails."""
    from pathlib import Path

    for name, mode in (("stdin", "r"), ("stdout", "r"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for as long as the process


def _missing_module(error: ModuleNotFoundError, words: Sequence[str]) -> int:
    from assignor_lab.cli.missing_extras import missing_extras

    if (error.name or "").partition(".")[0] == CLONE_ONLY:
        _say("this command reads recorded experiments: call it from a clone of the repository, after make setup")
        return WRONG_USE
    modules, extras = missing_extras(words, error.name or "")
    if not extras:
        return _internal(error)
    named = " and ".join(filter(None, (", ".join(modules[:-1]), modules[-1])))
    it = "it" if len(modules) == 1 else "them"
    _say(f"this command needs {named}: install {it} with: pip install 'assignor-lab[{','.join(extras)}]'")
    return WRONG_USE


def _internal(error: Exception) -> int:
    if os.environ.get("ASSIGNOR_DEBUG"):
        import traceback

        traceback.print_exception(error, file=sys.stderr)
    _say(f"internal error: {type(error).__name__}: {error} (set ASSIGNOR_DEBUG=1 to see where, and please report it)")
    return INTERNAL_ERROR


def _say(message: str) -> None:
    # Messages quote files and plugins: none of it may control the terminal.
    plain = "".join(sign if sign.isprintable() or sign == "\n" else repr(sign)[1:-1] for sign in message)
    sys.stderr.write(f"assignor: {plain}\n")


if __name__ == "__main__":
    main()
