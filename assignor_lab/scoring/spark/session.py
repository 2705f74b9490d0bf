"""Our own Spark session: quiet, without web pages, with this Python on the workers.

With an existing session, call :func:`assignor_lab.scoring.score` instead.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import attrs

from assignment_api import AssignorLabError
from assignor_lab.runtime.isolation.folders import held_folder
from assignor_lab.scoring.spark.addresses import (
    DEFAULT_MASTER,
    SparkAddressError,
    check_address,
    is_here,
    is_local,
    is_this_machine,
    shown_address,
    with_tries,
)
from assignor_lab.scoring.spark.class_archive import archive_options
from assignor_lab.scoring.spark.failures import last_line
from assignor_lab.scoring.spark.java import SparkJavaError, checked_java
from assignor_lab.scoring.spark.jvm import SparkJvm, spark_home
from assignor_lab.scoring.spark.stderr_filter import filtered_stderr

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = [
    "MissingExtraError",
    "given_session",
    "master_of",
    "open_session",
    "parallelism_of",
    "starting_session",
]

_NAME = "assignor score"
#: The engine only transfers data, so optimised compilation would cost more than it saves.
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

_JAVA = "spark.driver.extraJavaOptions"
#: On one machine no shuffle can be improved, and a block has too few rows for generated code to pay.
_LOCAL_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

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


class MissingExtraError(AssignorLabError, ModuleNotFoundError):
    """An optional dependency is not installed; the message names the extra."""


@contextmanager
def open_session(master: str | None = None, remote: str | None = None) -> Iterator[SparkSession]:
    """A Spark session that is stopped at the end.

    Args:
        remote: Address of a Spark Connect server, in place of a master; ``local[2]`` and the like: one in this process.

    Raises:
        MissingExtraError: if PySpark, or a dependency of Spark Connect, is not installed.
        JavaError: if a local engine is needed and there is no Java for it.
        SparkAddressError: if ``master`` or ``remote`` is malformed, or gives no session.
    """
    with starting_session(master, remote) as session:
        yield session()


@contextmanager
def starting_session(master: str | None = None, remote: str | None = None) -> Iterator[Callable[[], SparkSession]]:
    """Yields a function that waits for a starting session; the session is stopped at the end.

    On this machine, without Spark Connect, it starts in its own thread. Elsewhere it starts with the first call.
    Arguments as of :func:`open_session`; its errors are raised by the yielded function.
    """
    with ExitStack() as stack:
        if not os.environ.get("ASSIGNOR_DEBUG"):
            stack.enter_context(_without_py4j_messages())
        if remote is not None or _KEPT or not is_local(master or DEFAULT_MASTER):
            yield lambda: stack.enter_context(_session(master, remote))
            return
        yield stack.enter_context(_started(master or DEFAULT_MASTER)).result


@contextmanager
def given_session(
    master: str | None, remote: str | None, settings: Mapping[str, str]
) -> Iterator[Callable[[], SparkSession]]:
    """Yields a function that returns a session with Spark's own configuration, for paths beyond this machine.

    A session that exists, as under ``spark-submit`` or in a notebook, is used and not stopped. Errors as of
    :func:`open_session`, from the function.

    Args:
        settings: Further settings of Spark, such as ``spark.jars.packages``.
    """
    with ExitStack() as stack:
        yield lambda: stack.enter_context(_given(master, remote, settings))


@contextmanager
def _given(master: str | None, remote: str | None, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    check_address(master, remote)
    if find_spec("pyspark") is None:
        raise MissingExtraError(
            "scoring needs pyspark: install it with: pip install 'assignor-lab[spark]'", name="pyspark"
        )
    from pyspark.sql import SparkSession

    exists = SparkSession.getActiveSession() is not None or "PYSPARK_GATEWAY_PORT" in os.environ
    builder = SparkSession.builder.appName(_NAME)
    if remote is not None:
        _check_connect()
        _choose_python(here=is_here(remote))
        builder = builder.remote(remote)
    elif not exists:
        checked_java()
        _choose_python(here=is_here(master or DEFAULT_MASTER))
        builder = builder.master(with_tries(master or DEFAULT_MASTER)).config("spark.ui.showConsoleProgress", "false")
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with filtered_stderr():
            session = builder.getOrCreate()
    except Exception as error:
        place = shown_address(remote) if remote is not None else f"{master or DEFAULT_MASTER:.80}"
        raise SparkAddressError(f"no session can be had at {place}: {last_line(error)}") from error
    if not exists and remote is None:
        session.sparkContext.setLogLevel("ERROR" if os.environ.get("ASSIGNOR_DEBUG") else "FATAL")
    try:
        yield session
    finally:
        if not exists:
            with suppress(Exception):
                session.stop()


#: Remedy for a JVM that has ended during a run.
_REMEDY = "it was killed or had too little memory; ASSIGNOR_DEBUG=1 shows more"
_THREAD = "assignor-spark"
#: Loggers of Py4J, including the root's.
_PY4J_LOGGERS = (None, "py4j.java_gateway", "py4j.clientserver")


@attrs.define
class _Start:
    """A start in another thread: its JVM, once there is one, and whether it is still wanted.

    The waiting thread imports PySpark, never this one: two threads that import a package with circular imports can each
    get half of it.
    """

    jvm: SparkJvm | None = None
    is_wanted: bool = True
    imported: Event = attrs.field(init=False, factory=Event)

    def launch(self, jvm: SparkJvm) -> None:
        self.jvm = jvm
        if not self.is_wanted:
            jvm.end()

    def give_up(self) -> None:
        self.is_wanted = False
        if self.jvm is not None:
            self.jvm.end()


@contextmanager
def _without_py4j_messages() -> Iterator[None]:
    """Drops Py4J's log records, which are tracebacks; the following error has the cause in one sentence."""
    loggers = [logging.getLogger(name) for name in _PY4J_LOGGERS]
    for logger in loggers:
        logger.addFilter(_is_not_of_py4j)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_not_of_py4j)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


