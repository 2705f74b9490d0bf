"""The shim: the jar through which a Java application calls a Python assignor."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["ASSIGNOR_CLASS", "JAR_NAME", "shim_jar"]

ASSIGNOR_CLASS = "assignorlab.shim.AssignorLabTaskAssignor"
JAR_NAME = "assignor-lab-shim.jar"


def shim_jar() -> bytes:
    return files("assignor_lab").joinpath("jars", "shim.jar").read_bytes()
