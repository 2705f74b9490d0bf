"""TOML of a small file."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from assignor_lab.documents.shapes import Mismatch

__all__ = ["parse_toml"]

_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)\Z")


def parse_toml(content: bytes) -> dict[str, Any]:
    """The table in ``content``.

    Raises:
        Mismatch: if the bytes are not UTF-8 or not TOML, with the line.
    """
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Mismatch(f"byte {error.start} is not UTF-8: save the file as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = str(error)
        place = _PLACE.search(reason)
        if place is None:
            raise Mismatch(f"no TOML: {reason}") from None
        raise Mismatch(f"no TOML at column {place[2]}: {reason[: place.start()]}", line=int(place[1])) from None