@contextmanager
def _started(master: str) -> Iterator[Future[SparkSession]]:
    start = _Start()
    context = _session(master, None, start)
    future: Future[SparkSession] = Future()

    def begin() -> None:
        try:
            future.set_result(context.__enter__())
        except BaseException as error:  # noqa: BLE001 - raised where the session is asked for
            future.set_exception(error)

    thread = Thread(target=begin, daemon=True, name=_THREAD)
    thread.start()
    try:
        with suppress(ImportError):
            # The thread has the better message on missing parts.
            import pyspark.sql  # noqa: F401
        start.imported.set()
        yield future
    except Exception as error:
        if not isinstance(error, AssignorLabError) and start.jvm is not None and start.jvm.has_ended():
            raise SparkJavaError(f"{start.jvm.ending()}: {_REMEDY}") from error
        raise
    finally:
        start.imported.set()
        if not future.done():
            start.give_up()
        thread.join()
        if future.exception() is None:
            context.__exit__(None, None, None)


@contextmanager
def _session(master: str | None, remote: str | None, start: _Start | None = None) -> Iterator[SparkSession]:
    check_address(master, remote)
    for module, extra in (("pyspark", "spark"), ("pyarrow", "spark")):
        if find_spec(module) is None:
            raise MissingExtraError(
                f"scoring needs {module}: install it with: pip install 'assignor-lab[{extra}]'", name=module
            )
    _choose_python(here=is_here(master or DEFAULT_MASTER) if remote is None else is_here(remote))
    if remote is not None:
        _check_connect()
        if not is_local(remote):
            yield from _connected(remote)
            return
    java = checked_java()
    # The lab reports a failed task once; Spark's own report has hundreds of lines.
    level = "ERROR" if os.environ.get("ASSIGNOR_DEBUG") else "FATAL"
    with held_folder("assignor-spark-") as scratch:
        log4j = scratch / "log4j2.properties"
        log4j.write_text(_LOG4J.replace("LEVEL", level.lower()), encoding="utf-8")
        settings = _settings(master or remote or DEFAULT_MASTER, scratch, log4j)
        local = with_tries(master or remote or DEFAULT_MASTER)
        if remote is not None:
            yield from _connected_here(local, settings)
        elif start is not None and (home := spark_home()) is not None:
            settings |= _LOCAL_SETTINGS
            settings[_JAVA] += f" {archive_options(java, home / 'jars')}"
            jvm = SparkJvm(home, {"spark.master": local, "spark.app.name": _NAME, **settings}, scratch)
            _KEPT.append(jvm)
            start.launch(jvm)
            start.imported.wait()
            yield from _on_own_jvm(jvm, local, settings, level)
        else:
            if start is not None:
                start.imported.wait()
            yield from _classic(local, settings, level)


