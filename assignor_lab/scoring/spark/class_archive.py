"""An archive of Spark's loaded and verified classes, from which the JVM of a local session starts.

A small run mostly waits for the JVM to read thousands of classes. Since release 13 a JVM can write its loaded classes
at its end and start from them later ("class data sharing", JEP 350). The first run on this machine writes them after
its results; later runs with the same Java and Spark use them. A JVM ignores an archive that is broken, or older than a
change of itself, a jar or the class path.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from pathlib import Path

from assignor_lab.runtime.discovery.kept_descriptions import cache_folder

__all__ = ["archive_options"]

#: Variable with the folder of archives; empty: none are made or used.
VARIABLE = "ASSIGNOR_CLASS_ARCHIVES"
#: Kept archives; each has about 150 MB.
KEPT = 2
#: First bytes of a complete file: the JVM writes its header last.
_MAGIC = (0xF00BABA8).to_bytes(4, sys.byteorder)
_MAKING = ".making"
#: Longest time of a JVM for writing one.
_WRITING_SECONDS = 300.0


def archive_options(java: str, jars: Path) -> str:
    """Options of a JVM that uses the archive, or writes it; empty if neither is possible."""
    folder = cache_folder(VARIABLE)
    if folder is None:
        return ""
    archive = folder / f"spark-{_environment(java, jars)}.jsa"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _promote(archive)
        if archive.exists():
            os.utime(archive)
            return f"-XX:SharedArchiveFile={archive} {_QUIET}"
        # Options cannot be quoted, and only one JVM writes at a time.
        if " " in str(archive) or any(folder.glob(f"{archive.name}.*{_MAKING}")):
            return ""
        _make_room(folder)
        making = Path(f"{archive}.{os.getpid()}{_MAKING}")
        making.touch()
    except OSError:
        # Without a writable home every start is a first one.
        return ""
    return f"-XX:ArchiveClassesAtExit={making} {_QUIET}"


#: The JVM's messages on its archive would go to standard output.
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"


def _environment(java: str, jars: Path) -> str:
    """Key of this Java and these jars: their paths and times."""
    real = Path(java).resolve()
    stamps = [(str(path), path.stat().st_mtime_ns) for path in (real, *sorted(jars.glob("*.jar")))]
    return hashlib.sha256(repr(stamps).encode()).hexdigest()[:16]


def _promote(archive: Path) -> None:
    for made in archive.parent.glob(f"*{_MAKING}"):
        with made.open("rb") as file:
            is_complete = file.read(len(_MAGIC)) == _MAGIC
        if is_complete:
            made.replace(made.with_name(made.name.partition(".jsa")[0] + ".jsa"))
        elif not _may_come(made):
            made.unlink(missing_ok=True)


def _may_come(made: Path) -> bool:
    """True if a writer of this file may live: a run, or its JVM, which outlives it by seconds."""
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
