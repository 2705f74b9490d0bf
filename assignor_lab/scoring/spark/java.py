"""Spark's Java: found, and new enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from assignment_api import AssignorLabError

__all__ = ["SparkJavaError", "checked_java"]

#: First Java release for Spark 4.
JAVA_RELEASE = 17


class SparkJavaError(AssignorLabError):
    """There is no suitable Java for Spark; the message has the remedy."""


def checked_java() -> str:
    """The program that Spark uses.

    Raises:
        JavaError: if there is none, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    remedy = f"Spark needs a JDK {JAVA_RELEASE} or later: install one (Debian: apt install openjdk-17-jre-headless)"
    if java is None:
        raise SparkJavaError(f"no java on the PATH and JAVA_HOME is not set. {remedy}.")
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SparkJavaError(f"{java} cannot be run ({error}). {remedy}, and let JAVA_HOME name it.") from error
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if found is None or int(found[1]) < JAVA_RELEASE:
        finding = "does not report its version" if found is None else f"is Java {found[1]}"
        raise SparkJavaError(f"{java} {finding}. {remedy}, and let JAVA_HOME name it.")
    return java