def _choose_python(*, here: bool) -> None:
    """Sets the workers' Python, because the python3 of the PATH lacks this environment."""
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if here:
        os.environ["PYSPARK_PYTHON"] = sys.executable
    else:
        # A user's own value is kept: it may name a Python of the cluster.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def _check_connect() -> None:
    for module in ("grpc", "pandas"):
        if find_spec(module) is None:
            raise MissingExtraError(
                f"Spark Connect needs {module}: install it with: pip install 'assignor-lab[spark-connect]'", name=module
            )


def _connected(remote: str) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    try:
        session = SparkSession.builder.remote(remote).appName(_NAME).create()
        _ = session.version
    except Exception as error:
        # Not quoted, because the address, and so the error, may contain a token.
        raise SparkAddressError(
            f"no session can be had at {shown_address(remote)} ({type(error).__name__}): is it a Spark Connect server?"
        ) from error
    yield from _stopped_at_end(session)


def _connected_here(remote: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Spark Connect with its server in a JVM of this process."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(remote)
    for key, value in settings.items():
        builder = builder.config(key, value)
    with filtered_stderr(), warnings.catch_warnings():
        # The server starts with these settings, and then warns that they are fixed.
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    yield from _stopped_at_end(session)


def _classic(master: str, settings: Mapping[str, str], level: str) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName(_NAME)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        with filtered_stderr():
            session = builder.getOrCreate()
    except Exception as error:
        if is_here(master):
            raise
        raise SparkAddressError(f"no session can be had at {master:.80}: {last_line(error)}") from error
    session.sparkContext.setLogLevel(level)
    yield from _stopped_at_end(session)


def _on_own_jvm(jvm: SparkJvm, master: str, settings: Mapping[str, str], level: str) -> Iterator[SparkSession]:
    """A local session with a starting JVM; PySpark's own launch would block, and use stderr."""
    # PySpark's import also takes most of a second.
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName(_NAME)
    for key, value in settings.items():
        builder = builder.config(key, value)
    try:
        jvm.wait()
    except OSError as error:
        raise SparkJavaError(f"{error}, before Spark was there: ASSIGNOR_DEBUG=1 shows more") from error
    with jvm.found_by_pyspark():
        gateway = launch_gateway()  # type: ignore[no-untyped-call]
    SparkContext._ensure_initialized(gateway=gateway)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel(level)
    _without_traceback_at_end(session.sparkContext)
    yield from _stopped_at_end(session)


def _without_traceback_at_end(context: SparkContext) -> None:
    """Silences PySpark's server of accumulators, which prints a traceback when the JVM has ended."""
    server = context._accumulatorServer
    server.handle_error = lambda *_request: None  # type: ignore[method-assign]


#: JVMs live as long as this process: PySpark reuses the first one.
_KEPT: list[SparkJvm] = []


def _stopped_at_end(session: SparkSession) -> Iterator[SparkSession]:
    try:
        yield session
    finally:
        with suppress(Exception):
            session.stop()


def _settings(master: str, scratch: Path, log4j: Path) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        # Names of metrics may differ in case only.
        "spark.sql.caseSensitive": "true",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        _JAVA: f"-Dlog4j2.configurationFile={log4j.as_uri()} {_JAVA_OPTIONS}",
    }
    if is_here(master):
        settings["spark.local.dir"] = str(scratch)
    if is_this_machine(master):
        # On one machine no port has to be open to the outside.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return settings


def parallelism_of(spark: SparkSession) -> int | None:
    """Number of simultaneous tasks, or ``None`` for a session without this number (Spark Connect)."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # noqa: BLE001 - a Connect session raises an error of its own for each missing attribute
        return None


def master_of(spark: SparkSession) -> str | None:
    """Spark's master, or ``None`` for a session that does not report it (Spark Connect)."""
    try:
        return str(spark.sparkContext.master)
    except Exception:  # noqa: BLE001 - as above
        return None
