"""Version of the connectors that come with the lab: the distribution's own."""

from __future__ import annotations

from importlib import metadata

__all__ = ["VERSION"]

VERSION = metadata.version("assignor-lab")
