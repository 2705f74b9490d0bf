"""Sentence of an imported state on a release of Kafka Streams with rules that the lab lacks."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["OTHER_RULES", "of_other_rules"]

#: Start of the sentence.
OTHER_RULES = "release with other rules:"
#: First release with the present rules for standbys.
_FIRST = (2, 7)


def of_other_rules(versions: Iterable[str]) -> str | None:
    """A sentence on the oldest of some releases, or ``None`` if all of them place tasks by the lab's rules."""
    known = {version: tuple(int(part) for part in version.split(".")[:2]) for version in versions if _is_read(version)}
    if not known or min(known.values()) >= _FIRST:
        return None
    oldest = min(known, key=known.__getitem__)
    return (
        f"{OTHER_RULES} the instances run Kafka Streams {oldest}, and releases before 2.7 place standbys by another "
        "rule, which the lab does not have: log a decision of release 2.7 or later"
    )


def _is_read(version: str) -> bool:
    parts = version.split(".")[:2]
    return len(parts) == len(_FIRST) and all(part.isascii() and part.isdecimal() for part in parts)
