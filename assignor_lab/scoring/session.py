"""A Spark session of our own: quiet, without web pages, with this very Python on the workers.

Whoever has a session already passes it to :func:`assignor_lab.scoring.score` instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assignment_api import AssignorLabError
from assignor_lab.scoring.quiet import filtered_stderr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "DEFAULT_MASTER",
    "JavaError",
    "MissingExtraError",
    "SparkAddressError",
    "open_session",
    "parallelism_of",
    "shown_address",
]

DEFAULT_MASTER = "local[*]"
#: What Spark takes as its master.
_MASTER = re.compile(r"local(\[[^\]]+\])?\Z|local-cluster\[|yarn\Z|(spark|k8s)://.")
#: First Java release that Spark 4 runs on.
JAVA_RELEASE = 17

#: The engine only hands data on: compiling it well would cost more than it brings.
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

_LOG4J = """\
status = error
rootLogger.level = LEVEL
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
"""


class MissingExtraError(AssignorLabError):
    """An optional dependency is not installed; the message says which extra brings it."""


class JavaError(AssignorLabError):
    """There is no Java that Spark could run on; the message says what to install."""


class SparkAddressError(AssignorLabError):
    """What was given as Spark's master, or as the address of a Spark Connect server, is none, or nobody answers."""


@contextmanager
def open_session(master: str | None = None, remote: str | None = None) -> Iterator[SparkSession]:
    """A Spark session that is stopped at the end.

    Args:
        master: Spark's master; ``None``: all cores of this machine.
        remote: Address of a Spark Connect server, in place of a master.

    Raises:
        MissingExtraError: if PySpark, or what Spark Connect needs, is not installed.
        JavaError: if a local engine is needed and there is no Java for it.
        SparkAddressError: if ``master`` or ``remote`` has no such form, or no session can be had there.
    """
    _check_form(master, remote)
    for module, extra in (("pyspark", "spark"), ("pyarrow", "spark")):
        if find_spec(module) is None:
            raise MissingExtraError(f"scoring needs {module}: install it with: pip install 'assignor-lab[{extra}]'")
    # Otherwise the workers take the python3 of the PATH, which knows nothing of this environment.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if remote is not None:
        yield from _connected(remote)
        return
    _check_java()
    # A failed task is reported once, by us; Spark's own report of it is hundreds of lines.
    level = "ERROR" if os.environ.get("ASSIGNOR_DEBUG") else "FATAL"
    with TemporaryDirectory(prefix="assignor-spark-") as scratch:
        log4j = Path(scratch, "log4j2.properties")
        log4j.write_text(_LOG4J.replace("LEVEL", level.lower()), encoding="utf-8")
        yield from _local(master or DEFAULT_MASTER, Path(scratch), log4j, level)


def _check_form(master: str | None, remote: str | None) -> None:
    if master is not None and not _MASTER.match(master):
        raise SparkAddressError(
            f"{master!r:.80} is no master of Spark: give local, local[2], local[*], spark://host:port, yarn or k8s://..."
        )
    if remote is not None and not remote.startswith("sc://"):
        # Not quoted: what was meant as an address may hold a token.
        raise SparkAddressError("the address of a Spark Connect server has the form sc://host:port")


def _connected(remote: str) -> Iterator[SparkSession]:
    for module in ("grpc", "pandas"):
        if find_spec(module) is None:
            raise MissingExtraError(
                f"Spark Connect needs {module}: install it with: pip install 'assignor-lab[spark-connect]'"
            )
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(remote).appName("assignor score").getOrCreate()
    try:
        yield session
    finally:
        with suppress(Exception):
            session.stop()


def _local(master: str, scratch: Path, log4j: Path, level: str) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(master)
        .appName("assignor score")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(scratch / "warehouse"))
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={log4j.as_uri()} {_JAVA_OPTIONS}")
    )
    if master.startswith("local"):
        # One machine: nothing has to listen to the outside.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = (
            builder.config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.local.dir", str(scratch))
        )
    with filtered_stderr():
        session = builder.getOrCreate()
    try:
        session.sparkContext.setLogLevel(level)
        yield session
    finally:
        with suppress(Exception):
            session.stop()


def _check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    remedy = f"Spark needs a JDK {JAVA_RELEASE} or later: install one (Debian: apt install openjdk-17-jre-headless)"
    if java is None:
        raise JavaError(f"no java on the PATH and JAVA_HOME is not set. {remedy}.")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaError(f"{java} cannot be run ({error}). {remedy}, and let JAVA_HOME name it.") from error
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if found is None or int(found[1]) < JAVA_RELEASE:
        what = "does not tell its version" if found is None else f"is Java {found[1]}"
        raise JavaError(f"{java} {what}. {remedy}, and let JAVA_HOME name it.")


def parallelism_of(spark: SparkSession) -> int | None:
    """How many tasks run at a time, or ``None`` where the session does not tell (Spark Connect)."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # noqa: BLE001 - a Connect session raises an error of its own for each missing attribute
        return None


def shown_address(remote: str) -> str:
    """A Spark Connect address without what may be secret in it: ``sc://host:port`` alone."""
    parts = urlsplit(remote)
    return (
        f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}" if parts.scheme else remote
    )
