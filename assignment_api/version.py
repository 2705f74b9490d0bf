"""Version of the SPI."""

from __future__ import annotations

__all__ = ["SPI_VERSION"]

#: A new major number breaks plugins, a minor one only adds.
SPI_VERSION = "1.1"
