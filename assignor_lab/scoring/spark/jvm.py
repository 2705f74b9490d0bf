"""The JVM of a session on this machine: launched by ourselves, so that it starts while other things are done.

PySpark launches one when a session is made, waits for it, and lets it write to standard error of the whole process.
This one is given what PySpark would give it, through Spark's own script, and is found by PySpark as one that is there.
"""

from __future__ import annotations

import os
import secrets
import shlex
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from signal import Signals

from assignor_lab.scoring.spark.stderr_filter import filtered_pipe

__all__ = ["Jvm", "spark_home"]

#: Seconds between two looks whether it is there.
_LOOK = 0.01
#: Seconds from the end of its connections to that of its process.
_LAST_MOMENT = 0.5
#: Seconds that it has to end on its own.
_PATIENCE = 5.0


def spark_home() -> Path | None:
    """Where Spark is, as PySpark finds it, which is not imported for it; ``None`` where it is none that can start."""
    home = os.environ.get("SPARK_HOME")
    spec = find_spec("pyspark")
    package = None if spec is None or spec.origin is None else Path(spec.origin).parent
    folders = [Path(home)] if home else [] if package is None else [package / "spark-distribution", package]
    return next((folder for folder in folders if (folder / "bin" / "spark-submit").is_file()), None)


class Jvm:
    """A JVM that is starting.

    Args:
        home: Where Spark is.
        settings: Spark's settings, its Java options among them.
        scratch: Folder for the file in which it tells its address.
        environment: What its environment has besides that of this process.
    """

    def __init__(
        self, home: Path, settings: Mapping[str, str], scratch: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._told = scratch / f"gateway-{secrets.token_hex(4)}"
        command = [str(home / "bin" / "spark-submit")]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        # Spark's script would ask a Python for its home.
        env = {**os.environ, "SPARK_HOME": str(home), "SPARK_CONNECT_MODE": "0", **(environment or {})}
        env["_PYSPARK_DRIVER_CONN_INFO_PATH"] = str(self._told)
        with filtered_pipe() as errors:
            # It ends when the pipe of its standard input does. Ctrl-C is for this process alone, so it has a group of
            # its own; code between fork and exec, as PySpark has it, is no good in a thread.
            self._process = subprocess.Popen(
                [*command, *shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))],
                stdin=subprocess.PIPE,
                stderr=errors,
                env=env,
                process_group=0,
            )

    def wait(self) -> None:
        """Returns when it can be asked.

        Raises:
            OSError: if it has ended.
        """
        while not self._told.exists():
            if self._process.poll() is not None:
                raise OSError(self.ending())
            time.sleep(_LOOK)

    def has_ended(self) -> bool:
        """Whether the process has ended; its connections can break a moment before."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_MOMENT)
        return self._process.returncode is not None

    def ending(self) -> str:
        """How it ended, as a sentence without a full stop."""
        code = self._process.returncode
        if code is not None and code < 0:
            return f"the JVM of Spark was ended by {Signals(-code).name}"
        return f"the JVM of Spark ended with exit code {code}"

    @contextmanager
    def found_by_pyspark(self) -> Iterator[None]:
        """While this lasts, PySpark takes this JVM and launches none."""
        content = self._told.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        names = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": content[8 : 8 + length].decode()}
        os.environ |= names
        try:
            yield
        finally:
            for name in names:
                os.environ.pop(name, None)

    def end(self) -> None:
        """Ends it, for whoever does not need it after all."""
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
