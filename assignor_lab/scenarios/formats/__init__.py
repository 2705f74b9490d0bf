"""The formats of scenario documents: their shapes, and their values of the SPI."""

from assignor_lab.scenarios.formats.known_formats import Format, Read, format_of, register_format

__all__ = ["Format", "Read", "format_of", "register_format"]
