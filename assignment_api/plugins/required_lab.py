"""The release of the lab that a plugin's distribution requires, for the reason why it does not work here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.metadata import Distribution

from assignment_api.plugins.installed import installed_distribution, name_and_version
from assignment_api.plugins.reserved import BUILTIN_DISTRIBUTION, canonical_name

__all__ = ["unmet_requirement"]

_NAME = re.compile(r"\A[A-Za-z0-9._-]+")
_EXTRAS = re.compile(r"\A\[[^\]]*\]")
_LIMIT = re.compile(r"\A(>=|~=|==|>|<=|<)([0-9.]+?)(?:\.\*)?\Z")
#: Requirements of a distribution that are looked at, and their length.
_MOST, _LONGEST = 1_000, 500
#: Numbers of a version that are compared, and their digits.
_MOST_PARTS, _MOST_DIGITS = 6, 9


def unmet_requirement(name: str, distribution: Distribution | None) -> str | None:
    """Why the installed lab is too old or too new for a distribution, or ``None``.

    Args:
        name: Name of the plugin's distribution.
        distribution: ``None``: searched by its name.

    Returns:
        Such as ``needs assignor-lab >= 9, installed 1.0.0``. Limits of other forms than ``>=9.1`` are not checked, and
        neither are requirements of extras.
    """
    try:
        distribution = installed_distribution(name) if distribution is None else distribution
        requirements = list(distribution.requires or ())[:_MOST]
        _, installed = name_and_version(installed_distribution(BUILTIN_DISTRIBUTION))
    except metadata.PackageNotFoundError:
        return None
    except Exception:  # noqa: BLE001 - foreign metadata can contain anything; the plugin's own error remains
        return None
    own = _numbers(installed)
    for sign, version in _limits(requirements):
        if own is not None and not _holds(own, sign, version):
            return f"needs {BUILTIN_DISTRIBUTION} {sign} {version}, installed {installed}"
    return None


def _limits(requirements: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Sign and version of each limit for the lab, without those of extras."""
    for text in requirements:
        wanted, _, marker = text[:_LONGEST].partition(";")
        wanted = "".join(wanted.split())
        name = _NAME.match(wanted)
        if name is None or canonical_name(name[0]) != BUILTIN_DISTRIBUTION or "extra" in marker:
            continue
        limits = _EXTRAS.sub("", wanted[name.end() :]).strip("()")
        for limit in limits.split(","):
            parts = _LIMIT.match(limit)
            if parts is not None and _numbers(parts[2]) is not None:
                yield parts[1], parts[2]


def _numbers(version: str) -> tuple[int, ...] | None:
    """The release of a version without zeros at its end, such as (1,) of 1.0.dev3; ``None`` if it has no number."""
    numbers: list[int] = []
    for part in version.split(".")[:_MOST_PARTS]:
        if not part.isdecimal() or len(part) > _MOST_DIGITS:
            break
        numbers.append(int(part))
    if not numbers:
        return None
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


def _holds(own: tuple[int, ...], sign: str, version: str) -> bool:
    limit = _numbers(version) or ()
    if sign == "~=":
        # The last number may be larger: ~=1.4 is a release of 1 from 1.4 on.
        kept = version.count(".")
        return own >= limit and _padded(own, kept) == _padded(limit, kept)
    return {">=": own >= limit, ">": own > limit, "<=": own <= limit, "<": own < limit, "==": own == limit}[sign]


def _padded(numbers: tuple[int, ...], count: int) -> tuple[int, ...]:
    return (numbers + (0,) * count)[:count]
