"""The JVM of a local session, launched by this module, so that it starts during other work.

PySpark launches one when a session is created, waits for it, and lets it write to the process's standard error. This
JVM gets PySpark's options through Spark's own script, and PySpark finds it as an existing one.
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

__all__ = ["SparkJvm", "spark_home"]

#: Seconds between two checks of its start.
_LOOK = 0.01
#: Seconds from the end of its connections to that of its process.
_LAST_MOMENT = 0.5
#: Seconds for its own end.
_PATIENCE = 5.0


def spark_home() -> Path | None:
    """Spark's folder, as PySpark finds it, without importing PySpark; ``None`` if it cannot start."""
    home = os.environ.get("SPARK_HOME")
    spec = find_spec("pyspark")
    package = None if spec is None or spec.origin is None else Path(spec.origin).parent
    folders = [Path(home)] if home else [] if package is None else [package / "spark-distribution", package]
    return next((folder for folder in folders if (folder / "bin" / "spark-submit").is_file()), None)


class SparkJvm:
    """A starting JVM.

    Args:
        scratch: Folder for the file with its address.
    """

    def __init__(self, home: Path, settings: Mapping[str, str], scratch: Path) -> None:
        self._address_file = scratch / f"gateway-{secrets.token_hex(4)}"
        command = [str(home / "bin" / "spark-submit")]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        # Otherwise Spark's script would start a Python to find its home.
        env = {**os.environ, "SPARK_HOME": str(home), "SPARK_CONNECT_MODE": "0"}
        env["_PYSPARK_DRIVER_CONN_INFO_PATH"] = str(self._address_file)
        with filtered_pipe() as errors:
            # It ends with the pipe of its standard input. Ctrl-C is for this process only, so the JVM has its own
            # group. PySpark's way, code between fork and exec, is unsafe in a thread.
            self._process = subprocess.Popen(
                [*command, *shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))],
                stdin=subprocess.PIPE,
                stderr=errors,
                env=env,
                process_group=0,
            )

    def wait(self) -> None:
        """Returns when it is ready.

        Raises:
            OSError: if it has ended.
        """
        while not self._address_file.exists():
            if self._process.poll() is not None:
                raise OSError(self.ending())
            time.sleep(_LOOK)

    def has_ended(self) -> bool:
        """True if the process has ended; its connections can break a moment before."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_MOMENT)
        return self._process.returncode is not None

    def ending(self) -> str:
        """Its exit status, as a sentence without a full stop."""
        code = self._process.returncode
        if code is not None and code < 0:
            return f"the JVM of Spark was ended by {Signals(-code).name}"
        return f"the JVM of Spark ended with exit code {code}"

    @contextmanager
    def found_by_pyspark(self) -> Iterator[None]:
        """In this context PySpark uses this JVM and launches none."""
        content = self._address_file.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        names = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": content[8 : 8 + length].decode()}
        os.environ |= names
        try:
            yield
        finally:
            for name in names:
                os.environ.pop(name, None)

    def end(self) -> None:
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE)
