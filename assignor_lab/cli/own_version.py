"""The version of the installed distribution, read as fast as Python starts."""

from __future__ import annotations

import os
import sys

__all__ = ["own_version"]


def own_version() -> str:
    """From the name of the distribution's folder (PEP 376), as its metadata takes longer to import than to read."""
    head, tail = "assignor_lab-", ".dist-info"
    for place in filter(os.path.isdir, sys.path):
        for name in os.listdir(place):  # noqa: PTH208 - pathlib takes as long as a start of Python
            if name.startswith(head) and name.endswith(tail):
                return name[len(head) : -len(tail)]
    from importlib.metadata import version

    return version("assignor-lab")
