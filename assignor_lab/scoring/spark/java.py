"""The Java that Spark runs on: found, and new enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from assignment_api import AssignorLabError

__all__ = ["JavaError", "checked_java"]

#: First Java release that Spark 4 runs on.
JAVA_RELEASE = 17


class JavaError(AssignorLabError):
    """There is no Java that Spark could run on; the message says what to install."""


def checked_java() -> str:
    """The program that Spark takes.

    Raises:
        JavaError: if there is none, or it is too old.
    """
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
    return java
