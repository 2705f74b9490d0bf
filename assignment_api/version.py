"""Version of the SPI, apart from the version of the distribution."""

from __future__ import annotations

__all__ = ["SPI_VERSION"]

#: ``major.minor``: a new major number breaks plugins, a new minor number only adds.
SPI_VERSION = "1.0"
