"""The archive of Spark's classes, loaded and verified, that the JVM of a session on this machine starts from.

Most of what a small run takes is the JVM reading thousands of classes, each time. Since release 13 a JVM can write
down at its end what it has loaded, and start from that ("class data sharing", JEP 350). The first run on this machine
does, after it has shown its results; later ones with the same Java and the same Spark start from it. A JVM that finds
anything changed (itself, a jar, the class path) does not use the archive, and one that is broken is none.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

__all__ = ["archive_options"]

#: Says where archives are; empty: none are made or used.
VARIABLE = "ASSIGNOR_CLASS_ARCHIVES"
#: Archives that are kept; each has about 150 MB.
KEPT = 2
#: How the file begins once it is complete: the JVM writes its header last.
_MAGIC = (0xF00BABA8).to_bytes(4, sys.byteorder)
_MAKING = ".making"
#: How long a JVM may take to write one.
_WRITING_SECONDS = 300.0


def archive_options(java: str, jars: Path) -> str:
    """Options for a JVM: to start from the archive, or to make it; empty where it can be neither.

    Args:
        java: The program.
        jars: Folder of Spark's jars.
    """
    folder = _folder()
    if folder is None:
        return ""
    archive = folder / f"spark-{_environment(java, jars)}.jsa"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _promote(archive)
        if archive.exists():
            os.utime(archive)
            return f"-XX:SharedArchiveFile={archive} {_QUIET}"
        # Options have no quotes; and one JVM at a time is enough.
        if " " in str(archive) or any(folder.glob(f"{archive.name}.*{_MAKING}")):
            return ""
        _make_room(folder)
        making = Path(f"{archive}.{os.getpid()}{_MAKING}")
        making.touch()
    except OSError:
        # A home that cannot be written: every start is a first one.
        return ""
    return f"-XX:ArchiveClassesAtExit={making} {_QUIET}"


#: What the JVM says of its archive would go to standard output.
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"


def _folder() -> Path | None:
    said = os.environ.get(VARIABLE)
    if said is not None:
        return Path(said) if said else None
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("HOME")
    if not base or not Path(base).is_absolute():
        return None
    return Path(base, "assignor-lab") if os.environ.get("XDG_CACHE_HOME") else Path(base, ".cache", "assignor-lab")


def _environment(java: str, jars: Path) -> str:
    """Stands for this Java and these jars: where they are, and when they were written."""
    real = Path(java).resolve()
    stamps = [(str(path), path.stat().st_mtime_ns) for path in (real, *sorted(jars.glob("*.jar")))]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]


def _promote(archive: Path) -> None:
    """Takes over an archive that a JVM has finished, and removes what was left behind by one that was killed."""
    for made in archive.parent.glob(f"*{_MAKING}"):
        with made.open("rb") as file:
            is_complete = file.read(len(_MAGIC)) == _MAGIC
        if is_complete:
            made.replace(made.with_name(made.name.partition(".jsa")[0] + ".jsa"))
        elif not _may_come(made):
            made.unlink(missing_ok=True)


def _may_come(made: Path) -> bool:
    """Whether somebody still is to write this file: a run that goes on, or its JVM, which outlives it by seconds."""
    if made.stat().st_mtime > time.time() - _WRITING_SECONDS:
        return True
    try:
        os.kill(int(made.name.split(".")[-2]), 0)
    except (ValueError, IndexError, OSError):
        return False
    return True


def _make_room(folder: Path) -> None:
    archives = sorted(folder.glob("spark-*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in archives[KEPT - 1 :]:
        old.unlink(missing_ok=True)
