"""The shim: the jar in this distribution by which a Java application asks a Python assignor."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["ASSIGNOR_CLASS", "JAR_NAME", "shim_jar"]

#: What the application sets ``task.assignor.class`` to.
ASSIGNOR_CLASS = "assignorlab.shim.AssignorLabTaskAssignor"
#: Name of the copy.
JAR_NAME = "assignor-lab-shim.jar"


def shim_jar() -> bytes:
    """The jar."""
    return files("assignor_lab").joinpath("jars", "shim.jar").read_bytes()
