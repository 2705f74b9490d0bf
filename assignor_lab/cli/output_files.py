"""Files that options name for output, checked when the command line is read: a fault is named before the work."""

from __future__ import annotations

from pathlib import Path

__all__ = ["junit_file", "report_file"]


def junit_file(file: Path | None) -> Path | None:
    """The file for ``--junit``.

    Raises:
        OutputFileError: if its folder is missing, or it is a folder.
        ModuleNotFoundError: if the extra ``statistics`` is not installed.
    """
    if file is not None:
        import junitparser as _junitparser  # noqa: F401 - only whether it is there
    return _writable("--junit", file)


def report_file(file: Path | None) -> Path | None:
    """The file for ``--report``; raises :class:`OutputFileError` as :func:`junit_file` does."""
    return _writable("--report", file)


def _writable(option: str, file: Path | None) -> Path | None:
    from assignor_lab.documents.errors import OutputFileError

    if file is not None and (file.is_dir() or not file.parent.is_dir()):
        raise OutputFileError(f"{option} {file}: name a file in a folder that exists")
    return file
