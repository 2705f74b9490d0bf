"""Whole documents from files."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath
from typing import Any, TypeVar

from assignment_api.input_files import open_input
from assignor_lab.documents.errors import DocumentFormatError, Place
from assignor_lab.documents.shapes import Check, faults_at

__all__ = ["document_of", "read_document"]

T = TypeVar("T")


def read_document(
    path: str | PathLike[str], parse: Callable[[bytes], Any], check: Check[T], *, max_bytes: int, subject: str
) -> T:
    """Reads a file that is one document.

    Raises:
        DocumentFormatError: if the file cannot be read, is larger than ``max_bytes``, or fails the check.
    """
    name = fspath(path)
    try:
        with open_input(path) as file:
            content = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        # A ValueError is an impossible path, e.g. with a null character.
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentFormatError(name, None, "", f"cannot be read: {reason}; check the path") from None
    if len(content) > max_bytes:
        raise DocumentFormatError(name, None, "", f"larger than {max_bytes:,} bytes: is this {subject}?")
    return document_of(content, parse, check, Place(name))


def document_of(content: bytes, parse: Callable[[bytes], Any], check: Check[T], place: Place) -> T:
    """Checks a parsed document.

    Raises:
        DocumentFormatError: with ``place``, if the check fails.
    """
    with faults_at(place):
        return check(parse(content))
